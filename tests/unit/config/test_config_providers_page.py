"""The page on providers says what the table of providers says."""

import re
from pathlib import Path

import pytest

from fingerpost.config.providers import CHECKED_ON, DECIDERS, PROVIDERS
from fingerpost.lanes.providers.decision_limits import limits_of

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "providers.md").read_text(encoding="utf-8")


def _section(title):
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def test_the_models_on_the_page_are_the_defaults_in_their_order():
    rows = [
        f"| `{p.name}` | `{p.cheap_model}` | `{p.strong_model}` | "
        + (f"`{p.embedding_model}` |" if p.embedding_model else "none |")
        for p in PROVIDERS
    ]
    assert "\n".join(rows) in PAGE
    assert CHECKED_ON in PAGE


@pytest.mark.parametrize("provider", [p for p in PROVIDERS if p.key_variable], ids=lambda p: p.name)
def test_each_provider_has_its_two_lines_and_says_when_embeddings_stay_local(provider):
    section = _section(provider.title)
    assert f"export {provider.key_variable}=..." in section
    assert ("Embeddings stay local." in section) == (provider.embedding_model is None)


def test_servers_without_a_key_have_their_two_lines():
    assert "export OLLAMA_BASE_URL=" in _section("Ollama")
    assert "export FINGERPOST_BASE_URL=" in _section("Any OpenAI-compatible server")


def test_the_decision_models_on_the_page_are_the_defaults_in_their_order():
    apis = {"systemone": "System One", "openai": "OpenAI Decisions", "gemini": "Gemini Decisions"}
    keys = {"ollama": "none", "systemone": "`decision_api_key`, if it needs one"}
    rows = [
        f"| `{p.name}` | `{p.decision_model}` | {apis[p.decision_api]} | "
        f"{keys.get(p.name) or f'`{p.key_variable}`'} |"
        for p in DECIDERS.values()
    ]
    assert "\n".join(rows) in PAGE


@pytest.mark.parametrize("name", [*DECIDERS, "any other"])
def test_the_limits_on_the_page_are_those_that_are_held(name):
    limits = limits_of(name)
    shown = "any other" if name in ("systemone", "any other") else f"`{name}`"
    size = f" {limits.max_bytes:,}" if limits.max_bytes else ""
    counts = f"{limits.questions:,} | {limits.options} | {limits.levels} |{size} |"
    assert f"| {shown} | {counts}" in PAGE
