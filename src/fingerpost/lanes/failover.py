"""A lane: models in order, of which the next is asked when one fails."""

from __future__ import annotations

import math
import random as stdlib_random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

import anyio

from fingerpost.errors import LaneError, StreamTruncatedError, UsageError
from fingerpost.lanes.attempt import Failed, Next, Place, Retry, Situation, Stop, decide
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.faults import rule_for
from fingerpost.lanes.health import Health, Permit
from fingerpost.lanes.limits import RetryBudget
from fingerpost.observe.events import LaneFailover
from fingerpost.observe.observer import Observer, fan_out, ignore
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.result import Usage


class FailoverModel:
    """A `ChatModel` that asks the next of its models when one fails in a way that may help.

    What each error means is one table, `faults.FAULTS`. A stream is never begun again once a
    piece of it has been yielded. Endpoints of one ``provider`` share its circuit and its two
    attempts. Each model keeps the request's deadline itself; the lane begins no attempt and
    no wait that would pass it.

    Args:
        models: At least one, in the order of preference. All may see every request: name only
            those that the operator trusts with the same data.
        health: Which providers may be asked; share one between the lanes of a process.
        retries: How often the same endpoint is asked again; share it likewise.
        failover_on_refusal: Take a refusal to the next model.
        on_failover: Gets a `LaneFailover` before each attempt but the first of the first model.
            Must be quick; what it raises is logged.
        clock: Monotonic seconds, of which ``request.deadline`` speaks.
        sleep: Waits.
        random: Returns 0 to 1.
    """

    provider = "lane"
    api = "lane"

    def __init__(
        self,
        models: Sequence[ChatModel],
        *,
        health: Health | None = None,
        retries: RetryBudget | None = None,
        failover_on_refusal: bool = False,
        on_failover: Observer = ignore,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        random: Callable[[], float] = stdlib_random.random,
    ) -> None:
        if not models:
            raise UsageError("a lane needs at least one model")
        self.models = tuple(models)
        self.places = tuple(Place(model.provider, model.model) for model in models)
        self.model = str(self.places[0])
        self.health = health or Health()
        self.retries = retries or RetryBudget()
        self.failover_on_refusal = failover_on_refusal
        self.observe = fan_out([on_failover])
        self.clock = clock
        self.sleep = sleep
        self.random = random

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the first reply that one of the models gives.

        Raises:
            LaneExhaustedError: Several attempts failed, or no endpoint may be asked now.
            ProviderTimeoutError: The deadline had passed before the first attempt.
            LaneError: The only attempt failed, or no other model could cure it.
        """
        call = _Call(self, request)
        while True:
            model = await call.next_model()
            try:
                response = await model.complete(call.request_for(model))
            except LaneError as error:
                call.failed(error)
            except BaseException:
                call.dropped()
                raise
            else:
                return call.answered(response)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the pieces of the first model that gives one. See `ChatModel.stream`.

        Raises:
            StreamTruncatedError: It broke off after a piece; no other model is asked.
            LaneError: As `complete`, before any piece.
        """
        call = _Call(self, request)
        response: ChatResponse | None = None
        while response is None:
            model = await call.next_model()
            said: list[str] = []
            failure: LaneError | None = None
            try:
                async with aclosing(model.stream(call.request_for(model))) as items:
                    async for item in items:
                        if isinstance(item, ChatResponse):
                            response = item
                        else:
                            call.alive()
                            said.append(item)
                            yield item
            except LaneError as error:
                response, failure = None, error
            except BaseException:
                call.dropped()
                raise
            if response is None:
                call.failed(
                    _truncated(failure, said) if said or failure is None else failure,
                    has_said=bool(said),
                )
        yield call.answered(response)

    async def close(self) -> None:
        """Close every model."""
        for model in self.models:
            await model.close()


class _Call:
    """One request on its way through a lane."""

    def __init__(self, lane: FailoverModel, request: ChatRequest) -> None:
        self._lane = lane
        self._request = request
        self._started = lane.clock()
        self._attempts: list[Failed] = []
        self._usage: list[Usage] = []
        self._index = 0
        self._permit: Permit | None = None
        lane.retries.asked(self._started)

    async def next_model(self) -> ChatModel:
        """Wait as long as needed and return whom to ask, or raise what ends the call."""
        lane = self._lane
        while True:
            around = self._situation()
            decision = decide(self._attempts, around)
            if isinstance(decision, Stop):
                decision.error.usage = tuple(self._usage)
                raise decision.error
            if isinstance(decision, Retry) and not lane.retries.take(around.now):
                continue  # another call took the last one
            index = self._index if isinstance(decision, Retry) else decision.index
            self._tell(decision, index, around)
            if decision.after_s > 0:
                await lane.sleep(decision.after_s)
            permit = lane.health.begin(lane.places[index], lane.clock())
            if permit is not None:
                self._index, self._permit = index, permit
                return lane.models[index]

    def request_for(self, model: ChatModel) -> ChatRequest:
        """Return the request without a model's name that means another provider's model."""
        ref = self._request.model
        if ref is None or not ref.provider or ref.provider == model.provider:
            return self._request
        return replace(self._request, model=None)

    def alive(self) -> None:
        """Take note of a piece."""
        if self._permit is not None and self._permit.probes:
            self._permit = self._lane.health.alive(self._permit)

    def answered(self, response: ChatResponse) -> ChatResponse:
        """Return the reply with the usage of all attempts."""
        lane = self._lane
        lane.health.succeeded(self._held(), lane.clock())
        return replace(response, usage=(*self._usage, *response.usage))

    def failed(self, error: LaneError, *, has_said: bool = False) -> None:
        """Take note of how the attempt ended."""
        lane = self._lane
        place, now = lane.places[self._index], lane.clock()
        rests = lane.health.rests(lane.places, now)
        alone = not any(
            other.provider != place.provider and rest is None
            for other, rest in zip(lane.places, rests, strict=True)
        )
        lane.health.failed(self._held(), error, now, alone=alone)
        self._attempts.append(Failed(self._index, error, has_said))
        self._usage.extend(error.usage or (self._unknown_usage(error),))

    def dropped(self) -> None:
        """Take note that the caller gave up."""
        if self._permit is not None:
            self._lane.health.dropped(self._permit)

    def _held(self) -> Permit:
        permit, self._permit = self._permit, None
        assert permit is not None
        return permit

    def _situation(self) -> Situation:
        lane = self._lane
        now = lane.clock()
        deadline = self._request.deadline
        return Situation(
            places=lane.places,
            rests=lane.health.rests(lane.places, now),
            now=now,
            started=self._started,
            deadline=math.inf if deadline is None else deadline,
            may_retry=lane.retries.left(now),
            draw=lane.random(),
            failover_on_refusal=lane.failover_on_refusal,
        )

    def _tell(self, decision: Retry | Next, index: int, around: Situation) -> None:
        if self._attempts:
            before, error = self._index, self._attempts[-1].error
        else:
            first = around.rests[0]
            if first is None:
                return
            before, error = 0, first.error
        self._lane.observe(
            LaneFailover(
                at=time.time(),
                query_id=self._request.query_id,
                job=self._request.job,
                from_model=str(around.places[before]),
                to_model=str(around.places[index]),
                error=type(error).__name__,
                delay_s=decision.after_s,
            )
        )

    def _unknown_usage(self, error: LaneError) -> Usage:
        return Usage(
            job=self._request.job,
            model=str(self._lane.places[self._index]),
            input_tokens=0,
            cost_usd=None if rule_for(error).billed else 0.0,
            outcome=type(error).__name__,
            estimated=True,
        )


def _truncated(error: LaneError | None, said: Sequence[str]) -> StreamTruncatedError:
    cut = error
    if not isinstance(cut, StreamTruncatedError):
        told = f"{type(error).__name__}: {error}" if error else "its end was not announced"
        cut = StreamTruncatedError(
            f"the reply broke off after {len(said)} pieces: {told}",
            provider=getattr(error, "provider", ""),
            model=getattr(error, "model", ""),
            request_id=getattr(error, "request_id", ""),
        )
        cut.__cause__ = error
        cut.usage = error.usage if error else ()
    cut.text = "".join(said)
    return cut
