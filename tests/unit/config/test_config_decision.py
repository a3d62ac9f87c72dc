"""Whose decision model, address and key the settings ask for."""

import itertools
from urllib.parse import urlsplit

import pytest

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.explain import explain
from fingerpost.config.load import load_config, validate
from fingerpost.config.providers import ADDRESSES, DECIDERS
from fingerpost.errors import ConfigError, MissingSecretError
from fingerpost.testing import ScriptedDecision

OWN = {name: provider.base_url for name, provider in DECIDERS.items()}


def resolve(environ=None, **settings):
    return resolve_credentials(validate({"knowledge_corpus": ["docs"], **settings}), environ or {})


def test_without_a_setting_or_its_key_there_is_none():
    found = resolve({"OPENAI_API_KEY": "k"})
    assert found.decision is None
    assert "TYPESAFE_API_KEY is not set" in found.reasons["decision"]
    assert found.failover["decide"] == ()


DECISIONS = [
    pytest.param(
        {"TYPESAFE_API_KEY": "k"},
        {},
        ("typesafe", "systemone", "jev-latest", OWN["typesafe"], "TYPESAFE_API_KEY"),
        id="TypeSafe's key is enough",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"decision_provider": "openai"},
        ("openai", "openai", "gpt-6-luna", OWN["openai"], "OPENAI_API_KEY"),
        id="openai by name",
    ),
    pytest.param(
        {"GEMINI_API_KEY": "k"},
        {"decision_provider": " Gemini "},
        ("gemini", "gemini", "gemini-decision-1", OWN["gemini"], "GEMINI_API_KEY"),
        id="gemini by name",
    ),
    pytest.param(
        {"OPENROUTER_API_KEY": "k"},
        {"decision_provider": "openrouter", "decision_model": "cloudflare/clef-flash"},
        (
            "openrouter",
            "systemone",
            "cloudflare/clef-flash",
            OWN["openrouter"],
            "OPENROUTER_API_KEY",
        ),
        id="openrouter by System One",
    ),
    pytest.param(
        {},
        {"decision_provider": "ollama"},
        ("ollama", "systemone", "nimble", OWN["ollama"], ""),
        id="ollama needs no key",
    ),
    pytest.param(
        {"OLLAMA_BASE_URL": "http://gpu:11434"},
        {"decision_provider": "ollama"},
        ("ollama", "systemone", "nimble", "http://gpu:11434", ""),
        id="the provider's own variable of its address",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"decision_base_url": "http://here:9"},
        ("systemone", "systemone", "jev-latest", "http://here:9", ""),
        id="an address alone is a server of nobody and gets nobody's key",
    ),
    pytest.param(
        {"GEMINI_API_KEY": "k"},
        {"decision_base_url": OWN["gemini"]},
        ("gemini", "gemini", "gemini-decision-1", OWN["gemini"], "GEMINI_API_KEY"),
        id="a vendor's own address alone is that vendor",
    ),
    pytest.param(
        {"TYPESAFE_API_KEY": "k"},
        {"decision_provider": "systemone", "decision_base_url": "http://here:9"},
        ("systemone", "systemone", "jev-latest", "http://here:9", ""),
        id="a server of its own does not get TypeSafe's key",
    ),
    pytest.param(
        {},
        {"decision_provider": "typesafe", "decision_api_key": "mine"},
        ("typesafe", "systemone", "jev-latest", OWN["typesafe"], "decision_api_key"),
        id="a key of its own",
    ),
    pytest.param(
        {},
        {"decision_provider": "openai", "generation_provider": "openai", "api_key": "mine"},
        ("openai", "openai", "gpt-6-luna", OWN["openai"], "api_key"),
        id="api_key where the generator's provider is the same",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k"},
        {"decision_provider": "openai", "base_url": "http://proxy/v1"},
        ("openai", "openai", "gpt-6-luna", "http://proxy/v1", "OPENAI_API_KEY"),
        id="base_url where the provider is the same",
    ),
    pytest.param(
        {"OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "r"},
        {"decision_provider": "openai", "decision_base_url": "http://proxy/v1"},
        ("openai", "openai", "gpt-6-luna", "http://proxy/v1", "OPENAI_API_KEY"),
        id="an address of its own",
    ),
]


@pytest.mark.parametrize(("environ", "settings", "expected"), DECISIONS)
def test_whom_the_decision_model_is_asked_of(environ, settings, expected):
    found = resolve(environ, **settings).decision
    shape = (found.provider, found.api, found.model, found.base_url, found.key_name)
    assert shape == expected
    assert found.job == "decide"
    assert bool(found.key) == bool(found.key_name)


@pytest.mark.parametrize(
    ("environ", "settings", "message"),
    [
        ({}, {"decision_provider": "typesafe"}, "TYPESAFE_API_KEY is not set"),
        # OpenRouter's key stands in for OpenAI's in chat; its decisions are another API.
        ({"OPENROUTER_API_KEY": "r"}, {"decision_provider": "openai"}, "OPENAI_API_KEY is not set"),
        ({}, {"decision_provider": "systemone"}, "has no address"),
        ({}, {"decision_api_key": "k"}, "do not say whose key it is"),
        (
            {"OPENAI_API_KEY": "k"},
            {"decision_provider": "openai", "decision_base_url": OWN["typesafe"]},
            "is an address of TypeSafe",
        ),
        (
            {"OPENAI_API_KEY": "k"},
            {"generation_provider": "openai", "base_url": OWN["typesafe"]},
            "is an address of TypeSafe",
        ),
        (
            {"TYPESAFE_API_KEY": "k"},
            {"decision_failover_providers": ["gemini"]},
            "GEMINI_API_KEY is not set",
        ),
    ],
)
def test_what_the_settings_leave_open_is_refused(environ, settings, message):
    with pytest.raises(ConfigError, match=message):
        resolve(environ, **settings)


def test_a_name_that_is_no_provider_of_decisions_is_refused():
    for settings in (
        {"decision_provider": "groq"},
        {"decision_failover_providers": ["groq"]},
        {"decision_failover_providers": ["systemone"]},  # which has no address of its own
    ):
        with pytest.raises(ConfigError, match="allowed: typesafe, openai, gemini, openrouter"):
            validate({"knowledge_corpus": ["docs"], **settings})


def test_an_address_with_a_password_is_refused_without_showing_it():
    with pytest.raises(ConfigError) as caught:
        validate({"knowledge_corpus": ["docs"], "decision_base_url": "http://u:canary@h"})
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("named", ["local", "chat"])
def test_a_model_that_is_no_server_is_named_as_it_is(named):
    found = resolve({"TYPESAFE_API_KEY": "k"}, decision_provider=named)
    assert found.decision == named
    row = next(row for row in explain(found) if row.role == "decision model")
    assert (row.provider, row.host, row.key) == (named, "", "")


def test_a_model_of_ones_own_or_none_asks_no_server():
    own = resolve({"TYPESAFE_API_KEY": "k"}, decider=ScriptedDecision([(0.5,)]))
    off = resolve({"TYPESAFE_API_KEY": "k"}, decision_provider="none")
    assert (own.decision, own.reasons["decision"]) == (None, "decider is given")
    assert (off.decision, off.reasons["decision"]) == (None, "switched off")


def test_failover_takes_each_vendors_own_key_and_is_told_row_by_row():
    found = resolve(
        {"TYPESAFE_API_KEY": "t", "GEMINI_API_KEY": "g"},
        decision_failover_providers=["gemini", "ollama/tev1", "typesafe"],
    )
    assert [(p.provider, p.model, p.key_name) for p in found.failover["decide"]] == [
        ("gemini", "gemini-decision-1", "GEMINI_API_KEY"),
        ("ollama", "tev1", ""),
    ]
    rows = [row for row in explain(found) if row.role.startswith("decision model")]
    assert [(row.role, row.host) for row in rows] == [
        ("decision model", "api.typesafe.ai"),
        ("decision model, failover 1", "generativelanguage.googleapis.com"),
        ("decision model, failover 2", "localhost:11434"),
    ]


def test_a_replay_needs_no_key(tmp_path):
    found = resolve(
        decision_provider="typesafe",
        decision_failover_providers=["gemini"],
        replay=tmp_path,
    )
    assert found.decision.key is None
    assert [place.key for place in found.failover["decide"]] == [None]


def test_a_variable_separates_failover_by_commas_and_cannot_hold_a_model():
    given = {"FINGERPOST_DECISION_FAILOVER_PROVIDERS": "gemini, ollama/tev1"}
    config = load_config({"knowledge_corpus": ["docs"]}, environ=given).config
    assert config.decision_failover_providers == ("gemini", "ollama/tev1")
    with pytest.raises(ConfigError, match="can only be an argument"):
        load_config({"knowledge_corpus": ["docs"]}, environ={"FINGERPOST_DECIDER": "x"})


VENDORS = [p for p in ADDRESSES if p.key_variable and (p.decision_model or p.name == "groq")]
SERVER = {p.name: f"http://{p.name}.test:8000" for p in ADDRESSES if p.base_url}
URLS = {p.url_variable: SERVER[p.name] for p in ADDRESSES if p.base_url}
KEYS = {p.key_variable: f"canary-{p.name}" for p in VENDORS}
EXPLICIT = {
    "generation_provider": [None, "openai", "gemini", "groq", "none"],
    "api_key": [None, "canary-mine"],
    "base_url": [None, "http://own.example/v1", SERVER["gemini"], SERVER["typesafe"]],
    "decision_provider": [None, *DECIDERS],
    "decision_api_key": [None, "canary-decision"],
    "decision_base_url": [None, "http://decide.example", SERVER["typesafe"], SERVER["openai"]],
}


def _belongs(given, endpoint, *, first):
    key = endpoint.key.reveal() if endpoint.key else None
    host = urlsplit(endpoint.base_url).hostname
    owner = host.removesuffix(".test") if host.endswith(".test") else None
    if key is None:
        return endpoint.key_name == ""
    if key == "canary-decision":
        return first
    if key == "canary-mine":  # one provider's, or one address's
        # Where the generator's is switched off, the classifier's may be of the first key found.
        is_chats = given["generation_provider"] in (None, "none", endpoint.provider)
        at_home = not given["base_url"] or host == urlsplit(given["base_url"]).hostname
        return first and is_chats and at_home
    vendor = key.removeprefix("canary-")
    return owner == vendor or (owner is None and endpoint.provider == vendor and first)


def test_no_key_leaves_for_another_vendor_whatever_the_settings_say():
    environs = [URLS, {**URLS, **KEYS}, *({**URLS, name: key} for name, key in KEYS.items())]
    resolved, refused, leaks = 0, 0, []
    for number, values in enumerate(itertools.product(*EXPLICIT.values())):
        given = dict(zip(EXPLICIT, values, strict=True))
        more = {"decision_failover_providers": ("gemini", "typesafe/x")} if number % 2 else {}
        config = validate({"knowledge_corpus": ["docs"], **given, **more})
        for environ in environs:
            try:
                found = resolve_credentials(config, environ)
            except ConfigError:
                refused += 1
                continue
            resolved += 1
            asked = [(found.decision, True), *((one, False) for one in found.failover["decide"])]
            leaks += [
                (given, sorted(set(environ) - set(URLS)), one.provider, one.base_url, one.key_name)
                for one, first in asked
                if isinstance(one, Endpoint) and not _belongs(given, one, first=first)
            ]
    assert leaks == []
    assert resolved + refused == 2240 * 7
    assert resolved > 5_000


def test_a_missing_key_is_an_error_of_its_own():
    with pytest.raises(MissingSecretError):
        resolve(decision_provider="gemini")
