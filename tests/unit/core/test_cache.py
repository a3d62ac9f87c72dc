"""The result cache: bounded, aged, one run for equal questions."""

import itertools

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.cache import ResultCache, result_key
from fingerpost.types import ClassificationResult, Filters, Query, QueryResult, Strategy, Tier, Turn

pytestmark = pytest.mark.anyio
_CLASS = ClassificationResult(
    tier=Tier.LOOKUP, strategy=Strategy.SIMPLE, confidence=1.0, reasoning=""
)


def _result(text="answer", **told):
    return QueryResult(answer=text, classification=_CLASS, **told)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def _cache(**settings):
    clock = Clock()
    return ResultCache(**{"max_entries": 2, "max_age_s": 10.0, "clock": clock, **settings}), clock


async def test_thirty_two_equal_questions_at_once_cost_one_run():
    cache, _ = _cache()
    runs, results = 0, []
    gate = anyio.Event()

    async def run():
        nonlocal runs
        runs += 1
        await gate.wait()
        return _result()

    async def ask():
        results.append(await cache.get_or_run("k", run))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for _ in range(32):
                group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert (runs, len(results), sum(r.cached for r in results)) == (1, 32, 31)


async def test_a_kept_result_leaves_after_its_age():
    cache, clock = _cache()
    first = await cache.get_or_run("k", _returning("old"))
    kept = await cache.get_or_run("k", _returning("new"))
    clock.now = 10.0
    fresh = await cache.get_or_run("k", _returning("new"))
    assert [(r.answer, r.cached) for r in (first, kept, fresh)] == [
        ("old", False),
        ("old", True),
        ("new", False),
    ]


async def test_the_least_recently_used_leaves_first():
    cache, _ = _cache()
    for key in ("a", "b", "a", "c"):
        await cache.get_or_run(key, _returning(key))
    assert len(cache) == 2
    again = {key: (await cache.get_or_run(key, _returning("new"))).cached for key in ("a", "b")}
    assert again == {"a": True, "b": False}


async def test_a_failed_run_is_not_kept_and_those_who_waited_run_for_themselves():
    cache, _ = _cache()
    gate, outcomes = anyio.Event(), []
    runs = itertools.count()

    async def run():
        if next(runs) == 0:
            await gate.wait()
            raise ValueError("first")
        return _result("second")

    async def ask():
        try:
            outcomes.append((await cache.get_or_run("k", run)).answer)
        except ValueError as error:
            outcomes.append(str(error))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert sorted(outcomes) == ["first", "second"]


async def test_a_cancelled_run_hands_over_to_one_who_waits():
    cache, _ = _cache()
    gate, started, outcomes = anyio.Event(), anyio.Event(), []

    async def run():
        started.set()
        await gate.wait()
        return _result()

    async def ask(scope=None):
        if scope is None:
            outcomes.append((await cache.get_or_run("k", run)).answer)
            return
        with scope:
            await cache.get_or_run("k", run)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()
            group.start_soon(ask, scope)
            await started.wait()
            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert outcomes == ["answer"]


@pytest.mark.parametrize(
    ("told", "is_kept"),
    [
        ({"fallbacks_used": ("tier-escalation", "vector-empty")}, True),
        ({"fallbacks_used": ("keyword-fallback",)}, True),
        ({"fallbacks_used": ("keyword-fallback",), "vector_coverage": 0.5}, False),
        ({"fallbacks_used": ("tier-escalation", "claims-by-words")}, False),
        ({"fallbacks_used": ("words-skip",)}, False),
        ({"grounding_status": "unavailable"}, False),
        ({"fallbacks_used": ("a-name-of-tomorrow",)}, False),
    ],
)
async def test_a_result_is_kept_unless_something_failed_that_may_be_back(told, is_kept):
    cache, _ = _cache()
    for _ in range(2):
        again = await cache.get_or_run("k", _returning("answer", **told))
    assert again.cached is is_kept


@pytest.mark.parametrize(
    ("told", "first_s", "then_s", "n_runs"),
    [
        ({"fallbacks_used": ("rerank-skip",)}, 1.0, 30.0, 2),
        ({"fallbacks_used": ("rerank-skip",)}, 1.0, None, 2),
        ({"fallbacks_used": ("rerank-skip",)}, 30.0, 30.0, 1),
        ({"fallbacks_used": ("rerank-skip",)}, None, None, 1),
        ({"fallbacks_used": ("deadline-reached",)}, 30.0, 30.0, 2),
        ({"fallbacks_used": ()}, 1.0, None, 1),
    ],
)
async def test_what_less_time_left_out_is_not_given_to_one_who_has_more(
    told, first_s, then_s, n_runs
):
    cache, _ = _cache()
    runs = 0
    started, gate = anyio.Event(), anyio.Event()

    async def run():
        nonlocal runs
        runs += 1
        started.set()
        await gate.wait()
        return _result(**told)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cache.get_or_run, "k", run, first_s)
            await started.wait()
            tasks.start_soon(cache.get_or_run, "k", run, then_s)
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert runs == n_runs


async def test_clearing_also_drops_what_is_under_way():
    cache, _ = _cache()

    async def run():
        cache.clear()
        return _result()

    await cache.get_or_run("k", run)
    assert len(cache) == 0


def _returning(text, **told):
    async def run():
        return _result(text, **told)

    return run


_TEXT = st.text(max_size=5)
_QUERIES = st.builds(
    Query,
    text=_TEXT,
    history=st.lists(
        st.builds(Turn, role=st.sampled_from(["user", "assistant"]), text=_TEXT), max_size=2
    ).map(tuple),
    filters=st.builds(
        Filters,
        paths=st.lists(_TEXT, max_size=2).map(tuple),
        tags=st.lists(_TEXT, max_size=2).map(tuple),
    ),
    tier=st.none() | st.integers(0, 3),
    top_k=st.none() | st.integers(1, 3),
)


@given(
    first=_QUERIES,
    second=_QUERIES,
    parts=st.lists(_TEXT, max_size=2),
    other=st.lists(_TEXT, max_size=2),
)
def test_keys_are_equal_exactly_when_the_requests_are(first, second, parts, other):
    same = (first, parts) == (second, other)
    assert (result_key(first, parts) == result_key(second, other)) is same
