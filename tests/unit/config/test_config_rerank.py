"""Which reranker the settings choose, and whose key goes there."""

from pathlib import Path

import pytest

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.explain import explain
from fingerpost.config.load import load_config, validate
from fingerpost.config.providers import ADDRESSES, RERANKERS
from fingerpost.errors import ConfigError, MissingSecretError

COHERE, JINA, VOYAGE = (RERANKERS[name].base_url for name in ("cohere", "jina", "voyage"))
HERE = "http://localhost:8080"


def resolve(environ=None, **settings):
    return resolve_credentials(validate({"knowledge_corpus": ["docs"], **settings}), environ or {})


def shape(endpoint):
    key = None if endpoint.key is None else endpoint.key.reveal()
    return (endpoint.provider, endpoint.api, endpoint.model, endpoint.base_url, key)


ALL_KEYS = {"COHERE_API_KEY": "c", "JINA_API_KEY": "j", "VOYAGE_API_KEY": "v"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"rerank_provider": "cohere"},
            ("cohere", "cohere", "rerank-v4.0-fast", COHERE, "c"),
        ),
        ({"rerank_provider": "jina"}, ("jina", "jina", "jina-reranker-v3", JINA, "j")),
        ({"rerank_provider": " Voyage "}, ("voyage", "voyage", "rerank-2.5", VOYAGE, "v")),
        (
            {"rerank_provider": "cohere", "rerank_model": "mine"},
            ("cohere", "cohere", "mine", COHERE, "c"),
        ),
        (
            {"rerank_provider": "cohere", "rerank_api_key": "own"},
            ("cohere", "cohere", "rerank-v4.0-fast", COHERE, "own"),
        ),
        (
            {"rerank_provider": "cohere", "rerank_base_url": HERE},
            ("cohere", "cohere", "rerank-v4.0-fast", HERE, "c"),
        ),
        (
            {"rerank_provider": "custom", "rerank_base_url": HERE, "rerank_model": "bge"},
            ("custom", "jina", "bge", HERE, None),
        ),
        (
            {"rerank_base_url": HERE, "rerank_model": "bge"},
            ("custom", "jina", "bge", HERE, None),
        ),
        (
            {"rerank_base_url": HERE, "rerank_model": "bge", "rerank_api_key": "own"},
            ("custom", "jina", "bge", HERE, "own"),
        ),
        ({"rerank_base_url": VOYAGE}, ("voyage", "voyage", "rerank-2.5", VOYAGE, "v")),
    ],
)
def test_provider_model_address_and_key_are_those_of_the_settings(settings, expected):
    environ = {**ALL_KEYS, "OPENAI_API_KEY": "o"}
    assert shape(resolve(environ, **settings).rerank) == expected


def test_keys_alone_choose_no_reranker_for_texts_would_leave():
    found = resolve(ALL_KEYS)
    assert found.rerank is None
    assert "built-in" in found.reasons["rerank"]


@pytest.mark.parametrize("name", ["chat", "decision"])
def test_a_model_of_another_job_is_named_as_it_is(name):
    found = resolve(rerank_provider=name)
    assert found.rerank == name
    row = next(row for row in explain(found) if row.role == "reranker")
    assert (row.provider, row.host, row.key) == (name, "", "")


def test_a_folder_alone_is_a_cross_encoder():
    found = resolve(rerank_folder="models/ce")
    assert found.rerank == Path("models/ce")
    row = next(row for row in explain(found) if row.role == "reranker")
    assert (row.provider, row.model) == ("cross-encoder", "ce")


def test_a_folder_of_a_file_is_relative_to_it(tmp_path):
    file = tmp_path / "fingerpost.toml"
    file.write_text('knowledge_corpus = "docs"\nrerank_folder = "ce"\n')
    assert load_config(file=file, environ={}).config.rerank_folder == tmp_path / "ce"


def test_none_and_a_hook_of_ones_own_ask_nobody():
    off = resolve(ALL_KEYS, rerank_provider="none", rerank_base_url=COHERE)
    own = resolve(ALL_KEYS, rerank=lambda _question, hits, _top_n: hits)
    assert (off.rerank, own.rerank) == (None, None)
    assert off.reasons["rerank"] == "switched off"
    assert own.reasons["rerank"] == "the rerank hook is given"


@pytest.mark.parametrize("name", ["cohere", "jina", "voyage"])
def test_a_vendor_without_its_key_is_refused_by_its_variable(name):
    others = {variable: "k" for variable in ALL_KEYS if not variable.startswith(name.upper())}
    with pytest.raises(MissingSecretError, match=f"{name.upper()}_API_KEY is not set"):
        resolve({**others, f"{name.upper()}_API_KEY": "  "}, rerank_provider=name)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rerank_provider": "cross-encoder"}, "cross-encoder' has no model"),
        ({"rerank_provider": "custom", "rerank_model": "m"}, "has no address"),
        ({"rerank_base_url": HERE}, "rerank_model is required"),
        ({"rerank_api_key": "canary"}, "do not say whose key it is"),
        ({"rerank_provider": "openai"}, "allowed: cohere, jina, voyage, custom"),
        ({"rerank_base_url": "http://u:canary@h"}, "no user name"),
        ({"rerank_provider": "chat", "rerank": print}, "only one of the two"),
    ],
)
def test_what_the_settings_leave_open_or_contradict_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(**settings)
    assert "canary" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("other", [p for p in ADDRESSES if p.base_url and p.name != "cohere"])
def test_a_vendors_key_never_leaves_for_another_vendor(other):
    with pytest.raises(ConfigError, match="is not sent there"):
        resolve(ALL_KEYS, rerank_provider="cohere", rerank_base_url=f"{other.base_url}/v2")


@pytest.mark.parametrize("url", [COHERE, JINA, VOYAGE])
def test_no_key_of_chat_goes_to_a_vendor_of_rerankers(url):
    keys = {"OPENAI_API_KEY": "o", "GROQ_API_KEY": "g"}
    with pytest.raises(ConfigError, match="is not sent there"):
        resolve(keys, generation_provider="openai", base_url=f"{url}/v1")
    found = resolve(keys, rerank_base_url=url, rerank_provider="custom", rerank_model="m")
    assert found.rerank.key is None


def test_the_key_given_for_chat_is_not_that_of_a_reranker():
    found = resolve(
        {},
        generation_provider="openai",
        api_key="chat",
        base_url=HERE,
        rerank_base_url=HERE,
        rerank_model="bge",
    )
    assert found.rerank.key is None


def test_a_replay_needs_no_key(tmp_path):
    assert resolve(rerank_provider="cohere", replay=tmp_path).rerank.key is None
