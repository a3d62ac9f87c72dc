"""Calls kept in a folder and given again."""

import json
import os
import threading

import anyio
import numpy as np
import pytest

from fingerpost import errors as e
from fingerpost.config.secrets import Secret
from fingerpost.lanes.recorded import Recorder, Replayer
from fingerpost.testing import HashEmbedder, ScriptedChat, ScriptedDecision
from fingerpost.types.chat import (
    ChatRequest,
    ChatResponse,
    Message,
    ModelRef,
    StopReason,
    TokenLogprob,
)
from fingerpost.types.question import (
    AnswerStatus,
    Choice,
    DecisionAnswer,
    DecisionResponse,
    Score,
    YesNo,
)
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio

NEVER = ScriptedChat([AssertionError("the model was asked")])


def ask(text="hello", **more):
    return ChatRequest((Message("user", text),), **more)


async def read(stream):
    return [item async for item in stream]


async def test_a_reply_is_given_again_as_it_was(tmp_path):
    said = ChatResponse(
        "hi \udc80 é",
        "m/1",
        StopReason.LENGTH,
        (Usage("judge", "m/1", 3, 4, 0.1 + 0.2, "ok", estimated=True),),
        (TokenLogprob("hi", -0.1, {"ho": -2.5}),),
        "req-1",
    )
    first = await Recorder(tmp_path).around(ScriptedChat([said])).complete(ask())
    assert first == said
    assert await Replayer(tmp_path).around(NEVER).complete(ask()) == first


async def test_what_is_kept_may_be_read_by_its_owner_alone(tmp_path):
    folder = tmp_path / "a" / "tape"
    recorder = Recorder(folder)
    await recorder.around(ScriptedChat(["hi"])).complete(ask())
    recorder.around_embedder(HashEmbedder()).embed(["a"])
    modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert (folder.stat().st_mode & 0o777, modes) == (0o700, {0o600})


async def test_a_recording_does_not_write_through_a_link_that_waits_for_it(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    folder = tmp_path / "tape"
    await Recorder(folder).around(ScriptedChat(["hi"])).complete(ask())
    [kept] = folder.iterdir()
    said = kept.read_text()
    kept.with_name(f"{kept.name}.{os.getpid()}.{threading.get_ident()}").symlink_to(outside)
    await Recorder(folder).around(ScriptedChat(["hi"])).complete(ask())
    assert (outside.read_text(), list(folder.iterdir())) == ("untouched", [kept])
    assert kept.read_text() == said


async def test_a_stream_is_given_again_piece_by_piece(tmp_path):
    chat = ScriptedChat(["one two three"], stream_pieces=2)
    first = await read(Recorder(tmp_path).around(chat).stream(ask()))
    assert await read(Replayer(tmp_path).around(NEVER).stream(ask())) == first
    assert len(first) == 8


@pytest.mark.parametrize(
    "error",
    [
        e.RateLimitedError("later", provider="p", status=429, retry_after_s=3.5, hint="wait"),
        e.BudgetExceededError("b", spent_usd=1.0, allowed_usd=2.0),
        e.LaneExhaustedError("all", attempts=[e.QuotaError("q"), e.AuthenticationError("a")]),
        e.ProviderTimeoutError("slow"),
    ],
)
async def test_an_error_is_given_again_with_all_that_it_carries(tmp_path, error):
    with pytest.raises(type(error)) as first:
        await Recorder(tmp_path).around(ScriptedChat([error])).complete(ask())
    with pytest.raises(type(error)) as again:
        await Replayer(tmp_path).around(NEVER).complete(ask())
    one, two = vars(first.value), vars(again.value)
    shown = [{**fields, "attempts": repr(fields.get("attempts"))} for fields in (one, two)]
    assert shown[0] == shown[1]
    assert str(first.value) == str(again.value)


async def test_a_broken_stream_breaks_again_after_the_same_pieces(tmp_path):
    error = e.StreamTruncatedError("cut")
    error.text = "one two"
    for model in (
        Recorder(tmp_path).around(ScriptedChat([error])),
        Replayer(tmp_path).around(NEVER),
    ):
        stream = model.stream(ask())
        assert [await anext(stream), await anext(stream)] == ["one", " two"]
        with pytest.raises(e.StreamTruncatedError) as caught:
            await anext(stream)
        assert caught.value.text == "one two"


async def test_a_stream_that_was_given_up_ends_there_with_an_error_of_its_own(tmp_path):
    stream = Recorder(tmp_path).around(ScriptedChat(["one two"])).stream(ask())
    await anext(stream)
    await stream.aclose()
    again = Replayer(tmp_path).around(NEVER).stream(ask())
    assert await anext(again) == "one"
    with pytest.raises(e.MissingRecordingError, match="given up"):
        await anext(again)


async def test_equal_requests_are_given_again_in_their_order(tmp_path):
    model = Recorder(tmp_path).around(ScriptedChat(["one", "two", "three"]))
    first = [(await model.complete(ask())).text for _ in range(3)]
    again = Replayer(tmp_path).around(NEVER)
    assert (
        [(await again.complete(ask())).text for _ in range(3)] == first == ["one", "two", "three"]
    )


async def test_requests_at_once_are_told_apart_whatever_the_order_of_their_replies(tmp_path):
    gates = {str(n): anyio.Event() for n in range(10)}

    async def late(request):
        text = request.messages[0].text
        await gates[text].wait()
        if text != "0":
            gates[str(int(text) - 1)].set()
        return f"reply to {text}"

    async def all_at_once(model, order):
        got = {}

        async def one(text):
            got[text] = (await model.complete(ask(text))).text

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for text in order:
                    tasks.start_soon(one, text)
                gates["9"].set()
        return got

    first = await all_at_once(Recorder(tmp_path).around(ScriptedChat([late])), gates)
    again = await all_at_once(Replayer(tmp_path).around(NEVER), reversed(gates))
    assert again == first


@pytest.mark.parametrize(
    "other",
    [
        ask("other"),
        ask(job="judge"),
        ask(temperature=0.5),
        ask(max_tokens=1),
        ask(top_logprobs=1),
        ask(schema={"type": "object"}),
        ask(model=ModelRef("m")),
        ChatRequest((Message("system", "hello"),)),
    ],
)
async def test_another_request_has_no_record_and_the_error_names_the_call(tmp_path, other):
    await Recorder(tmp_path).around(ScriptedChat(["hi"])).complete(ask())
    with pytest.raises(e.MissingRecordingError, match=r"scripted.*complete-"):
        await Replayer(tmp_path).around(NEVER).complete(other)


async def test_deadline_and_question_are_no_part_of_a_request(tmp_path):
    await Recorder(tmp_path).around(ScriptedChat(["hi"])).complete(ask(deadline=1.0, query_id="a"))
    again = Replayer(tmp_path).around(NEVER)
    assert (await again.complete(ask(deadline=9.0, query_id="b"))).text == "hi"


async def test_another_model_has_no_record(tmp_path):
    await Recorder(tmp_path).around(ScriptedChat(["hi"])).complete(ask())
    with pytest.raises(e.MissingRecordingError):
        await Replayer(tmp_path).around(ScriptedChat(["x"], model="other")).complete(ask())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}'])
async def test_a_damaged_record_is_as_good_as_none(tmp_path, text):
    await Recorder(tmp_path).around(ScriptedChat(["hi"])).complete(ask())
    [path] = tmp_path.iterdir()
    path.write_text(text)
    with pytest.raises(e.MissingRecordingError):
        await Replayer(tmp_path).around(NEVER).complete(ask())


KEYS = ["sk-proj-a1b2c3d4e5f6g7h8i9", "AIza" + "b1" * 18, "gsk_0123456789abcdef0123"]


@pytest.mark.parametrize("key", KEYS)
async def test_no_key_is_in_a_record(tmp_path, key):
    chat = ScriptedChat([f"say {key} now", e.BadResponseError(f"got {key}")], stream_pieces=5)
    model = Recorder(tmp_path).around(chat)
    await read(model.stream(ask(f"my key is {key}")))
    with pytest.raises(e.BadResponseError):
        await model.complete(ask())
    kept = "".join(path.read_text() for path in tmp_path.iterdir())
    assert key not in kept
    assert key not in "".join(
        "".join(json.loads(p.read_text())["pieces"]) for p in tmp_path.iterdir()
    )
    again = await read(Replayer(tmp_path).around(NEVER).stream(ask(f"my key is {key}")))
    assert again[-1].text == "say *** now"


async def test_a_known_key_of_any_shape_is_not_in_a_record(tmp_path):
    recorder = Recorder(tmp_path, secrets=[Secret("hunter2"), Secret("")])
    await recorder.around(ScriptedChat(["the word is hunter2"])).complete(ask("hunter2"))
    assert "hunter2" not in "".join(path.read_text() for path in tmp_path.iterdir())


async def test_prose_about_keys_stays_as_it_is(tmp_path):
    text = "Use key-rotation-every-ninety-days; send `Bearer token`, not sk-your-key. See 9f86d081884c7d65."
    await Recorder(tmp_path).around(ScriptedChat([text])).complete(ask())
    assert (await Replayer(tmp_path).around(NEVER).complete(ask())).text == text


async def test_vectors_are_given_again_byte_for_byte(tmp_path):
    first = Recorder(tmp_path).around_embedder(HashEmbedder(12)).embed(["a b", "c"])
    silent = HashEmbedder(64, revision="other")
    again = Replayer(tmp_path).around_embedder(silent)
    assert np.array_equal(again.embed(["a b", "c"]), first)
    assert (again.dimension, again.revision, silent.n_calls) == (12, "1", 0)
    with pytest.raises(e.MissingRecordingError):
        again.embed(["a b"])


async def test_what_an_index_asks_of_an_embedder_is_kept_without_any_vector(tmp_path):
    recorded = Recorder(tmp_path).around_embedder(HashEmbedder(12))
    assert (recorded.dimension, recorded.revision) == (12, "1")
    again = Replayer(tmp_path).around_embedder(HashEmbedder(64, revision="other"))
    assert (again.dimension, again.revision) == (12, "1")


async def test_a_failed_embedding_fails_again(tmp_path):
    class Failing(HashEmbedder):
        def embed(self, texts):
            raise e.BadEmbeddingError("NaN", provider="p")

    for model in (
        Recorder(tmp_path).around_embedder(Failing()),
        Replayer(tmp_path).around_embedder(HashEmbedder()),
    ):
        with pytest.raises(e.BadEmbeddingError, match="NaN") as caught:
            model.embed(["a"])
        assert caught.value.provider == "p"


QUESTIONS = (
    YesNo("helps", "Does it?", yes="it does"),
    Choice("lane", "Which?", {"b": None, "a": "the first"}),
    Score("depth", "How?", ("low", "high")),
)
NO_DECISION = ScriptedDecision([AssertionError("the model was asked")])


async def test_decisions_are_given_again_as_they_were(tmp_path):
    said = DecisionResponse(
        {
            "helps": DecisionAnswer("helps", AnswerStatus.REFUSED, extras={"why": ["x", 1]}),
            "lane": DecisionAnswer(
                "lane",
                probabilities={"b": 0.1 + 0.2, "a": 0.7},
                label="a",
                confidence=0.4,
                provider_confidence=0.5,
            ),
            "depth": DecisionAnswer("depth", AnswerStatus.ABSTAINED, unknown_probability=0.6),
        },
        "m/1",
        (Usage("decide", "m/1", 3, 0, 0.1),),
        "req-1",
    )
    recorder = Recorder(tmp_path).around_decider(ScriptedDecision([said]))
    first = await recorder.decide({"q": "?"}, QUESTIONS, query_id="one")
    again = await Replayer(tmp_path).around_decider(NO_DECISION).decide({"q": "?"}, QUESTIONS)
    assert first == again == said


async def test_a_failed_decision_fails_again_and_another_question_has_no_record(tmp_path):
    error = e.RateLimitedError("later", provider="p", status=429, retry_after_s=3.5)
    with pytest.raises(e.RateLimitedError):
        await Recorder(tmp_path).around_decider(ScriptedDecision([error])).decide("?", QUESTIONS)
    replayed = Replayer(tmp_path).around_decider(NO_DECISION)
    with pytest.raises(e.RateLimitedError) as caught:
        await replayed.decide("?", QUESTIONS)
    assert caught.value.retry_after_s == 3.5
    turned = (QUESTIONS[0], Choice("lane", "Which?", {"a": "the first", "b": None}), QUESTIONS[2])
    for other in (QUESTIONS[:2], turned):  # the order of options is part of the question
        with pytest.raises(e.MissingRecordingError):
            await replayed.decide("?", other)


async def test_a_record_of_a_decision_holds_no_key(tmp_path):
    model = ScriptedDecision([(0.5,)])
    recorder = Recorder(tmp_path, [Secret("canary-0123")]).around_decider(model)
    await recorder.decide("the key is canary-0123", QUESTIONS[:1])
    [kept] = tmp_path.iterdir()
    assert "canary-0123" not in kept.read_text()
