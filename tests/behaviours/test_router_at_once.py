"""Questions at once and from blocking code: one run for equals, no mixing, a clean end."""

import asyncio
import subprocess
import sys
import threading

import anyio
import pytest

from fingerpost import QueryRouter, Tier, UsageError

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **{**WORDS, **settings})


async def test_thirty_two_equal_questions_at_once_run_once(corpus):
    starts = []
    async with _router(corpus) as router:
        router.subscribe(
            lambda event: starts.append(event) if event.type == "classify:start" else None
        )
        results = []

        async def ask():
            results.append(await router.route("What is the default mode?"))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                for _ in range(32):
                    group.start_soon(ask)
    assert len(starts) == 1
    assert len({result.answer for result in results}) == 1


async def test_questions_at_once_do_not_mix(corpus):
    wanted = {
        "What does error E1042 mean?": "license",
        "What does ECONNREFUSED mean?": "not running",
        "What is the default mode?": "safe",
        "How do I install Heron on macOS?": "brew",
    }
    async with _router(corpus, cache_results=False) as router:
        answers, stories = [], {}
        router.subscribe(lambda event: stories.setdefault(event.query_id, []).append(event.type))

        async def ask(question):
            answers.append((question, await router.route(question)))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for question in list(wanted) * 8:
                    group.start_soon(ask, question)
    assert all(wanted[question] in result.answer for question, result in answers)
    assert all(story.count("route:complete") == 1 for story in stories.values())
    assert len(stories) == 32


async def test_a_blocking_call_inside_a_loop_is_refused(corpus):
    router = _router(corpus)
    with pytest.raises(UsageError, match="event loop"):
        router.route_sync("question")


def test_the_blocking_form_gives_the_same_answer(corpus):
    with _router(corpus) as router:
        result = router.route_sync("What does error E1042 mean?")
        assert router.classify_sync("Hello!").tier is Tier.TRIVIAL
        assert router.retrieve_sync("E1042").hits[0].document.path == "guides/errors.md"
    assert "license file has expired" in result.answer


def _ends(code, folder):
    return subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "use",
    [
        "router.route_sync('a question')",
        "router.init_sync(); router.route_sync('a question'); print('answered')",
        "router.__enter__(); router.close_sync(); router.route_sync('a question')",
    ],
)
def test_a_script_ends_even_when_the_router_was_not_opened_or_closed(corpus, use):
    code = (
        "import sys\nfrom fingerpost import QueryRouter\n"
        f"router = QueryRouter(knowledge_corpus=[sys.argv[1]], embedding_provider='none')\n{use}\n"
    )
    done = _ends(code, corpus)
    assert "answered" in done.stdout or "UsageError" in done.stderr


def test_one_router_serves_several_event_loops_at_once(corpus):
    question, outcomes = "What is the default mode?", []
    with _router(corpus) as router:

        def ask(number):
            asked = question if number % 4 < 2 else f"{question} {number}"
            if number % 2:
                outcomes.append(asyncio.run(router.route(asked)).answer)
            else:
                outcomes.append(router.route_sync(asked).answer)

        threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(outcomes) == 8
    assert all("safe" in answer for answer in outcomes)
