"""Laws of a lane, whatever its models do and in whatever order."""

import random
from contextlib import suppress
from itertools import pairwise

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fingerpost import errors as e
from fingerpost.lanes.attempt import Failed, Next, Place, Rest, Retry, Situation, Stop, decide
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.faults import Effect, rule_for
from fingerpost.testing import FakeClock, ScriptedChat
from fingerpost.types.chat import ChatRequest, ChatResponse, Message

ERRORS = [
    e.ProviderUnreachableError,
    e.ProviderTLSError,
    e.RequestRejectedError,
    e.ContextTooLongError,
    e.AuthenticationError,
    e.QuotaError,
    e.ModelNotFoundError,
    e.ProviderConflictError,
    e.RateLimitedError,
    e.ProviderOverloadedError,
    e.ProviderUnavailableError,
    e.BadResponseError,
    e.EmptyCompletionError,
    e.StreamTruncatedError,
    e.RefusedError,
    e.ProviderTimeoutError,
]
MESSAGES = (Message("user", "hello"),)


@st.composite
def faults(draw):
    kind = draw(st.sampled_from(ERRORS))
    wait = draw(st.none() | st.floats(0.001, 2000))
    error = kind("x", retry_after_s=wait)
    if kind is e.ProviderTimeoutError:
        error.phase = draw(st.sampled_from(["first byte", "idle", "total", "pool"]))
    return error


outcomes = st.lists(st.tuples(st.floats(0, 30), st.none() | faults()), min_size=1, max_size=6)


class Laws(RuleBasedStateMachine):
    """Requests of one lane at a clock that only the models and the waits move."""

    @initialize(layout=st.lists(st.sampled_from("aabcd"), min_size=1, max_size=6))
    def start(self, layout):
        self.clock = FakeClock()
        self.script = iter(())
        self.begun = []
        models = [
            ScriptedChat([self.reply_of(provider)], provider=provider, model=f"m{index}")
            for index, provider in enumerate(layout)
        ]
        self.lane = FailoverModel(
            models, clock=self.clock, sleep=self.clock.sleep, random=random.Random(1).random
        )

    def reply_of(self, provider):
        def reply(request):
            self.begun.append((provider, self.clock.now))
            took, error = next(self.script, (0.1, None))
            left = float("inf") if request.deadline is None else request.deadline - self.clock.now
            self.clock.now += min(took, left)
            if took >= left:
                raise e.ProviderTimeoutError("out of time")
            if error is not None:
                raise error
            return "one two"

        return reply

    @rule(script=outcomes, left=st.none() | st.floats(0, 120), streamed=st.booleans())
    def ask(self, script, left, streamed):
        self.begun = []
        self.script = iter(script)
        before, n_waits = self.clock.now, len(self.clock.waits)
        deadline = None if left is None else before + left
        request = ChatRequest(MESSAGES, deadline=deadline)
        outcome = anyio.run(self.finish, request, streamed)
        self.check_bounds(deadline)
        self.check_end(outcome, script)
        if deadline is not None:
            assert self.clock.now <= max(before, deadline) + 1e-6
        assert len(self.clock.waits) - n_waits <= 3

    async def finish(self, request, streamed):
        try:
            if not streamed:
                return await self.lane.complete(request)
            items = [item async for item in self.lane.stream(request)]
        except e.LaneError as error:
            return error
        assert items[:-1] == ["one", " two"]
        return items[-1]

    def check_bounds(self, deadline):
        providers = [provider for provider, _ in self.begun]
        assert len(providers) <= 4
        assert len(set(providers)) <= 3
        assert all(providers.count(provider) <= 2 for provider in providers)
        if deadline is not None:
            assert all(at < deadline for _, at in self.begun)

    def check_end(self, outcome, script):
        errors = [error for _, error in script[: len(self.begun)]]
        ends = [
            error is None or not rule_for(error).move_on
            for error in errors[:-1]  # the last may end it
        ]
        assert not any(ends), "an attempt was made after the call had ended"
        if isinstance(outcome, ChatResponse) or self.begun:
            assert len(outcome.usage) == len(self.begun)

    @rule(seconds=st.floats(0, 1000))
    def wait(self, seconds):
        self.clock.now += seconds

    @invariant()
    def nothing_is_left_open(self):
        if hasattr(self, "lane"):
            assert all(model.n_open == 0 for model in self.lane.models)


Laws.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
test_a_lane_keeps_its_laws = Laws.TestCase


@st.composite
def situations(draw):
    places = [
        Place(p, f"m{i}") for i, p in enumerate(draw(st.text("abcd", min_size=1, max_size=5)))
    ]
    rests = [draw(st.none() | st.builds(Rest, faults(), st.floats(0, 900))) for _ in places]
    now = draw(st.floats(0, 100))
    return Situation(
        places=places,
        rests=rests,
        now=now,
        started=0.0,
        deadline=draw(
            st.just(float("inf")) | st.sampled_from([-1, 0, 0.1, 0.4, 4, 60]).map(lambda s: now + s)
        ),
        may_retry=draw(st.booleans()),
        draw=draw(st.floats(0, 1)),
        failover_on_refusal=draw(st.booleans()),
    )


@given(situations(), st.data())
def test_a_decision_names_an_endpoint_that_may_be_asked_or_ends_the_call(around, data):
    indices = st.integers(0, len(around.places) - 1)
    attempts = data.draw(st.lists(st.builds(Failed, indices, faults()), max_size=5))
    decision = decide(attempts, around)
    if isinstance(decision, Stop):
        assert isinstance(decision.error, e.LaneError)
        return
    assert len(attempts) < 4
    assert 0 <= decision.after_s < around.left_s
    if isinstance(decision, Next):
        assert around.rests[decision.index] is None
        assert decision.index not in {attempt.index for attempt in attempts}
    else:
        assert isinstance(decision, Retry)
        assert around.may_retry
        assert around.rests[attempts[-1].index] is None
        assert rule_for(attempts[-1].error).effect is not Effect.REST


class Outage:
    """One provider that is down for a time, asked at a steady pace."""

    def __init__(self, n_providers, seed):
        self.clock = FakeClock()
        self.rng = random.Random(seed)
        self.down_until = 0.0
        self.begun = []
        self.gate = None
        self.share_down = 1.0
        self.models = [
            ScriptedChat([self.reply_of(name)], provider=name, model="m")
            for name in "abc"[:n_providers]
        ]
        self.lane = FailoverModel(
            self.models, clock=self.clock, sleep=self.clock.sleep, random=self.rng.random
        )

    def reply_of(self, name):
        async def reply(request):
            self.begun.append((name, self.clock.now))
            self.clock.now += 0.02
            if self.gate is not None:
                await self.gate.wait()
            if self.clock.now < self.down_until and self.rng.random() < self.share_down:
                raise e.ProviderUnavailableError("down")
            return "hi"

        return reply

    async def ask(self, n_requests, every_s):
        for _ in range(n_requests):
            with suppress(e.LaneError):
                await self.lane.complete(ChatRequest(MESSAGES, deadline=self.clock.now + 20))
            self.clock.now += every_s


@pytest.mark.parametrize("n_providers", [1, 2, 3])
@pytest.mark.parametrize("per_second", [0.2, 1, 10, 100])
def test_a_provider_that_is_down_is_asked_at_most_a_quarter_more_often_than_there_are_requests(
    n_providers, per_second
):
    outage = Outage(n_providers, seed=int(per_second * 10))
    outage.down_until = float("inf")
    began = outage.clock.now
    n_requests = 400
    anyio.run(outage.ask, n_requests, 1 / per_second)
    floor = 3 * (1 + (outage.clock.now - began) / 10)
    for model in outage.models:
        assert len(model.requests) <= 1.25 * n_requests + floor
    # The budget of retries is the process's: what is retried is shared by all its providers.
    assert len(outage.begun) <= (n_providers + 0.25) * n_requests + floor


def test_a_provider_that_fails_now_and_then_is_not_asked_again_each_time():
    outage = Outage(1, seed=5)
    began, n_requests = outage.clock.now, 2000
    anyio.run(outage.ask, 100, 0.01)  # so well that its circuit stays closed
    outage.down_until, outage.share_down = float("inf"), 0.35
    anyio.run(outage.ask, n_requests, 0.01)
    floor = 3 * (1 + (outage.clock.now - began) / 10)
    assert n_requests < len(outage.begun) - 100 <= 1.2 * n_requests + floor


@pytest.mark.parametrize("outage_s", [35, 100, 400])
def test_after_an_outage_traffic_returns_within_two_rests_through_a_single_probe(outage_s):
    outage = Outage(1, seed=outage_s)
    began = outage.clock.now
    outage.down_until = began + outage_s
    anyio.run(outage.ask, (outage_s + 260) * 10, 0.1)
    rest_s = min(120, outage_s)
    back = [at for _, at in outage.begun if at >= outage.down_until]
    assert back[0] - outage.down_until <= 2 * rest_s
    # Once the probe has succeeded every request is served, about ten a second.
    assert sum(back[0] <= at < back[0] + 10 for at in back) >= 80
    resting = [at for _, at in outage.begun if began + 30 < at < outage.down_until]
    gaps = [later - earlier for earlier, later in pairwise(resting)]
    assert all(gap >= 9.9 for gap in gaps), "more than one probe in a rest"


def test_only_one_of_many_callers_at_once_probes():
    outage = Outage(1, seed=3)
    outage.down_until = outage.clock.now + 5
    anyio.run(outage.ask, 20, 0.1)
    outage.clock.now += 60
    outage.begun.clear()

    async def many():
        outage.gate = anyio.Event()
        refused = []

        async def one():
            try:
                await outage.lane.complete(ChatRequest(MESSAGES))
            except e.LaneExhaustedError as error:
                refused.append(error)
                if len(refused) == 31:
                    outage.gate.set()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for _ in range(32):
                    tasks.start_soon(one)
        return refused

    assert len(anyio.run(many)) == 31
    assert len(outage.begun) == 1
