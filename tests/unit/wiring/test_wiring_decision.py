"""The decision model that a router asks over the network, as the settings name it."""

import pytest

from fingerpost import errors as e
from fingerpost.config.load import validate
from fingerpost.lanes.asked import ask
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.observe.events import LaneFailover, ModelCall
from fingerpost.observe.observer import ignore
from fingerpost.testing import ScriptedDecision
from fingerpost.testing.provider import ProviderServer, faults
from fingerpost.types.question import YesNo
from fingerpost.wiring.decision import make_decision_lane
from fingerpost.wiring.models import make_models
from fingerpost.wiring.tape import make_tape

pytestmark = pytest.mark.anyio

HELPS = (YesNo("helps", "Does it help?"),)


def make(events, **settings):
    config = validate({"knowledge_corpus": ["docs"], **settings})
    return make_decision_lane(config, events.append, Health(), RetryBudget(), make_tape(config))


@pytest.mark.parametrize("named", [None, "none", "local", "chat"])
def test_nothing_is_asked_over_the_network_unless_the_settings_say_so(named):
    assert make([], decision_provider=named) is None


@pytest.mark.parametrize(("budget_usd", "n_warnings"), [(1.0, 1), (None, 0)])
def test_a_budget_says_which_models_without_a_known_price_it_cannot_hold(
    caplog, budget_usd, n_warnings
):
    settings = {
        "decision_base_url": "http://127.0.0.1:9",
        "decision_model": "m-1",
        "rerank_base_url": "http://127.0.0.1:9",
        "rerank_model": "r-1",
    }
    config = validate({"knowledge_corpus": ["docs"], "budget_usd": budget_usd, **settings})
    make_models(config, ignore)
    assert [caplog.text.count(f"/{name} is known") for name in ("m-1", "r-1")] == [n_warnings] * 2


async def test_when_the_server_fails_the_next_is_asked_with_its_own_key(monkeypatch):
    events = []
    with (
        ProviderServer(decisions=faults.status(402)) as down,
        ProviderServer(decisions=(0.25,)) as up,
    ):
        monkeypatch.setenv("TYPESAFE_API_KEY", "key-of-typesafe")
        monkeypatch.setenv("TYPESAFE_BASE_URL", down.url)
        monkeypatch.setenv("GEMINI_API_KEY", "key-of-gemini")
        monkeypatch.setenv("GEMINI_BASE_URL", up.url)
        lane = make(events, decision_failover_providers=["gemini"])
        response = await ask(lane, "?", HELPS, query_id="q1")
        await lane.close()
    assert response.answers["helps"].value == 0.25
    assert response.model == "gemini/gemini-decision-1"
    assert down.requests[0].headers["authorization"] == "Bearer key-of-typesafe"
    assert up.requests[0].headers["x-goog-api-key"] == "key-of-gemini"
    assert [type(event) for event in events] == [ModelCall, LaneFailover, ModelCall]
    assert {(event.job, event.query_id) for event in events} == {("decide", "q1")}


async def test_a_model_of_ones_own_is_told_and_held_to_its_promises():
    class Own:  # takes no deadline, cannot be closed
        provider, model = "own", "odd"

        async def decide(self, input, questions):
            return None

    events = []
    lane = make(events, decider=Own())
    with pytest.raises(e.InvalidDecisionResponseError):
        await ask(lane, "?", HELPS)
    await lane.close()
    [event] = events
    assert (event.provider, event.outcome) == ("own", "InvalidDecisionResponseError")


async def test_decisions_are_recorded_and_replayed_without_a_server_or_a_key(tmp_path, monkeypatch):
    with ProviderServer(decisions=(0.25,)) as server:
        monkeypatch.setenv("TYPESAFE_BASE_URL", server.url)
        monkeypatch.setenv("TYPESAFE_API_KEY", "canary-0123")
        lane = make([], record=tmp_path)
        first = await ask(lane, "canary-0123?", HELPS)
        await lane.close()
    assert "canary-0123" not in "".join(kept.read_text() for kept in tmp_path.iterdir())
    monkeypatch.delenv("TYPESAFE_API_KEY")
    with ProviderServer(decisions=faults.status(500)) as server:
        monkeypatch.setenv("TYPESAFE_BASE_URL", server.url)
        lane = make([], replay=tmp_path, decision_provider="typesafe")
        assert await ask(lane, "canary-0123?", HELPS) == first
        assert server.requests == ()


async def test_a_scripted_model_stands_in_for_any():
    lane = make([], decider=ScriptedDecision([(0.75,)]))
    assert (await ask(lane, "?", HELPS)).answers["helps"].value == 0.75
