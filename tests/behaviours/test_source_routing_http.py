"""The router that asks a decision model, over real HTTP in each API's own words."""

import json

import pytest

from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.lanes.providers.decision_models import (
    GeminiDecisionModel,
    OpenAIDecisionModel,
    SystemOneDecisionModel,
)
from fingerpost.testing.provider import Decided, ProviderServer, faults
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import AnswerStatus, Choice
from fingerpost.types.routing import FallbackStrategy
from fingerpost.types.source import Passage, Source

pytestmark = pytest.mark.anyio
KEY = "sk-test-0123456789abcdef"
REFUSED, ABSTAINED = AnswerStatus.REFUSED, AnswerStatus.ABSTAINED
MARK = "zq17 is what the shelf says"


class Shelf:
    async def retrieve(self, query, top_k):
        return [Passage(MARK)]


SOURCES = [Source(name, f"all about {name}", Shelf()) for name in ("hr", "wiki", "ops")]


def system_one(url):
    return SystemOneDecisionModel(url, "jev-latest", KEY)


def openai(url):
    return OpenAIDecisionModel("gpt-6-luna", KEY, url)


def gemini(url):
    return GeminiDecisionModel("gemini-decision-1", KEY, url)


every_api = pytest.mark.parametrize("make", [system_one, openai, gemini])


async def routed(make, decisions, query="q", conversation=(), *, also=(), **options):
    with ProviderServer(decisions=decisions) as server:
        model = make(server.url)
        router = DecisionModelQueryRouter(model, SOURCES, **options)
        routing = await router.route(query, conversation, also=also)
        await model.close()
        return routing, list(server.requests)


@every_api
async def test_every_source_is_asked_about_in_one_request(make):
    routing, requests = await routed(make, (0.9, 0.2, 0.7), "Who is on call?")
    [request] = requests
    assert [question.text.splitlines()[-1] for question in request.questions] == [
        "all about hr",
        "all about wiki",
        "all about ops",
    ]
    assert request.input == "Who is on call?"
    assert routing.names == ("hr", "ops")
    assert [item.probability for item in routing.assessments] == pytest.approx([0.9, 0.2, 0.7])
    assert [item.outcome for item in routing.usage] == ["ok"]


@every_api
async def test_the_conversation_goes_along_and_retrieved_text_does_not(make):
    said = [ConversationMessage("user", "Leave?"), ConversationMessage("assistant", "30 days.")]
    with ProviderServer(decisions=(0.9, 0.2, 0.7)) as server:
        model = make(server.url)
        router = DecisionModelQueryRouter(model, SOURCES)
        for _ in range(2):
            found = await router.retrieve("And for contractors?", 3, said)
            assert found.passages[0].passage.text == MARK
        await model.close()
        bodies = [json.dumps(request.body) for request in server.requests]
    assert len(bodies) == 2
    assert all("And for contractors?" in body and "30 days." in body for body in bodies)
    assert all(MARK not in body for body in bodies)


@pytest.mark.parametrize(
    ("make", "silent"), [(openai, REFUSED), (system_one, REFUSED), (system_one, ABSTAINED)]
)
async def test_no_answer_about_one_source_leaves_the_others_as_they_are(make, silent):
    routing, _ = await routed(make, (0.9, silent, 0.7), min_probability=0)
    assert routing.names == ("hr", "ops")
    assert routing.assessments[1].status is silent
    assert routing.fallback is None


async def test_a_blocked_request_is_no_decision():
    routing, _ = await routed(gemini, (0.9, REFUSED, 0.7))
    assert [item.status for item in routing.assessments] == [REFUSED] * 3
    assert routing.fallback is FallbackStrategy.DO_NOT_ROUTE


@every_api
async def test_a_server_that_fails_ends_in_the_fallback_and_tells_no_key(make):
    routing, _ = await routed(
        make, faults.status(401, message=f"bad key {KEY}"), fallback_strategy="route_to_all"
    )
    assert routing.names == ("hr", "wiki", "ops")
    assert routing.fallback is FallbackStrategy.ROUTE_TO_ALL
    assert routing.reason
    assert KEY not in repr(routing)
    assert [item.outcome for item in routing.usage] == ["AuthenticationError"]


@every_api
async def test_the_tier_is_asked_for_in_the_same_request(make):
    tier = Choice("tier", "Which tier?", {"T0": "small talk", "T1": "one fact"})
    routing, requests = await routed(make, (0.9, 0.2, 0.7, {"T1": 0.8}), also=[tier])
    assert len(requests) == 1
    assert routing.answers["tier"].label == "T1"


async def test_thresholds_belong_to_the_build_that_answered():
    routing, _ = await routed(system_one, Decided((0.9, 0.2, 0.7), model="jev-1.13.0"))
    assert routing.model.endswith("/jev-1.13.0")
