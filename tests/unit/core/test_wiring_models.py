"""What stands between the settings and the models."""

import logging

import pytest

from fingerpost import ConfigError, QueryRouter
from fingerpost.testing import ScriptedChat

KEY = "sk-canary-0123456789abcdef"


def _router(**settings):
    return QueryRouter(knowledge_corpus=["."], embedding_provider="none", **settings)


def test_a_budget_names_the_models_whose_price_is_not_known(caplog):
    given = {"generation_provider": "custom", "classifier_provider": "none"}
    with caplog.at_level(logging.WARNING, "fingerpost.lanes"):
        _router(base_url="http://127.0.0.1:9/v1", generation_model="mine", **given)
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "fingerpost.lanes"):
        _router(base_url="http://127.0.0.1:9/v1", generation_model="mine", budget_usd=1, **given)
    assert "custom/mine" in caplog.text


def test_a_classifier_that_must_be_a_model_needs_one():
    with pytest.raises(ConfigError, match="classifier_mode"):
        _router(strategy_config={"classifier_mode": "llm"})
    _router(strategy_config={"classifier_mode": "llm"}, chat_model=ScriptedChat(["x"]))


def test_routers_with_one_limit_share_the_budget_of_the_process(monkeypatch):
    from fingerpost.wiring.pipeline import process_budget

    assert process_budget(5.0) is process_budget(5.0)
    assert process_budget(5.0) is not process_budget(6.0)


def test_where_each_job_goes_is_told_without_its_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = {row.role: row for row in _router().explain_credentials()}
    assert (rows["classifier"].host, rows["classifier"].key) == ("api.openai.com", "OPENAI_API_KEY")
    assert KEY not in repr(rows)


@pytest.mark.parametrize(
    "given",
    [{"grounding_supported": 0.2, "grounding_unverifiable": 0.6}, {"grounding_unverifiable": 1}],
)
def test_thresholds_that_contradict_each_other_are_refused_at_once(given):
    with pytest.raises(ConfigError, match="grounding"):
        _router(**given)


def test_a_replay_without_a_provider_says_that_it_would_replay_nothing(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="replay"):
        _router(replay=tmp_path)
    _router(replay=tmp_path, generation_provider="openai", classifier_provider="openai")
