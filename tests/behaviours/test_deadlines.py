"""A question with a deadline: each stage spends what is left, and the best lower answer comes."""

import time

import anyio
import pytest

from fingerpost import DeadlineExceededError, QueryRouter
from fingerpost.testing import ScriptedChat

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"
LATE_S = 1.0  # far beyond what one busy machine needs to leave a call behind


async def _forever(request):
    await anyio.sleep_forever()


def _hangs_on(*jobs):
    async def reply(request):
        if request.job in jobs:
            await anyio.sleep_forever()
        return "The default mode is safe [1]."

    return ScriptedChat([reply])


def _router(corpus, chat, **settings):
    settings.setdefault("embedding_provider", "none")
    return QueryRouter(knowledge_corpus=[corpus], chat_model=chat, **settings)


async def test_a_model_that_hangs_on_every_job_still_leaves_an_answer(corpus):
    async with _router(corpus, ScriptedChat([_forever])) as router:
        began = time.monotonic()
        result = await router.route(QUESTION, deadline=1.5)
        took = time.monotonic() - began
    assert "safe" in result.answer
    assert result.generation_mode == "extractive"
    assert {"classify-fallback", "extractive-fallback"} <= set(result.fallbacks_used)
    assert took < 1.5 + LATE_S


async def test_a_classifier_that_hangs_leaves_time_for_the_writer(corpus):
    async with _router(corpus, _hangs_on("classify", "rewrite")) as router:
        result = await router.route(QUESTION, deadline=1.5)
    assert result.answer.startswith("The default mode is safe")
    assert result.generation_mode == "model"
    assert "classify-fallback" in result.fallbacks_used


async def test_an_imagination_that_hangs_leaves_time_for_the_search(corpus):
    chat = _hangs_on("hyde", "decompose", "classify")
    async with _router(corpus, chat) as router:
        result = await router.route(QUESTION, tier=3, deadline=1.5)
    assert "safe" in result.answer
    assert "decompose-fallback" in result.fallbacks_used


async def test_a_graph_hook_that_eats_the_time_leaves_an_extractive_answer(corpus):
    async def slow(hits):
        await anyio.sleep_forever()

    async with _router(corpus, None, graph_expand=slow) as router:
        result = await router.route(QUESTION, tier=2, deadline=0.4)
    assert "safe" in result.answer
    assert "deadline-reached" in result.fallbacks_used
    assert result.grounding_status == "unavailable"


async def test_a_hurried_result_is_neither_kept_nor_shared(corpus):
    async def slow(hits):
        await anyio.sleep_forever()

    async with _router(corpus, None, graph_expand=slow) as router:
        hurried = await router.route(QUESTION, tier=2, deadline=0.4)
        again = await router.route(QUESTION, tier=2, deadline=0.4)
    assert "deadline-reached" in hurried.fallbacks_used
    assert not again.cached


async def test_before_anything_is_found_the_deadline_is_an_error(corpus):
    async with _router(corpus, None) as router:
        with pytest.raises(DeadlineExceededError):
            await router.route(QUESTION, deadline=1e-9)
