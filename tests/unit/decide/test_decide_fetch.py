"""Asking the chosen sources: whatever one of them does, the others answer."""

import asyncio
import itertools
import logging
import threading
import time

import anyio
import pytest

from fingerpost.decide.fetch import fetch, retrieve_all
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.errors import InvalidQueryError, MissingRecordingError
from fingerpost.types.question import DecisionAnswer, DecisionResponse
from fingerpost.types.routing import SourceAssessment, SourceRouting
from fingerpost.types.source import Passage, Source

pytestmark = pytest.mark.anyio
WAIT_S = 5


class Gives:
    """A retriever that gives what it is told, or does it."""

    def __init__(self, found):
        self.found = found
        self.asked = []

    async def retrieve(self, query, top_k):
        self.asked.append((query, top_k))
        return await self.found() if callable(self.found) else self.found


GOOD = Gives([Passage("good news"), Passage("more news")])


def routing(**retrievers):
    return SourceRouting(
        retrievers=tuple(retrievers.values()),
        assessments=tuple(SourceAssessment(name, chosen=True) for name in retrievers),
        router="decision",
    )


async def raising():
    raise ValueError("no such shelf")


async def cancelling():
    raise asyncio.CancelledError


async def exiting():
    raise SystemExit(3)


async def generator():
    yield Passage("one")


class Explosive(list):
    def __iter__(self):
        raise RuntimeError("boom")


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (raising, "ValueError: no such shelf"),
        (cancelling, "CancelledError"),
        (exiting, "SystemExit"),
        (anyio.sleep_forever, "no answer within"),
        (None, "gave NoneType instead of passages"),
        ("a text", "gave str instead of passages"),
        ({"text": "a"}, "gave dict instead of passages"),
        (42, "gave int instead of passages"),
        (generator(), "gave async_generator instead of passages"),
        (Explosive(["x"]), "RuntimeError: boom"),
        (["a text", {"text": "b"}], "none a passage"),
        ([Passage(" \n"), Passage("")], "none a passage"),
        ([Passage(42), Passage("a", uri=None)], "none a passage"),
    ],
)
async def test_a_source_that_fails_never_breaks_the_others(found, told, caplog):
    with anyio.fail_after(WAIT_S), caplog.at_level(logging.WARNING, "fingerpost.decide"):
        retrievers = {"bad": Gives(found), "good": GOOD}
        bad, good = await fetch(retrievers, "q", 5, deadline=time.monotonic() + 0.2)
    assert (bad.source, bad.passages) == ("bad", ())
    assert told in bad.failure
    assert (good.source, good.passages, good.failure) == ("good", tuple(GOOD.found), "")
    assert "source bad gave nothing" in caplog.text
    assert "good" not in caplog.text


async def test_of_endless_passages_only_those_that_were_wanted_are_read():
    read = []

    def endless():
        while True:
            read.append(1)
            yield Passage(f"passage {len(read)}")

    [found] = await fetch({"endless": Gives(endless())}, "q", 3)
    assert [passage.text for passage in found.passages] == ["passage 1", "passage 2", "passage 3"]
    assert len(read) == 3
    [found] = await fetch({"many": Gives([Passage("x")] * 1_000_000)}, "q", 3)
    assert len(found.passages) == 3


async def test_what_is_no_passage_is_left_out_and_counted():
    [found] = await fetch({"mixed": Gives([Passage("a"), "b", Passage(" ")])}, "q", 5)
    assert (found.passages, found.n_unusable, found.failure) == ((Passage("a"),), 2, "")


async def test_no_passages_is_an_answer_not_a_failure():
    [found] = await fetch({"empty": Gives([])}, "q", 5)
    assert (found.passages, found.failure) == ((), "")


async def test_a_plain_function_is_asked_in_a_thread():
    class Plain:
        def retrieve(self, query, top_k):
            return [Passage(threading.current_thread().name)]

    [direct] = await fetch({"plain": Plain()}, "q", 5)
    [inside] = await fetch({"plain": Source("plain", "x", Plain())}, "q", 5)
    for found in (direct, inside):
        assert found.passages[0].text != threading.current_thread().name


async def test_a_plain_function_that_hangs_is_not_waited_for():
    release = threading.Event()

    class Hanging:
        def retrieve(self, query, top_k):
            assert release.wait(WAIT_S)

    with anyio.fail_after(WAIT_S):
        bad, good = await fetch(
            {"bad": Hanging(), "good": GOOD}, "q", 5, deadline=time.monotonic() + 0.05
        )
    release.set()
    assert "no answer within" in bad.failure
    assert good.passages


async def test_sources_are_asked_at_the_same_time():
    met = [anyio.Event(), anyio.Event()]

    def waiting(own, other):
        async def found():
            met[own].set()
            await met[other].wait()
            return [Passage("x")]

        return Gives(found)

    with anyio.fail_after(WAIT_S):
        found = await fetch({"a": waiting(0, 1), "b": waiting(1, 0)}, "q", 5)
    assert all(item.passages for item in found)


async def test_a_source_that_is_only_a_path_says_so():
    [found] = await fetch({"docs": Source("docs", "x", "./docs")}, "q", 5)
    assert "is a path" in found.failure


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "2", True, None])
async def test_fewer_than_one_passage_cannot_be_wanted(top_k):
    with pytest.raises(InvalidQueryError, match="top_k"):
        await fetch({"good": GOOD}, "q", top_k)


async def test_a_cancellation_of_the_caller_is_never_swallowed():
    with anyio.move_on_after(0.01) as scope:
        await fetch({"slow": Gives(anyio.sleep_forever)}, "q", 5)
    assert scope.cancelled_caught


async def test_passages_are_fused_by_reciprocal_rank_over_the_sources():
    both = Passage("in both", uri="u")
    found = await retrieve_all(
        routing(a=Gives([Passage("a1"), both]), b=Gives([Passage("b1"), both])), "q", 3
    )
    assert [item.passage.text for item in found.passages] == ["in both", "a1", "b1"]
    assert [item.source for item in found.passages] == ["a", "a", "b"]
    assert found.passages[0].score == pytest.approx(2 / 62)
    assert found.passages[1].score == pytest.approx(1 / 61)
    assert [item.source for item in found.findings] == ["a", "b"]


async def test_not_more_passages_than_wanted_come_back_in_all():
    shelves = {name: Gives([Passage(f"{name}{n}") for n in range(9)]) for name in "abc"}
    found = await retrieve_all(routing(**shelves), "q", 4)
    assert [item.passage.text for item in found.passages] == ["a0", "b0", "c0", "a1"]
    assert shelves["a"].asked == [("q", 4)]


class Prefers:
    provider, model = "test", "prefers"

    def __init__(self, *likely):
        self.likely = likely

    async def decide(self, input, questions):
        answers = {
            question.id: DecisionAnswer(question.id, probabilities={"yes": p, "no": 1 - p})
            for question, p in zip(questions, self.likely, strict=True)
        }
        return DecisionResponse(answers, "test/prefers")


async def test_a_router_alone_retrieves_from_the_sources_that_it_chooses():
    left, right = Gives([Passage("left")]), Gives([Passage("right")])
    router = DecisionModelQueryRouter(Prefers(0.1, 0.9), {left: "left", right: "right"})
    found = await router.retrieve("which way?", 2)
    assert [item.passage.text for item in found.passages] == ["right"]
    assert (left.asked, right.asked) == ([], [("which way?", 2)])
    assert found.routing.names == ("source-2",)


async def test_a_router_refuses_a_number_of_passages_that_is_none():
    router = DecisionModelQueryRouter(Prefers(0.9), {GOOD: "good"})
    with pytest.raises(InvalidQueryError, match="top_k"):
        await router.retrieve("q", 1.5)


async def test_a_router_that_chooses_nothing_retrieves_nothing():
    shelf = Gives([Passage("left")])
    found = await DecisionModelQueryRouter(Prefers(0.1), {shelf: "left"}).retrieve("hi")
    assert (found.passages, found.findings, shelf.asked) == ((), (), [])


class Lazy:
    """Gives one passage after another, each when it is let."""

    def __init__(self, gate):
        self.gate = gate

    def retrieve(self, query, top_k):
        self.gate.wait(WAIT_S)
        yield Passage("late")


class LazyAfterAwait(Lazy):
    async def retrieve(self, query, top_k):
        return super().retrieve(query, top_k)


@pytest.mark.parametrize("kind", [Lazy, LazyAfterAwait])
async def test_passages_given_one_by_one_hold_up_neither_the_loop_nor_the_others(kind):
    gate = threading.Event()
    try:
        with anyio.fail_after(WAIT_S):
            slow, good = await fetch(
                {"slow": kind(gate), "good": GOOD}, "q", 2, deadline=time.monotonic() + 0.2
            )
    finally:
        gate.set()
    assert "no answer within" in slow.failure
    assert len(good.passages) == 2


async def test_only_as_many_passages_are_taken_as_are_wanted():
    class Endless:
        async def retrieve(self, query, top_k):
            return (Passage(str(n)) for n in itertools.count())

    [found] = await fetch({"endless": Endless()}, "q", 3)
    assert [passage.text for passage in found.passages] == ["0", "1", "2"]


async def test_a_passage_that_fails_on_its_way_fails_its_source_alone():
    class Broken:
        async def retrieve(self, query, top_k):
            return (Passage("x"[n]) for n in range(3))

    broken, good = await fetch({"broken": Broken(), "good": GOOD}, "q", 3)
    assert "IndexError" in broken.failure
    assert len(good.passages) == 2


async def test_a_replay_without_its_record_is_never_a_failed_source():
    async def missing():
        raise MissingRecordingError("no record")

    with pytest.raises(MissingRecordingError):
        await fetch({"good": GOOD, "web": Gives(missing)}, "q", 3)
