"""Every row of the table of keys and addresses, one case to a rule."""

import pytest

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.embedding import LocalEmbedding
from fingerpost.config.explain import explain
from fingerpost.config.load import validate
from fingerpost.config.providers import BY_NAME, PROVIDERS
from fingerpost.errors import ConfigError, MissingSecretError

KEY_VARIABLES = tuple(p.key_variable for p in PROVIDERS if p.key_variable)
OWN = {p.name: p.base_url for p in PROVIDERS}
GATEWAY = "http://gateway.example/v1"


def resolve(environ=None, **settings):
    return resolve_credentials(validate({"knowledge_corpus": ["docs"], **settings}), environ or {})


def shape(endpoint):
    """Provider, address and name of the key of an endpoint, the rest being the model."""
    return endpoint and (endpoint.provider, endpoint.base_url, endpoint.key_name)


def test_with_nothing_set_no_model_is_asked_and_the_local_one_embeds():
    found = resolve()
    assert (found.classifier, found.generator, found.generator_deep) == (None, None, None)
    assert found.embedding == LocalEmbedding(None)


@pytest.mark.parametrize("provider", [p for p in PROVIDERS if p.key_variable], ids=lambda p: p.name)
def test_one_key_gives_every_job_that_vendor_can_do_its_cheap_and_strong_model(provider):
    found = resolve({provider.key_variable: "its-key"})
    own = (provider.name, provider.base_url, provider.key_variable)
    assert {shape(found.classifier), shape(found.generator), shape(found.generator_deep)} == {own}
    assert (found.classifier.model, found.generator.model, found.generator_deep.model) == (
        provider.cheap_model,
        provider.cheap_model,
        provider.strong_model,
    )
    assert found.classifier.key.reveal() == "its-key"
    if provider.embedding_model is None:
        assert found.embedding == LocalEmbedding(None)
    else:
        assert shape(found.embedding) == own
        assert found.embedding.model == provider.embedding_model


def test_keys_are_looked_for_in_the_order_of_the_specification_the_aggregator_last():
    assert KEY_VARIABLES == (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "TOGETHER_API_KEY",
        "MISTRAL_API_KEY",
        "XAI_API_KEY",
        "MINIMAX_API_KEY",
        "OPENROUTER_API_KEY",
    )
    environ = dict.fromkeys(KEY_VARIABLES, "k")
    for provider in (p for p in PROVIDERS if p.key_variable):
        assert resolve(environ).generator.provider == provider.name
        del environ[provider.key_variable]


def test_the_models_that_the_specification_names_are_the_defaults():
    openai, minimax = BY_NAME["openai"], BY_NAME["minimax"]
    assert (openai.cheap_model, openai.strong_model, openai.embedding_model) == (
        "gpt-4o-mini",
        "gpt-4o",
        "text-embedding-3-small",
    )
    assert (minimax.cheap_model, minimax.embedding_model) == ("MiniMax-M3.1-Flash", None)
    assert [p.name for p in PROVIDERS if p.key_variable and not p.embedding_model] == [
        "anthropic",
        "groq",
        "xai",
        "minimax",
    ]


CHAT = [
    pytest.param(
        {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": " \t"},
        {},
        ("anthropic", OWN["anthropic"], "ANTHROPIC_API_KEY"),
        id="a blank key counts as absent",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"base_url": "  ", "api_key": " "},
        ("openai", OWN["openai"], "OPENAI_API_KEY"),
        id="a blank setting counts as absent",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k", "GROQ_API_KEY": "g"},
        {"generation_provider": "groq"},
        ("groq", OWN["groq"], "GROQ_API_KEY"),
        id="a named provider takes its own variable",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"generation_provider": "openai", "api_key": "mine"},
        ("openai", OWN["openai"], "api_key"),
        id="api_key wins over the variable",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k"},
        {"generation_provider": "openai"},
        ("openai", OWN["openrouter"], "OPENROUTER_API_KEY"),
        id="openai without a key takes that of OpenRouter with its address",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k", "OPENAI_BASE_URL": GATEWAY},
        {"generation_provider": "openai"},
        ("openai", OWN["openrouter"], "OPENROUTER_API_KEY"),
        id="the OpenRouter key never goes to the address of OpenAI",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k", "OPENAI_API_KEY": "o"},
        {"generation_provider": "openai"},
        ("openai", OWN["openai"], "OPENAI_API_KEY"),
        id="a direct key wins over the aggregator",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k"},
        {"generation_provider": "openai", "base_url": GATEWAY},
        ("openai", GATEWAY, ""),
        id="the OpenRouter key follows to no other address",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k"},
        {"generation_provider": "openai", "base_url": OWN["openrouter"]},
        ("openai", OWN["openrouter"], "OPENROUTER_API_KEY"),
        id="the OpenRouter key goes to an explicit OpenRouter address",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k"},
        {"generation_provider": "openai", "api_key": "mine"},
        ("openai", OWN["openai"], "api_key"),
        id="an explicit key of openai stays with OpenAI",
    ),
    pytest.param(
        {"MINIMAX_API_KEY": "k", "MINIMAX_BASE_URL": "http://m.example/"},
        {},
        ("minimax", "http://m.example/", "MINIMAX_API_KEY"),
        id="a variable sets the address of its provider",
    ),
    pytest.param(
        {"MINIMAX_API_KEY": "k", "MINIMAX_BASE_URL": "http://m.example"},
        {"generation_provider": "minimax", "base_url": GATEWAY},
        ("minimax", GATEWAY, "MINIMAX_API_KEY"),
        id="base_url wins over the variable",
    ),
    pytest.param(
        {"OLLAMA_BASE_URL": " http://box.example:11434\n"},
        {},
        ("ollama", "http://box.example:11434", ""),
        id="ollama needs no key",
    ),
    pytest.param(
        {"OLLAMA_BASE_URL": "http://box.example:11434", "XAI_API_KEY": "k"},
        {},
        ("xai", OWN["xai"], "XAI_API_KEY"),
        id="a key wins over ollama",
    ),
    pytest.param(
        {},
        {"generation_provider": "Ollama "},
        ("ollama", OWN["ollama"], ""),
        id="a provider may be named in any case",
    ),
    pytest.param({}, {"base_url": GATEWAY}, ("custom", GATEWAY, ""), id="an address alone"),
    pytest.param(
        {"XAI_API_KEY": "x", "OPENAI_API_KEY": "k"},
        {"base_url": GATEWAY},
        ("openai", GATEWAY, "OPENAI_API_KEY"),
        id="an address of nobody known is that of the first key's provider",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"base_url": GATEWAY, "generation_provider": "custom"},
        ("custom", GATEWAY, ""),
        id="a custom server gets no vendor's key",
    ),
    pytest.param(
        {},
        {"base_url": GATEWAY, "api_key": "mine"},
        ("custom", GATEWAY, "api_key"),
        id="the key given with an address goes there",
    ),
    pytest.param(
        {
            "OPENAI_API_KEY": "k",
            "XAI_API_KEY": "x",
            "MINIMAX_API_KEY": "m",
            "XAI_BASE_URL": GATEWAY,
            "MINIMAX_BASE_URL": GATEWAY,
        },
        {"base_url": GATEWAY},
        ("xai", GATEWAY, "XAI_API_KEY"),
        id="a gateway that several variables name is that of the first key among them",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k", "GROQ_API_KEY": "g"},
        {"base_url": OWN["groq"]},
        ("groq", OWN["groq"], "GROQ_API_KEY"),
        id="an address that is a vendor's names the vendor",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"base_url": OWN["groq"], "api_key": "mine"},
        ("groq", OWN["groq"], "api_key"),
        id="an address that is a vendor's names the vendor whose key is not set",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"base_url": OWN["groq"], "generation_provider": "openai", "api_key": "mine"},
        ("openai", OWN["groq"], "api_key"),
        id="a key and an address given together belong together",
    ),
    pytest.param({"OPENAI_API_KEY": "k"}, {"generation_provider": "none"}, None, id="switched off"),
    pytest.param({"OPENAI_API_KEY": "k"}, {"chat_model": object()}, None, id="a model of your own"),
    pytest.param(
        {},
        {"classifier_provider": "ollama"},
        ("ollama", OWN["ollama"], ""),
        id="with no key a job follows the provider that the other names",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"classifier_provider": "groq", "api_key": "mine"},
        ("groq", OWN["groq"], "api_key"),
        id="api_key stays with the one provider that is named",
    ),
]


@pytest.mark.parametrize(("environ", "settings", "expected"), CHAT)
def test_the_generator_gets(environ, settings, expected):
    assert shape(resolve(environ, **settings).generator) == expected


EMBEDDING = [
    pytest.param(
        {"ANTHROPIC_API_KEY": "a", "MISTRAL_API_KEY": "m"},
        {},
        ("mistral", OWN["mistral"], "MISTRAL_API_KEY"),
        id="the first key whose provider publishes embeddings",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k"},
        {"embedding_provider": "openai"},
        ("openai", OWN["openrouter"], "OPENROUTER_API_KEY"),
        id="openai through OpenRouter",
    ),
    pytest.param(
        {"GEMINI_API_KEY": "g"},
        {"generation_provider": "gemini", "api_key": "mine"},
        ("gemini", OWN["gemini"], "api_key"),
        id="api_key is shared with the same provider",
    ),
    pytest.param(
        {"GEMINI_API_KEY": "g"},
        {"generation_provider": "groq", "api_key": "mine"},
        ("gemini", OWN["gemini"], "GEMINI_API_KEY"),
        id="api_key is not shared with another provider",
    ),
    pytest.param(
        {},
        {"generation_provider": "openai", "api_key": "mine", "embedding_provider": "openai"},
        ("openai", OWN["openai"], "api_key"),
        id="a named embedding provider shares api_key",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"generation_provider": "openai", "base_url": GATEWAY},
        ("openai", GATEWAY, "OPENAI_API_KEY"),
        id="base_url is shared with the same provider",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"generation_provider": "openai", "base_url": GATEWAY, "embedding_api_key": "e"},
        ("openai", OWN["openai"], "embedding_api_key"),
        id="a key of its own leaves base_url behind",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"base_url": GATEWAY, "generation_provider": "custom"},
        ("openai", OWN["openai"], "OPENAI_API_KEY"),
        id="base_url of another server is not shared",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"embedding_base_url": "http://e.example", "embedding_provider": "openai"},
        ("openai", "http://e.example", "OPENAI_API_KEY"),
        id="embedding_base_url of a named provider",
    ),
    pytest.param(
        {"ANTHROPIC_API_KEY": "a", "MISTRAL_API_KEY": "m"},
        {"embedding_base_url": "http://e.example"},
        ("mistral", "http://e.example", "MISTRAL_API_KEY"),
        id="an embedding address of nobody known is that of the first key that embeds",
    ),
    pytest.param(
        {"ANTHROPIC_API_KEY": "a"},
        {"embedding_base_url": "http://e.example", "embedding_model": "m"},
        ("custom", "http://e.example", ""),
        id="without such a key it is a server of its own",
    ),
    pytest.param(
        {},
        {
            "base_url": GATEWAY,
            "api_key": "mine",
            "embedding_base_url": "http://e.example",
            "embedding_model": "m",
        },
        ("custom", "http://e.example", ""),
        id="api_key stays with base_url",
    ),
    pytest.param(
        {},
        {
            "base_url": GATEWAY,
            "api_key": "mine",
            "embedding_base_url": "http://gateway.example/embed",
            "embedding_model": "m",
        },
        ("custom", "http://gateway.example/embed", "api_key"),
        id="api_key goes to another path of the same server",
    ),
    pytest.param(
        {},
        {
            "generation_provider": "openai",
            "api_key": "mine",
            "embedding_provider": "openai",
            "embedding_base_url": OWN["mistral"],
        },
        ("openai", OWN["mistral"], ""),
        id="api_key is not sent to another vendor's embedding address",
    ),
    pytest.param(
        {"OLLAMA_BASE_URL": "http://box.example"},
        {"embedding_provider": "ollama"},
        ("ollama", "http://box.example", ""),
        id="ollama embeds when it is named",
    ),
]


@pytest.mark.parametrize(("environ", "settings", "expected"), EMBEDDING)
def test_embeddings_get(environ, settings, expected):
    assert shape(resolve(environ, **settings).embedding) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"embedding_provider": "none"}, None),
        ({"embedding_provider": "local"}, LocalEmbedding(None)),
        ({"embedding_model": "use"}, LocalEmbedding("use")),
        ({"embedding_folder": "models"}, LocalEmbedding(None)),
    ],
)
def test_a_key_does_not_move_embeddings_that_the_settings_keep_here(settings, expected):
    assert resolve({"OPENAI_API_KEY": "k"}, **settings).embedding == expected


def test_a_model_of_openai_is_asked_of_openrouter_by_the_name_it_has_there():
    found = resolve(
        {"OPENROUTER_API_KEY": "k"},
        generation_provider="openai",
        generation_model="gpt-x",
        generation_model_deep="openai/gpt-y",
        embedding_provider="openai",
    )
    assert (found.generator.model, found.generator_deep.model) == ("openai/gpt-x", "openai/gpt-y")
    assert found.embedding.model == "openai/text-embedding-3-small"


def test_named_models_win_and_the_strategy_overrides_the_classifier():
    found = resolve(
        {"GROQ_API_KEY": "k"},
        classifier_model="a",
        strategy_config={"classifier_model": "b"},
        generation_model="c",
        generation_model_deep="d",
    )
    assert (found.classifier.model, found.generator.model, found.generator_deep.model) == (
        "b",
        "c",
        "d",
    )


def test_one_model_of_a_server_of_your_own_stands_for_every_job_there():
    found = resolve(base_url=GATEWAY, generation_model="qwen")
    assert {found.classifier.model, found.generator.model, found.generator_deep.model} == {"qwen"}
    apart = resolve(
        {"GROQ_API_KEY": "k"},
        classifier_provider="groq",
        classifier_model="fast",
        generation_provider="ollama",
    )
    assert apart.generator.model == BY_NAME["ollama"].cheap_model


def test_failover_has_the_key_and_the_address_of_each_vendor_and_skips_the_first_choice():
    found = resolve(
        {"OPENAI_API_KEY": "o", "GROQ_API_KEY": "g", "GROQ_BASE_URL": "http://g.example"},
        failover_providers=["openai", "groq", "openai/gpt-x", "ollama"],
    )
    deep = [(*shape(e), e.model, e.job) for e in found.failover["generate_deep"]]
    assert deep == [
        ("groq", "http://g.example", "GROQ_API_KEY", "openai/gpt-oss-120b", "generate_deep"),
        ("openai", OWN["openai"], "OPENAI_API_KEY", "gpt-x", "generate_deep"),
        ("ollama", OWN["ollama"], "", BY_NAME["ollama"].strong_model, "generate_deep"),
    ]
    assert found.failover["classify"][0].model == "openai/gpt-oss-20b"


def test_failover_never_takes_an_explicit_key_or_address():
    found = resolve(
        {"GROQ_API_KEY": "g"},
        generation_provider="openai",
        api_key="mine",
        base_url=GATEWAY,
        failover_providers=["groq"],
    )
    assert [shape(e) for e in found.failover["generate"]] == [("groq", OWN["groq"], "GROQ_API_KEY")]


REFUSED = [
    ({}, {"generation_provider": "groq"}, MissingSecretError, ["GROQ_API_KEY", "generation_prov"]),
    ({}, {"embedding_provider": "openai"}, MissingSecretError, ["OPENAI_API_KEY"]),
    (
        {"OPENAI_API_KEY": "k"},
        {"failover_providers": ["xai"]},
        MissingSecretError,
        ["XAI_API_KEY", "failover_providers"],
    ),
    ({}, {"api_key": "mine"}, ConfigError, ["api_key", "generation_provider"]),
    ({}, {"embedding_api_key": "mine"}, ConfigError, ["embedding_api_key", "embedding_provider"]),
    (
        {},
        {"api_key": "m", "classifier_provider": "groq", "generation_provider": "openai"},
        ConfigError,
        ["api_key", "two vendors"],
    ),
    (
        {"OPENAI_API_KEY": "k"},
        {"generation_provider": "openai", "base_url": OWN["groq"]},
        ConfigError,
        ["base_url", "Groq", "OPENAI_API_KEY"],
    ),
    (
        {"OPENAI_API_KEY": "k"},
        {"embedding_provider": "openai", "embedding_base_url": OWN["mistral"]},
        ConfigError,
        ["embedding_base_url", "Mistral"],
    ),
    ({}, {"generation_provider": "custom"}, ConfigError, ["base_url"]),
    (
        {},
        {"embedding_provider": "custom", "embedding_model": "m"},
        ConfigError,
        ["embedding_base_url"],
    ),
    ({}, {"embedding_base_url": "http://e.example"}, ConfigError, ["embedding_model"]),
    (
        {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "gateway.example"},
        {},
        ConfigError,
        ["OPENAI_BASE_URL"],
    ),
]


@pytest.mark.parametrize(("environ", "settings", "kind", "words"), REFUSED)
def test_what_is_not_clear_is_refused_by_name_and_without_the_value(environ, settings, kind, words):
    with pytest.raises(kind) as caught:
        resolve(environ, **settings)
    said = f"{caught.value} {caught.value.hint}"
    assert all(word in said for word in words), said
    assert not any(value in said for value in environ.values() if len(value) > 1)


@pytest.mark.parametrize("provider", ["anthropic", "groq", "xai", "minimax"])
def test_a_provider_that_publishes_no_embeddings_is_refused(provider):
    environ = dict.fromkeys(KEY_VARIABLES, "k")
    with pytest.raises(ConfigError, match="publishes no embedding model") as caught:
        resolve(environ, embedding_provider=provider, embedding_model="m")
    assert "local" in caught.value.hint


def test_a_replay_needs_no_key(tmp_path):
    found = resolve(generation_provider="groq", embedding_provider="openai", replay=tmp_path)
    assert (found.generator.provider, found.generator.key) == ("groq", None)
    assert found.embedding.key is None


def test_the_picture_is_shown_with_names_and_without_keys():
    canary = "sk-canary-0123456789"
    found = resolve(
        {"OPENAI_API_KEY": canary, "GROQ_API_KEY": canary},
        failover_providers=["groq"],
        classifier_provider="none",
        embedding_provider="local",
    )
    rows = explain(found)
    assert [(r.role, r.provider, r.model, r.host, r.key) for r in rows] == [
        ("classifier", "", "", "", ""),
        ("generator", "openai", "gpt-4o-mini", "api.openai.com", "OPENAI_API_KEY"),
        ("generator, failover 1", "groq", "openai/gpt-oss-20b", "api.groq.com", "GROQ_API_KEY"),
        ("generator deep", "openai", "gpt-4o", "api.openai.com", "OPENAI_API_KEY"),
        (
            "generator deep, failover 1",
            "groq",
            "openai/gpt-oss-120b",
            "api.groq.com",
            "GROQ_API_KEY",
        ),
        ("embedding", "local", "minilm or use, by the corpus", "", ""),
        ("decision model", "", "", "", ""),
        ("reranker", "", "", "", ""),
        ("web search", "", "", "", ""),
    ]
    assert rows[0].reason == "switched off"
    assert all(row.reason for row in rows)
    assert canary not in f"{found!r} {rows!r}"


def test_a_model_of_your_own_for_the_deep_answers_replaces_only_those():
    found = resolve({"OPENAI_API_KEY": "k"}, chat_model_deep=object())
    assert found.generator.provider == "openai"
    assert (found.generator_deep, found.failover["generate_deep"]) == (None, ())
    assert found.reasons["generator_deep"] == "chat_model_deep is given"


def test_blanks_around_a_key_are_no_part_of_it():
    assert resolve({"XAI_API_KEY": " k\n"}).generator.key.reveal() == "k"
    explicit = resolve(generation_provider="xai", api_key=" k\n")
    assert explicit.generator.key.reveal() == "k"


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("XAI_API_KEY", "k")
    found = resolve_credentials(validate({"knowledge_corpus": ["docs"]}))
    assert shape(found.generator) == ("xai", OWN["xai"], "XAI_API_KEY")


def test_the_web_is_left_alone_without_a_key_or_a_search_of_the_hosts_own():
    found = resolve({})
    assert found.web is None
    assert "SERPER_API_KEY is not set" in found.reasons["web"]


def test_the_key_of_the_search_service_goes_to_its_own_address():
    found = resolve({"SERPER_API_KEY": "canary"}, web_research="always")
    assert (found.web.base_url, found.web.key_name) == (
        "https://google.serper.dev",
        "SERPER_API_KEY",
    )
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    "settings", [{"web_research": "never"}, {"web_search": lambda q, k: []}, {"replay": "kept"}]
)
def test_the_search_service_is_not_asked_where_the_settings_stand_against_it(settings):
    assert resolve({"SERPER_API_KEY": "canary"}, **settings).web is None


def test_the_key_of_the_search_service_does_not_leave_for_another_vendor():
    with pytest.raises(ConfigError, match="serper_base_url is an address of OpenAI"):
        resolve({"SERPER_API_KEY": "canary"}, serper_base_url="https://api.openai.com/v1")


def test_no_other_key_leaves_for_the_search_service():
    with pytest.raises(ConfigError, match="Serper"):
        resolve(
            {"OPENAI_API_KEY": "canary"},
            generation_provider="openai",
            base_url="https://google.serper.dev",
        )


def test_a_web_search_that_cannot_be_called_is_refused():
    with pytest.raises(ConfigError, match="web_search: must be a Retriever"):
        resolve({}, web_search="duck")
