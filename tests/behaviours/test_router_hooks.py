"""Hooks and observers of the host: called in time, contained when they fail."""

import asyncio
import threading
import time

import anyio
import pytest

from fingerpost import DeadlineExceededError, QueryRouter

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **{**WORDS, **settings})


async def test_a_failing_observer_breaks_nothing(corpus, caplog):
    def fail(event):
        raise ValueError("observer")

    async with _router(corpus, on_event=fail) as router:
        assert (await router.route("What is the default mode?")).sources
    assert "an observer failed" in caplog.text


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_hooks_see_classification_and_evidence(corpus, kind):
    seen = []

    def plain(value):
        seen.append(type(value).__name__)

    async def later(value):
        await anyio.lowlevel.checkpoint()
        seen.append(type(value).__name__)

    hook = plain if kind == "sync" else later
    async with _router(corpus, on_classification=hook, on_retrieval=hook) as router:
        await router.route("What is the default mode?")
    assert seen == ["ClassificationResult", "Evidence"]


@pytest.mark.parametrize(
    ("hook", "fallback"),
    [("rerank", "rerank-skip"), ("graph_expand", "graph-skip"), ("deep_research", "research-skip")],
)
async def test_a_failing_stage_hook_is_named_and_the_answer_stands(corpus, hook, fallback):
    def fail(*arguments):
        raise ValueError("hook")

    async with _router(corpus, **{hook: fail}) as router:
        result = await router.route("Compare the fast mode and the safe mode", tier=3)
    assert fallback in result.fallbacks_used
    assert result.sources


@pytest.mark.parametrize("hook", ["on_classification", "on_retrieval"])
@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError], ids=lambda e: e.__name__)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_hook_that_would_end_the_process_breaks_no_question(corpus, hook, error, kind):
    def plain(value):
        raise error

    async def later(value):
        raise error

    async with _router(corpus, **{hook: plain if kind == "sync" else later}) as router:
        assert (await router.route("What is the default mode?")).sources


@pytest.mark.parametrize("hook", ["on_classification", "on_retrieval"])
async def test_a_hook_that_hangs_holds_a_question_no_longer_than_its_deadline(corpus, hook):
    ended = threading.Event()

    def hang(value):
        ended.wait(20)

    async with _router(corpus, **{hook: hang}) as router:
        started = time.monotonic()
        try:
            if hook == "on_classification":  # nothing is found yet
                with pytest.raises(DeadlineExceededError):
                    await router.route("What is the default mode?", deadline=0.3)
            else:
                result = await router.route("What is the default mode?", deadline=0.3)
                assert "deadline-reached" in result.fallbacks_used
            assert time.monotonic() - started < 10
        finally:
            ended.set()
