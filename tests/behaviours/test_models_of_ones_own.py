"""A chat model of the host's own that breaks its promises; records that were changed; waiting."""

import json

import anyio
import pytest

from fingerpost import DeadlineExceededError, GenerationMode, QueryRouter
from fingerpost.errors import ConfigError, MissingRecordingError
from fingerpost.testing import ScriptedChat
from fingerpost.types.chat import ChatResponse

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"
TIER = json.dumps({"tier": 1, "strategy": "simple", "confidence": 0.9})


class _Wrong:
    provider = api = "own"
    model = "wrong"

    def __init__(self, given):
        self.given = given

    async def complete(self, request):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    async def stream(self, request):
        if isinstance(self.given, Exception):
            raise self.given
        yield self.given


WRONG = [
    None,
    7,
    b"bytes",
    "text",
    KeyError("x"),
    RuntimeError("y"),
    ChatResponse(None, "own/wrong"),
]


def _router(corpus, chat, **settings):
    return QueryRouter(
        knowledge_corpus=[corpus], embedding_provider="none", chat_model=chat, **settings
    )


@pytest.mark.parametrize("given", WRONG, ids=repr)
async def test_whatever_a_model_does_wrong_leaves_an_extractive_answer(corpus, given):
    async with _router(corpus, _Wrong(given)) as router:
        result = await router.route(QUESTION)
    assert result.generation_mode is GenerationMode.EXTRACTIVE
    assert "safe" in result.answer
    assert {"classify-fallback", "extractive-fallback"} <= set(result.fallbacks_used)


@pytest.mark.parametrize("given", [g for g in WRONG if not isinstance(g, str)], ids=repr)
async def test_a_stream_of_such_a_model_is_one_of_the_extractive_answer(corpus, given):
    async with _router(corpus, _Wrong(given)) as router:
        *_, last = [event async for event in router.stream(QUESTION)]
    assert last.result.generation_mode is GenerationMode.EXTRACTIVE


async def test_who_waits_for_the_run_of_another_keeps_the_own_deadline(corpus):
    released = anyio.Event()

    async def say(request):
        if request.job == "classify":
            return TIER
        await released.wait()
        return "The default mode is safe [1]."

    async with _router(corpus, ScriptedChat([say])) as router, anyio.create_task_group() as tasks:
        tasks.start_soon(router.route, QUESTION)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5), pytest.raises(DeadlineExceededError):
            await router.route(QUESTION, deadline=0.05)
        released.set()


async def test_a_question_with_a_budget_of_its_own_shares_no_run(corpus):
    chat = ScriptedChat(
        [lambda r: TIER if r.job == "classify" else "The default mode is safe [1]."]
    )
    async with _router(corpus, chat) as router:
        first = await router.route(QUESTION)
        other = await router.route(QUESTION, budget=5)
        again = await router.route(QUESTION, budget=5)
    assert (first.cached, other.cached, again.cached) == (False, False, True)


async def test_a_recording_that_cannot_be_written_is_an_error_of_the_settings(corpus, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(ConfigError, match="record"):
        _router(corpus, ScriptedChat(["x"]), record=taken / "tape")


@pytest.mark.parametrize("change", ["{}", "[]", "not JSON", '{"format": 1}'])
async def test_a_record_that_was_changed_says_so(corpus, tmp_path, change):
    tape = tmp_path / "tape"
    chat = ScriptedChat(
        [lambda r: TIER if r.job == "classify" else "The default mode is safe [1]."]
    )
    async with _router(corpus, chat, record=tape) as router:
        await router.route(QUESTION)
    for path in tape.iterdir():
        told = json.loads(path.read_text())
        if change == '{"format": 1}':
            told.pop("pieces", None)
            told["response"] = {"text": 3}
            path.write_text(json.dumps(told))
        else:
            path.write_text(change)
    async with _router(corpus, chat, replay=tape) as router:
        with pytest.raises(MissingRecordingError):
            await router.route(QUESTION)
