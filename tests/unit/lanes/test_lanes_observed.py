"""One event for each call of a model."""

import pytest

from fingerpost import errors as e
from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.observed import ObservedChat, ObservedDecision, ObservedReranker
from fingerpost.lanes.providers import load_reranker
from fingerpost.observe.events import ModelCall
from fingerpost.testing import FakeClock, ScriptedChat, ScriptedDecision
from fingerpost.testing.provider import ProviderServer
from fingerpost.types.chat import ChatRequest, Message, ModelRef
from fingerpost.types.question import YesNo

pytestmark = pytest.mark.anyio

ASK = ChatRequest((Message("user", "a secret question"),), job="judge", query_id="q1")


def watched(*replies):
    events, clock = [], FakeClock()

    def later(reply):
        def say(request):
            clock.now += 0.25
            if isinstance(reply, Exception):
                raise reply
            return reply

        return say

    chat = ScriptedChat([later(r) for r in replies], provider="openai", model="gpt-4o")
    return ObservedChat(chat, events.append, clock=clock), events, clock


async def test_a_reply_is_told_with_tokens_cost_and_duration():
    model, events, _ = watched("hi there")
    response = await model.complete(ASK)
    [event] = events
    assert isinstance(event, ModelCall)
    usage = response.usage[0]
    assert (event.job, event.query_id, event.provider, event.model) == (
        "judge",
        "q1",
        "openai",
        "gpt-4o",
    )
    assert (event.input_tokens, event.output_tokens) == (usage.input_tokens, usage.output_tokens)
    assert event.cost_usd == pytest.approx(
        (usage.input_tokens * 2.5 + usage.output_tokens * 10) / 1e6
    )
    assert (event.duration_ms, event.first_piece_ms, event.outcome) == (250.0, None, "ok")


async def test_a_stream_tells_when_its_first_piece_came():
    model, events, clock = watched("one two")
    async for _ in model.stream(ASK):
        clock.now += 1
    [event] = events
    assert (event.first_piece_ms, event.duration_ms, event.outcome) == (250.0, 3250.0, "ok")


async def test_a_failure_is_told_by_its_class():
    model, events, _ = watched(e.RateLimitedError("x"))
    with pytest.raises(e.RateLimitedError):
        await model.complete(ASK)
    with pytest.raises(e.RateLimitedError):
        await anext(model.stream(ASK))
    assert [event.outcome for event in events] == ["RateLimitedError"] * 2
    assert events[1].first_piece_ms is None


async def test_a_call_that_is_given_up_is_told_as_closed():
    model, events, _ = watched("one two")
    stream = model.stream(ASK)
    await anext(stream)
    await stream.aclose()
    assert [(event.outcome, event.cost_usd) for event in events] == [("closed", None)]


async def test_the_model_that_was_named_is_told():
    model, events, _ = watched("hi")
    await model.complete(ChatRequest(ASK.messages, model=ModelRef("gpt-5")))
    assert events[0].model == "gpt-5"


async def test_no_content_leaves_with_an_event():
    model, events, _ = watched("a secret answer")
    await model.complete(ASK)
    assert "secret" not in repr(events[0].as_dict())


async def test_an_observer_that_fails_breaks_nothing():
    def fail(event):
        raise ValueError(event)

    assert (await ObservedChat(ScriptedChat(["hi"]), fail).complete(ASK)).text == "hi"


async def test_each_kind_of_model_is_told_as_what_it_does():
    events = []
    questions = (YesNo("helps", "Does it help?"),)
    await ObservedDecision(ScriptedDecision([(0.5,)]), events.append).decide("?", questions)
    with ProviderServer() as server:
        reranker = load_reranker(Endpoint("custom", "jina", "m", server.url, job="rerank"))
        await ObservedReranker(reranker, events.append).rerank("a", ["a", "b"])
        await reranker.close()
    await ObservedChat(ScriptedChat(["hi"]), events.append).complete(ASK)
    assert [event.operation for event in events] == ["decide", "rerank", "chat"]
