"""What every lane is: models in order, and one request on its way through them."""

from __future__ import annotations

import math
import random as stdlib_random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import anyio

from fingerpost.errors import LaneError, UsageError
from fingerpost.lanes.attempt import Failed, Next, Place, Retry, Situation, Stop, decide
from fingerpost.lanes.base import AnyModel
from fingerpost.lanes.faults import rule_for
from fingerpost.lanes.health import Health, Permit
from fingerpost.lanes.limits import RetryBudget
from fingerpost.observe.events import LaneFailover
from fingerpost.observe.observer import Observer, fan_out, ignore
from fingerpost.types.chat import ChatResponse
from fingerpost.types.question import DecisionResponse
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage

M = TypeVar("M", bound=AnyModel)
R = TypeVar("R", ChatResponse, DecisionResponse, Ranking)


class Lane(Generic[M]):
    """Models in the order of preference, and what decides whom of them to ask.

    Endpoints of one provider and server share a circuit and two attempts. Each model keeps the
    request's deadline itself; the lane begins no attempt and no wait that would pass it.

    Args:
        models: At least one. All may see every request: name only those that the operator
            trusts with the same data.
        health: Which providers may be asked; share one between the lanes of a process.
        retries: How often the same endpoint is asked again; share it likewise.
        failover_on_refusal: Take a refusal to the next model.
        on_failover: Gets a `LaneFailover` before each attempt but the first of the first model.
            Must be quick; what it raises is logged.
        clock: Monotonic seconds, of which deadlines speak.
        sleep: Waits.
        random: Returns 0 to 1.

    Raises:
        UsageError: No model.
    """

    provider = "lane"

    def __init__(
        self,
        models: Sequence[M],
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
        self.places = tuple(
            Place(model.provider, model.model, getattr(model, "server", "")) for model in models
        )
        self.model = str(self.places[0])
        self.health = health or Health()
        self.retries = retries or RetryBudget()
        self.failover_on_refusal = failover_on_refusal
        self.observe = fan_out([on_failover])
        self.clock = clock
        self.sleep = sleep
        self.random = random

    async def close(self) -> None:
        """Close every model."""
        for model in self.models:
            await model.close()


class LaneCall(Generic[M]):
    """One request on its way through a lane.

    Args:
        lane: Whom it may be taken to.
        job: What it is for, in usage and events.
        deadline: When it must have ended, by the lane's clock.
        query_id: The question it belongs to, for events.
    """

    def __init__(
        self, lane: Lane[M], job: str, deadline: float | None = None, query_id: str = ""
    ) -> None:
        self._lane = lane
        self._job = job
        self._deadline = math.inf if deadline is None else deadline
        self._query_id = query_id
        self._started = lane.clock()
        self._attempts: list[Failed] = []
        self._usage: list[Usage] = []
        self._index = 0
        self._permit: Permit | None = None
        lane.retries.asked(self._started)

    async def first_reply(self, ask: Callable[[M], Awaitable[R]]) -> R:
        """Return the first reply of one of the models, with the usage of all attempts.

        Raises:
            LaneExhaustedError: Several attempts failed, or no endpoint may be asked now.
            ProviderTimeoutError: The deadline had passed before the first attempt.
            LaneError: The only attempt failed, or no other model could cure it.
        """
        while True:
            model = await self.next_model()
            try:
                reply = await ask(model)
            except LaneError as error:
                self.failed(error)
            except BaseException:
                self.dropped()
                raise
            else:
                return replace(reply, usage=self.answered(reply.usage))

    async def next_model(self) -> M:
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

    def alive(self) -> None:
        """Take note that the answer has begun to come."""
        if self._permit is not None and self._permit.probes:
            self._permit = self._lane.health.alive(self._permit)

    def answered(self, usage: Sequence[Usage]) -> tuple[Usage, ...]:
        """Take note of an answer and return the usage of all attempts."""
        lane = self._lane
        lane.health.succeeded(self._held(), lane.clock())
        return (*self._usage, *usage)

    def failed(self, error: LaneError, *, has_said: bool = False) -> None:
        """Take note of how the attempt ended."""
        lane = self._lane
        place, now = lane.places[self._index], lane.clock()
        rests = lane.health.rests(lane.places, now)
        alone = not any(
            other.owner != place.owner and rest is None
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
        return Situation(
            places=lane.places,
            rests=lane.health.rests(lane.places, now),
            now=now,
            started=self._started,
            deadline=self._deadline,
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
                query_id=self._query_id,
                job=self._job,
                from_model=str(around.places[before]),
                to_model=str(around.places[index]),
                error=type(error).__name__,
                delay_s=decision.after_s,
            )
        )

    def _unknown_usage(self, error: LaneError) -> Usage:
        return Usage(
            job=self._job,
            model=str(self._lane.places[self._index]),
            input_tokens=0,
            cost_usd=None if rule_for(error).billed else 0.0,
            outcome=type(error).__name__,
            estimated=True,
        )
