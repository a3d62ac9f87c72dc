"""Settings: where they come from, which wins, and what is refused."""

import copy
import json
import pickle

import pytest

from fingerpost.config.load import load_config, validate
from fingerpost.config.schema import (
    QueryRouterConfig,
    QueryRouterStrategyConfig,
)
from fingerpost.config.secrets import Secret
from fingerpost.errors import ConfigError, UnknownSettingError
from fingerpost.types import Strategy

CORPUS = {"knowledge_corpus": ["docs"]}


def test_defaults_are_those_of_the_specification():
    config = validate(CORPUS)
    assert (
        config.confidence_threshold,
        config.max_tier,
        config.graph_enabled,
        config.deep_research_enabled,
        config.conversation_window_size,
        config.max_context_tokens,
        config.cache_results,
        config.available_tools,
        config.verify_citations,
        config.include_platform_knowledge,
    ) == (0.7, 3, True, True, 5, 4000, True, (), True, True)
    assert config.strategy_config == QueryRouterStrategyConfig(
        default_strategy=Strategy.SIMPLE,
        force_strategy=None,
        classifier_mode="hybrid",
        classifier_model=None,
        max_sub_queries=5,
    )


def test_the_nearest_layer_wins_and_each_origin_is_known(tmp_path):
    file = tmp_path / "fingerpost.toml"
    file.write_text(
        'knowledge_corpus = "docs"\nmax_tier = 1\nconfidence_threshold = 0.1\n[strategy_config]\nmax_sub_queries = 2\n'
    )
    environ = {
        "FINGERPOST_MAX_TIER": "2",
        "FINGERPOST_STRATEGY_CONFIG__DEFAULT_STRATEGY": "moderate",
    }
    loaded = load_config({"graph_enabled": False}, file=file, environ=environ)
    assert loaded.config.knowledge_corpus == (str(tmp_path / "docs"),)
    assert (loaded.config.max_tier, loaded.config.confidence_threshold) == (2, 0.1)
    assert loaded.config.strategy_config.max_sub_queries == 2
    assert loaded.config.strategy_config.default_strategy is Strategy.MODERATE
    assert loaded.origins == {
        "knowledge_corpus": f"file {file}",
        "confidence_threshold": f"file {file}",
        "max_tier": "environment FINGERPOST_MAX_TIER",
        "strategy_config.max_sub_queries": f"file {file}",
        "strategy_config.default_strategy": "environment FINGERPOST_STRATEGY_CONFIG__DEFAULT_STRATEGY",
        "graph_enabled": "argument",
    }


def test_an_argument_of_none_counts_as_not_given():
    loaded = load_config({**CORPUS, "max_tier": None}, environ={"FINGERPOST_MAX_TIER": "1"})
    assert loaded.config.max_tier == 1


def test_a_blank_variable_counts_as_absent():
    assert load_config(CORPUS, environ={"FINGERPOST_MAX_TIER": "  "}).config.max_tier == 3


@pytest.mark.parametrize("written", ["T2", "t2", " 2 "])
def test_the_highest_tier_may_be_written_as_results_tell_it(written):
    loaded = load_config(CORPUS, environ={"FINGERPOST_MAX_TIER": written})
    assert loaded.config.max_tier == 2


def test_lists_in_variables_are_separated_like_path(monkeypatch):
    import os

    environ = {"FINGERPOST_KNOWLEDGE_CORPUS": os.pathsep.join(["a", "b"])}
    assert load_config(environ=environ).config.knowledge_corpus == ("a", "b")


def test_a_single_path_is_one_path_and_not_its_letters():
    assert validate({"knowledge_corpus": "docs"}).knowledge_corpus == ("docs",)


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ({}, ConfigError, ["knowledge_corpus is required"]),
        ({"knowledge_corpus": []}, ConfigError, ["knowledge_corpus is required"]),
        ({"knowledge_corps": ["x"]}, UnknownSettingError, ["knowledge_corps"]),
        ({**CORPUS, "max_tier": 4}, ConfigError, ["max_tier", "4", "3"]),
        ({**CORPUS, "max_tier": "T4"}, ConfigError, ["max_tier", "T4", "integer"]),
        ({**CORPUS, "max_tier": "two"}, ConfigError, ["max_tier", "two", "integer"]),
        ({**CORPUS, "confidence_threshold": float("nan")}, ConfigError, ["confidence_threshold"]),
        ({**CORPUS, "cache_max_entries": 0}, ConfigError, ["cache_max_entries", "0", "1"]),
        ({**CORPUS, "strategy_config": {"max_sub_queries": 0}}, ConfigError, ["max_sub_queries"]),
        ({"sources": [{"name": "a", "path": "x"}]}, ConfigError, ["sources", "'a'", "description"]),
        ({"sources": [{"name": "a", "dir": "x"}]}, ConfigError, ["'dir'", "path"]),
        ({"sources": ["a"]}, ConfigError, ["'a'", "Source"]),
        (
            {**CORPUS, "embedding_provider": "opnai"},
            ConfigError,
            ["embedding_provider", "opnai", "openai", "local"],
        ),
        ({**CORPUS, "generation_provider": "local"}, ConfigError, ["generation_provider", "groq"]),
        (
            {**CORPUS, "embedding_provider": "local", "embedding_model": "ada"},
            ConfigError,
            ["embedding_model", "ada", "minilm"],
        ),
        (
            {**CORPUS, "failover_providers": ["groq", "custom/m"]},
            ConfigError,
            ["failover_providers", "custom/m", "groq"],
        ),
        ({**CORPUS, "record": "a", "replay": "b"}, ConfigError, ["record", "replay"]),
        ({**CORPUS, "hyde_hypotheses": 6}, ConfigError, ["hyde_hypotheses", "6", "5"]),
        ({**CORPUS, "budget_usd": float("inf")}, ConfigError, ["budget_usd", "inf", "finite"]),
        ({**CORPUS, "base_url": "localhost:8000"}, ConfigError, ["base_url", "http://"]),
    ],
)
def test_a_refusal_names_the_field_the_value_and_what_is_allowed(values, kind, words):
    with pytest.raises(kind) as caught:
        validate(values)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("setting", ["generation_model", "embedding_model", "rerank_model"])
@pytest.mark.parametrize("name", ["gpt\n4", "gpt\x1b[31m", "gpt\u202e4"])
def test_a_models_name_is_one_line_without_control_characters(setting, name):
    with pytest.raises(ConfigError, match=setting) as caught:
        load_config({}, environ={f"FINGERPOST_{setting.upper()}": name})
    assert str(caught.value).isprintable()


def test_an_unknown_name_offers_the_nearest_known_one():
    with pytest.raises(UnknownSettingError) as caught:
        validate({**CORPUS, "confidence_treshold": 0.5})
    assert "confidence_threshold" in caught.value.hint


def test_repositories_come_from_every_layer(tmp_path):
    file = tmp_path / "fingerpost.toml"
    file.write_text('knowledge_corpus = "docs"\n[github_repos]\nrepos = ["one/two"]\n')
    environ = {"FINGERPOST_GITHUB_REPOS__MAX_FILES_PER_REPO": "7"}
    repos = load_config(file=file, environ=environ).config.github_repos
    assert (repos.repos, repos.max_files_per_repo) == (("one/two",), 7)
    environ["FINGERPOST_GITHUB_REPOS__REPOS"] = "three/four, five/six@v2"
    repos = load_config(file=file, environ=environ).config.github_repos
    assert repos.repos == ("three/four", "five/six@v2")


def test_a_file_that_is_no_toml_is_named(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("knowledge_corpus = [")
    with pytest.raises(ConfigError, match=r"broken\.toml"):
        load_config(file=file, environ={})


def test_loading_is_idempotent():
    first = validate(CORPUS)
    assert validate(first.model_dump(exclude_unset=True)) == first


def test_settings_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        validate(CORPUS).max_tier = 1


def test_every_setting_has_a_documented_default():
    undocumented = [n for n, f in QueryRouterConfig.model_fields.items() if f.is_required()]
    assert undocumented == []  # that something is to be searched is held by a rule of its own


CANARY = "sk-canary-0123456789"


@pytest.mark.parametrize(
    "show", [repr, str, "{}".format, "{!r}".format, "{:>5}".format, lambda s: f"{s}"]
)
def test_no_way_of_showing_a_secret_shows_it(show):
    assert CANARY not in show(Secret(CANARY))


def test_a_secret_cannot_be_pickled_and_copies_stay_masked():
    secret = Secret(CANARY)
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert copy.deepcopy(secret) is secret
    assert CANARY not in json.dumps({"key": str(secret)})
    assert (Secret("a") == Secret("a"), Secret("a") == Secret("b"), bool(Secret("  "))) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_key", [CANARY]),
        ("embedding_api_key", {"key": CANARY}),
        ("base_url", f"https://user:{CANARY}@models.example/v1"),
        ("embedding_base_url", f"https://models.example/v1?key={CANARY}"),
    ],
)
def test_an_error_about_a_key_or_an_address_that_holds_one_does_not_show_it(name, value):
    with pytest.raises(ConfigError, match=name) as caught:
        validate({**CORPUS, name: value})
    assert CANARY not in f"{caught.value} {caught.value.hint}"
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize("name", ["api_key", "base_url", "embedding_api_key", "embedding_base_url"])
def test_a_blank_key_or_address_counts_as_not_given(name):
    assert getattr(validate({**CORPUS, name: " \t"}), name) is None


def test_failover_providers_are_separated_by_commas_in_a_variable():
    environ = {"FINGERPOST_FAILOVER_PROVIDERS": "groq, ollama/llama3.2:3b,"}
    config = load_config(CORPUS, environ=environ).config
    assert config.failover_providers == ("groq", "ollama/llama3.2:3b")


def test_folders_of_a_file_are_beside_it(tmp_path):
    file = tmp_path / "fingerpost.toml"
    file.write_text('knowledge_corpus = "docs"\nrecord = "calls"\n')
    assert load_config(file=file, environ={}).config.record == tmp_path / "calls"


@pytest.mark.parametrize("name", ["chat_model", "nli", "extract_claims"])
def test_what_is_no_text_cannot_come_from_a_variable(name):
    with pytest.raises(ConfigError, match=name.upper()):
        load_config(CORPUS, environ={f"FINGERPOST_{name.upper()}": "x"})
