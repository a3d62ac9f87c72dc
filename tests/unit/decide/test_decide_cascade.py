"""Routers one after another: the first that is sure enough decides."""

import time

import anyio
import pytest

from fingerpost.decide.cascade import CascadeQueryRouter
from fingerpost.decide.embedding import EmbeddingQueryRouter
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.errors import ConfigError, LaneError, MissingRecordingError, UsageError
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import DecisionAnswer, YesNo
from fingerpost.types.result import Usage
from fingerpost.types.routing import FallbackStrategy, SourceAssessment, SourceRouting
from fingerpost.types.source import Passage, Source

pytestmark = pytest.mark.anyio


class Shelf:
    async def retrieve(self, query, top_k):
        return [Passage(f"about {query}")]


SHELF = Shelf()


def says(confidence, *, fallback=None, router="cheap", **more):
    return SourceRouting(
        retrievers=(SHELF,),
        assessments=(SourceAssessment("shelf", 0.9, 0.5, chosen=True),),
        router=router,
        confidence=confidence,
        fallback=fallback,
        usage=(Usage("decide", router, 1),),
        **more,
    )


class Scripted:
    def __init__(self, routing):
        self.routing = routing
        self.asked = []

    async def route(self, query, conversation=(), *, also=(), deadline=None, query_id=""):
        self.asked.append((query, tuple(conversation), tuple(also), deadline, query_id))
        if isinstance(self.routing, Exception):
            raise self.routing
        return self.routing


class Silent(Scripted):
    async def route(self, query, conversation=(), *, also=(), deadline=None, query_id=""):
        self.asked.append(deadline)
        await anyio.sleep_forever()


async def test_a_sure_first_router_decides_and_the_next_is_not_asked():
    cheap, dear = Scripted(says(0.8)), Scripted(says(1.0, router="dear"))
    routing = await CascadeQueryRouter([cheap, dear], accept_at=0.8).route("q")
    assert (routing.router, routing.passed) == ("cheap", ())
    assert dear.asked == []


async def test_an_unsure_router_is_passed_with_its_reason():
    cheap, dear = Scripted(says(0.79)), Scripted(says(0.9, router="dear"))
    routing = await CascadeQueryRouter([cheap, dear]).route("q")
    assert routing.router == "dear"
    [before] = routing.passed
    assert (before.router, before.reason) == ("cheap", "confidence 0.79 is below 0.80")
    assert [item.model for item in routing.usage] == ["cheap", "dear"]


async def test_a_fallback_is_no_decision_however_sure():
    fallen = says(1.0, fallback=FallbackStrategy.ROUTE_TO_ALL, reason="the model is down")
    routing = await CascadeQueryRouter(
        [Scripted(fallen), Scripted(says(0.9, router="dear"))]
    ).route("q")
    assert routing.router == "dear"
    assert routing.passed[0].reason == "the model is down"


@pytest.mark.parametrize(
    "last",
    [says(0.1, router="dear"), says(0.0, router="dear", fallback=FallbackStrategy.DO_NOT_ROUTE)],
)
async def test_the_word_of_the_last_one_stands(last):
    routing = await CascadeQueryRouter([Scripted(says(0.5)), Scripted(last)]).route("q")
    assert (routing.router, routing.confidence, routing.fallback) == (
        "dear",
        last.confidence,
        last.fallback,
    )


@pytest.mark.parametrize("error", [LaneError("down"), ValueError("no such shelf")])
async def test_a_router_that_fails_is_passed_with_its_reason(error):
    routing = await CascadeQueryRouter([Scripted(error), Scripted(says(0.9))]).route("q")
    [before] = routing.passed
    assert before.reason == f"{type(error).__name__}: {error}"
    assert before.retrievers == ()
    assert routing.confidence == 0.9


async def test_a_router_that_gives_no_routing_is_passed():
    routing = await CascadeQueryRouter([Scripted(None), Scripted(says(0.9))]).route("q")
    assert "gave a NoneType instead of a routing" in routing.passed[0].reason


async def test_the_error_of_the_last_one_goes_up_with_what_was_spent_on_all():
    error = LaneError("down")
    error.usage = (Usage("decide", "dear", 1),)
    with pytest.raises(LaneError) as caught:
        await CascadeQueryRouter([Scripted(says(0.5)), Scripted(error)]).route("q")
    assert caught.value is error
    assert [item.model for item in error.usage] == ["cheap", "dear"]


async def test_the_time_is_shared_so_that_one_that_hangs_leaves_some_to_the_next():
    cheap, dear = Silent(None), Scripted(says(0.9))
    deadline = time.monotonic() + 0.4
    with anyio.fail_after(5):
        routing = await CascadeQueryRouter([cheap, dear]).route("q", deadline=deadline)
    assert "did not decide in time" in routing.passed[0].reason
    assert routing.confidence == 0.9
    assert cheap.asked[0] == pytest.approx(deadline - 0.2, abs=0.1)
    assert deadline - 0.1 < dear.asked[0][3] <= deadline


class Hangs:
    provider, model = "own", "hangs"

    async def decide(self, input, questions):
        await anyio.sleep_forever()


SOURCES = [Source("moss", "mosses", SHELF), Source("fern", "ferns", SHELF)]


@pytest.mark.parametrize("strategy", [FallbackStrategy.ROUTE_TO_ALL, FallbackStrategy.DO_NOT_ROUTE])
async def test_the_last_router_takes_its_own_fallback_at_the_deadline(strategy):
    last = DecisionModelQueryRouter(Hangs(), SOURCES, fallback_strategy=strategy)
    for routers in ([last], [Scripted(says(0.1)), last], [CascadeQueryRouter([last])]):
        with anyio.fail_after(5):
            routing = await CascadeQueryRouter(routers).route("q", deadline=time.monotonic() + 0.1)
        assert routing.fallback is strategy
        assert "did not decide in time" in routing.reason


async def test_a_hosts_last_router_has_time_for_its_own_fallback():
    class Own(Scripted):
        async def route(self, query, conversation=(), *, also=(), deadline=None, query_id=""):
            await anyio.sleep(max(0.0, deadline - time.monotonic()))
            return self.routing

    with anyio.fail_after(5):
        routing = await CascadeQueryRouter([Own(says(0.0, router="own"))]).route(
            "q", deadline=time.monotonic() + 1
        )
    assert routing.router == "own"


@pytest.mark.parametrize(
    "error", [MissingRecordingError("no record"), ConfigError("other model"), UsageError("no")]
)
async def test_a_mistake_of_the_host_is_never_passed(error):
    routers = [Scripted(error), Scripted(says(0.9))]
    with pytest.raises(type(error)):
        await CascadeQueryRouter(routers).route("q")
    with pytest.raises(type(error)):
        await CascadeQueryRouter([CascadeQueryRouter(routers), Scripted(says(0.9))]).route("q")


async def test_a_cancellation_is_never_swallowed():
    with anyio.move_on_after(0.01) as scope:
        await CascadeQueryRouter([Silent(None), Scripted(says(0.9))]).route("q")
    assert scope.cancelled_caught


async def test_other_questions_are_asked_until_they_are_answered():
    first, second = YesNo("a", "A?"), YesNo("b", "B?")
    answer = DecisionAnswer("a", probabilities={"yes": 1.0, "no": 0.0})
    routers = [Scripted(says(0.5, answers={"a": answer})), Scripted(says(0.5)), Scripted(says(0.5))]
    routing = await CascadeQueryRouter(routers).route("q", also=[first, second])
    assert [asked[2] for router in routers for asked in router.asked] == [
        (first, second),
        (second,),
        (second,),
    ]
    assert routing.answers == {"a": answer}


async def test_every_router_gets_the_same_question():
    said = [ConversationMessage("user", "before")]
    routers = [Scripted(says(0.5)), Scripted(says(0.9))]
    await CascadeQueryRouter(routers).route("q", said, query_id="id")
    assert [router.asked for router in routers] == [[("q", tuple(said), (), None, "id")]] * 2


async def test_a_cascade_retrieves_from_what_it_chose():
    found = await CascadeQueryRouter([Scripted(says(0.9))]).retrieve("moss")
    assert [item.passage.text for item in found.passages] == ["about moss"]


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(ConfigError, match="at least one"):
        CascadeQueryRouter([])
    with pytest.raises(ConfigError, match="accept_at"):
        CascadeQueryRouter([Scripted(says(0.9))], accept_at=1.1)
    for rubbish in (5, None, [5], [Scripted(says(0.9)), None]):
        with pytest.raises(ConfigError, match="routers"):
            CascadeQueryRouter(rubbish)


def test_routers_over_different_sources_are_refused():
    boats = [Source("boats", "boats", SHELF)]
    last = DecisionModelQueryRouter(Hangs(), SOURCES)
    for sources in (boats, SOURCES[:1]):
        with pytest.raises(ConfigError, match="same sources"):
            CascadeQueryRouter([EmbeddingQueryRouter(None, sources), last])
    same = [Source(one.name, f"all {one.description}", SHELF) for one in SOURCES]
    cascade = CascadeQueryRouter([EmbeddingQueryRouter(None, same), last])
    assert [source.name for source in cascade.sources] == ["moss", "fern"]
    with pytest.raises(ConfigError, match="same sources"):
        CascadeQueryRouter([EmbeddingQueryRouter(None, boats), cascade])
