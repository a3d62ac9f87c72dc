"""A lane of scripted models: who is asked, what comes back, what is told."""

import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from fingerpost import errors as e
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.health import Health
from fingerpost.testing import FakeClock, ScriptedChat
from fingerpost.types.chat import ChatRequest, ChatResponse, Message, ModelRef, StopReason
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio

ASK = ChatRequest((Message("user", "hello"),), job="judge", query_id="q1")


def lane_of_models(*models, clock=None, **more):
    clock = clock or FakeClock()
    return FailoverModel(models, clock=clock, sleep=clock.sleep, random=lambda: 1.0, **more)


def chat(*replies, provider="a", **more):
    return ScriptedChat(replies, provider=provider, model="m", **more)


def down(text="down", **more):
    return e.ProviderUnavailableError(text, **more)


def unreachable():
    return e.ProviderUnreachableError("refused")


async def read(stream):
    return [item async for item in stream]


async def test_the_first_model_answers_and_the_second_is_not_asked():
    first, second = chat("hi"), chat("no", provider="b")
    response = await lane_of_models(first, second).complete(ASK)
    assert (response.text, response.model) == ("hi", "a/m")
    assert second.requests == []
    assert first.requests == [ASK]


async def test_a_reply_that_was_cut_at_its_limit_is_a_reply():
    response = await lane_of_models(chat(ChatResponse("cut", "", StopReason.LENGTH))).complete(ASK)
    assert response.stop is StopReason.LENGTH


async def test_the_next_model_answers_when_the_first_cannot_be_reached():
    clock = FakeClock()
    response = await lane_of_models(
        chat(unreachable()), chat("hi", provider="b"), clock=clock
    ).complete(ASK)
    assert response.model == "b/m"
    assert clock.waits == []


async def test_the_same_model_is_asked_again_after_a_wait_and_then_the_next():
    clock, first = FakeClock(), chat(down())
    response = await lane_of_models(first, chat("hi", provider="b"), clock=clock).complete(ASK)
    assert response.text == "hi"
    assert len(first.requests) == 2
    assert clock.waits == [0.5]


async def test_usage_of_failed_attempts_stands_before_that_of_the_reply():
    lane = lane_of_models(chat(down()), chat("hi", provider="b"))
    usage = (await lane.complete(ASK)).usage
    assert [(item.model, item.outcome) for item in usage] == [
        ("a/m", "ProviderUnavailableError"),
        ("a/m", "ProviderUnavailableError"),
        ("b/m", "ok"),
    ]
    assert {item.job for item in usage} == {"judge"}


async def test_an_error_carries_the_usage_of_every_attempt():
    lane = lane_of_models(chat(down()), chat(e.RefusedError("no"), provider="b"))
    with pytest.raises(e.RefusedError) as caught:
        await lane.complete(ASK)
    assert [item.outcome for item in caught.value.usage] == [
        "ProviderUnavailableError",
        "ProviderUnavailableError",
        "RefusedError",
    ]


class Bare:
    """A model whose errors tell no usage."""

    provider, api, model = "bare", "x", "m"

    def __init__(self, error):
        self._error = error

    async def complete(self, request):
        raise self._error

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("error", "cost"), [(unreachable(), 0.0), (e.StreamTruncatedError("x"), None)]
)
async def test_an_attempt_that_tells_no_usage_costs_nothing_or_nobody_knows(error, cost):
    with pytest.raises(type(error)) as caught:
        await lane_of_models(Bare(error)).complete(ASK)
    assert caught.value.usage == (
        Usage("judge", "bare/m", 0, cost_usd=cost, outcome=type(error).__name__, estimated=True),
    )


async def test_when_all_fail_the_error_holds_every_attempt_in_order():
    lane = lane_of_models(
        chat(unreachable()), chat(e.QuotaError("q"), provider="b"), chat(down(), provider="c")
    )
    with pytest.raises(e.LaneExhaustedError) as caught:
        await lane.complete(ASK)
    assert [type(error).__name__ for error in caught.value.attempts] == [
        "ProviderUnreachableError",
        "QuotaError",
        "ProviderUnavailableError",
        "ProviderUnavailableError",
    ]


async def test_a_single_model_that_fails_once_for_good_raises_that_error():
    error = e.AuthenticationError("wrong key", hint="set it")
    with pytest.raises(e.AuthenticationError) as caught:
        await lane_of_models(chat(error)).complete(ASK)
    assert caught.value is error


async def test_a_resting_provider_is_not_asked_and_the_error_says_so():
    lane = lane_of_models(chat(e.AuthenticationError("wrong key"), "well"))
    with pytest.raises(e.AuthenticationError):
        await lane.complete(ASK)
    with pytest.raises(e.LaneExhaustedError, match="a/m rests for 300 s") as caught:
        await lane.complete(ASK)
    assert caught.value.usage == ()
    assert len(lane.models[0].requests) == 1


async def test_lanes_that_share_their_health_learn_from_each_other():
    health, clock = Health(), FakeClock()
    first = lane_of_models(chat(e.QuotaError("x")), clock=clock, health=health)
    second = lane_of_models(chat("no"), chat("hi", provider="b"), clock=clock, health=health)
    with pytest.raises(e.QuotaError):
        await first.complete(ASK)
    assert (await second.complete(ASK)).model == "b/m"


async def test_each_further_attempt_is_told_with_lane_error_and_delay():
    events = []
    lane = lane_of_models(chat(down()), chat("hi", provider="b"), on_failover=events.append)
    await lane.complete(ASK)
    told = [(x.job, x.query_id, x.from_model, x.to_model, x.error, x.delay_s) for x in events]
    assert told == [
        ("judge", "q1", "a/m", "a/m", "ProviderUnavailableError", 0.5),
        ("judge", "q1", "a/m", "b/m", "ProviderUnavailableError", 0.0),
    ]


async def test_passing_over_a_resting_model_is_told():
    events = []
    lane = lane_of_models(
        chat(e.QuotaError("x")), chat("hi", provider="b"), on_failover=events.append
    )
    await lane.complete(ASK)
    await lane.complete(ASK)
    assert [(x.from_model, x.to_model, x.error) for x in events] == [
        ("a/m", "b/m", "QuotaError")
    ] * 2


async def test_an_observer_that_fails_breaks_nothing():
    def fail(event):
        raise ValueError(event)

    lane = lane_of_models(chat(unreachable()), chat("hi", provider="b"), on_failover=fail)
    assert (await lane.complete(ASK)).text == "hi"


async def test_the_name_of_one_providers_model_is_not_asked_of_another():
    first, second = chat(unreachable()), chat("hi", provider="b")
    request = ChatRequest(ASK.messages, model=ModelRef("gpt", provider="a"))
    await lane_of_models(first, second).complete(request)
    assert first.requests == [request]
    assert second.requests == [ChatRequest(ASK.messages)]


async def test_nothing_is_asked_after_the_deadline():
    clock, model = FakeClock(), chat("hi")
    lane = lane_of_models(model, clock=clock)
    with pytest.raises(e.ProviderTimeoutError):
        await lane.complete(ChatRequest(ASK.messages, deadline=clock.now))
    assert model.requests == []


async def test_a_refusal_goes_to_the_next_model_only_when_that_is_asked_for():
    models = chat(e.RefusedError("no")), chat("hi", provider="b")
    with pytest.raises(e.RefusedError):
        await lane_of_models(*models).complete(ASK)
    assert (await lane_of_models(*models, failover_on_refusal=True).complete(ASK)).text == "hi"


async def test_an_error_that_is_no_lane_error_is_let_through_and_frees_the_probe():
    clock = FakeClock()
    model = chat(e.QuotaError("x"), ValueError("a bug"), "hi")
    lane = lane_of_models(model, clock=clock)
    with pytest.raises(e.QuotaError):
        await lane.complete(ASK)
    clock.now += 900
    with pytest.raises(ValueError, match="a bug"):
        await lane.complete(ASK)
    assert (await lane.complete(ASK)).text == "hi"


async def test_a_cancelled_probe_lets_the_next_call_probe():
    clock = FakeClock()

    async def hang(request):
        scope.cancel()
        await anyio.sleep_forever()

    model = chat(e.QuotaError("x"), hang, "hi")
    lane = lane_of_models(model, clock=clock)
    with pytest.raises(e.QuotaError):
        await lane.complete(ASK)
    clock.now += 900
    with anyio.CancelScope() as scope:
        await lane.complete(ASK)
    assert scope.cancelled_caught
    assert (await lane.complete(ASK)).text == "hi"


async def test_a_stream_gives_the_pieces_and_then_the_reply_with_all_usage():
    lane = lane_of_models(chat(unreachable()), chat("one two", provider="b"))
    *pieces, response = await read(lane.stream(ASK))
    assert pieces == ["one", " two"]
    assert response.text == "one two"
    assert [item.outcome for item in response.usage] == ["ProviderUnreachableError", "ok"]


async def test_a_stream_that_breaks_before_any_piece_goes_to_the_next_model():
    lane = lane_of_models(chat(e.StreamTruncatedError("cut")), chat("hi", provider="b"))
    assert (await read(lane.stream(ASK)))[0] == "hi"


def cut_after(text, error):
    error.text = text
    return error


@pytest.mark.parametrize(
    "error", [e.StreamTruncatedError("cut"), e.ProviderUnavailableError("gone"), down()]
)
async def test_a_stream_that_breaks_after_a_piece_is_never_begun_again(error):
    other = chat("hi", provider="b")
    lane = lane_of_models(chat(cut_after("one two", error)), other)
    stream = lane.stream(ASK)
    assert [await anext(stream), await anext(stream)] == ["one", " two"]
    with pytest.raises(e.StreamTruncatedError) as caught:
        await anext(stream)
    assert caught.value.text == "one two"
    assert [item.model for item in caught.value.usage] == ["a/m"]
    assert other.requests == []


class Endless(Bare):
    """Ends its stream without the whole reply."""

    async def stream(self, request):
        for piece in self._error:
            yield piece


async def test_a_stream_without_its_whole_reply_is_truncated():
    with pytest.raises(e.StreamTruncatedError) as caught:
        await read(lane_of_models(Endless(["a", "b"])).stream(ASK))
    assert caught.value.text == "ab"
    fallen = await read(lane_of_models(Endless([]), chat("hi")).stream(ASK))
    assert fallen[0] == "hi"


async def test_closing_the_stream_closes_the_call():
    model = chat("one two three")
    stream = lane_of_models(model).stream(ASK)
    await anext(stream)
    assert model.n_open == 1
    await stream.aclose()
    assert model.n_open == 0


async def test_the_first_piece_of_a_probing_stream_lets_the_others_through():
    clock = FakeClock()
    lane = lane_of_models(chat(e.QuotaError("x"), "one two", "hi"), clock=clock)
    with pytest.raises(e.QuotaError):
        await lane.complete(ASK)
    clock.now += 900
    stream = lane.stream(ASK)
    await anext(stream)
    assert (await lane.complete(ASK)).text == "hi"
    await stream.aclose()


async def test_a_lane_can_stand_in_a_lane():
    inner = lane_of_models(chat(unreachable()), chat(unreachable(), provider="b"))
    assert (await lane_of_models(inner, chat("hi", provider="c")).complete(ASK)).text == "hi"


async def test_one_lane_serves_several_event_loops_at_once():
    barrier = threading.Barrier(8)
    first, second = chat(unreachable()), chat("hi", provider="b")
    lane = FailoverModel([first, second])

    async def ask_often():
        return [(await lane.complete(ASK)).model for _ in range(50)]

    def work():
        barrier.wait(5)
        return anyio.run(ask_often)

    with ThreadPoolExecutor(8) as pool:
        answers = [task.result(5) for task in [pool.submit(work) for _ in range(8)]]
    assert answers == [["b/m"] * 50] * 8
    # Eight callers may have passed before the fifth failure opened the circuit.
    assert 5 <= len(first.requests) <= 12
    assert len(second.requests) == 400


async def test_closing_a_lane_closes_its_models():
    class Closing(ScriptedChat):
        closed = False

        async def close(self):
            self.closed = True

    models = [Closing(["x"]), Closing(["x"])]
    await lane_of_models(*models).close()
    assert [model.closed for model in models] == [True, True]


async def test_a_lane_without_models_is_refused():
    with pytest.raises(e.UsageError):
        FailoverModel([])
