"""What a lane does after an attempt: a pure function over what happened so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from fingerpost.errors import LaneError, LaneExhaustedError, ProviderTimeoutError, RefusedError
from fingerpost.lanes.backoff import is_short, jittered
from fingerpost.lanes.faults import Again, Rule, rule_for

MOST_PER_PROVIDER: Final = 2
MOST_PROVIDERS: Final = 3
MOST_ATTEMPTS: Final = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Whom an endpoint asks.

    Attributes:
        provider: The word that routes it.
        model: The provider's name of the model.
        server: Host and port, empty where they are not known.
    """

    provider: str
    model: str
    server: str = ""

    @property
    def owner(self) -> tuple[str, str]:
        """Who fails and rests as one: two servers without a vendor's name are not one provider."""
        return self.provider, self.server

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class Failed:
    """One attempt that failed.

    Attributes:
        index: Of the endpoint in its lane.
        error: What it ended in.
        has_said: Text of it has reached the caller.
    """

    index: int
    error: LaneError
    has_said: bool = False


@dataclass(frozen=True, slots=True)
class Rest:
    """An endpoint that may not be asked now.

    Attributes:
        error: The error that it rests for.
        left_s: Seconds until it may be probed, 0 while a probe is under way.
    """

    error: LaneError
    left_s: float


@dataclass(frozen=True, slots=True)
class Situation:
    """What surrounds the decision.

    Attributes:
        places: The endpoints of the lane, in order.
        rests: Beside each of them, ``None`` when it may be asked.
        now: Seconds of the lane's clock.
        started: When the call began.
        deadline: When it must have ended, ``inf`` for never.
        may_retry: The retry budget allows one more.
        draw: Random, 0 to 1.
        failover_on_refusal: A refusal is taken to the next endpoint.
    """

    places: Sequence[Place]
    rests: Sequence[Rest | None]
    now: float
    started: float
    deadline: float = math.inf
    may_retry: bool = True
    draw: float = 0.0
    failover_on_refusal: bool = False

    @property
    def left_s(self) -> float:
        """Seconds to the deadline, ``inf`` without one."""
        return self.deadline - self.now


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask the same endpoint again, ``after_s`` seconds from now."""

    after_s: float


@dataclass(frozen=True, slots=True)
class Next:
    """Ask endpoint ``index``, ``after_s`` seconds from now."""

    after_s: float
    index: int


@dataclass(frozen=True, slots=True)
class Stop:
    """End the call with this error."""

    error: LaneError


Decision: TypeAlias = Retry | Next | Stop


def decide(attempts: Sequence[Failed], around: Situation) -> Decision:
    """Return the next step of a call whose attempts so far have all failed.

    At most 2 attempts per provider, 3 providers and 4 attempts; no wait reaches the deadline.

    Args:
        attempts: In order; empty before the first.
        around: The lane and the time.
    """
    if around.left_s <= 0:
        return Stop(_surfaced(attempts) or _too_late())
    target = _untried(attempts, around)
    if not attempts:
        return Next(0.0, target) if target is not None else Stop(_all_rest(around))
    last = attempts[-1]
    rule = rule_for(last.error)
    moves_on = rule.move_on or (around.failover_on_refusal and isinstance(last.error, RefusedError))
    if last.has_said or not moves_on:
        return Stop(last.error)
    if len(attempts) < MOST_ATTEMPTS:
        wait_s = _wait_for_same(attempts, rule, around, alone=target is None)
        if wait_s is not None:
            return Retry(wait_s)
        if target is not None:
            return Next(0.0, target)
    return Stop(_surfaced(attempts) or last.error)


def _untried(attempts: Sequence[Failed], around: Situation) -> int | None:
    """Return the first endpoint that may be asked and has not been."""
    asked = {attempt.index for attempt in attempts}
    counts = _per_provider(attempts, around)
    for index, (place, rest) in enumerate(zip(around.places, around.rests, strict=True)):
        n_asked = counts.get(place.owner, 0)
        is_new = not n_asked
        if index in asked or rest is not None or n_asked >= MOST_PER_PROVIDER:
            continue
        if not (is_new and len(counts) >= MOST_PROVIDERS):
            return index
    return None


def _wait_for_same(
    attempts: Sequence[Failed], rule: Rule, around: Situation, *, alone: bool
) -> float | None:
    """Return the wait before the last endpoint is asked again, ``None`` when it must not be."""
    last = attempts[-1]
    n_asked = _per_provider(attempts, around)[around.places[last.index].owner]
    allowed = {
        Again.NEVER: False,
        Again.ONCE: True,
        Again.EARLY: around.left_s > (around.deadline - around.started) / 2
        or around.deadline == math.inf,
        Again.ALONE: alone,
    }[rule.again]
    if not allowed or not around.may_retry or n_asked >= MOST_PER_PROVIDER:
        return None
    if around.rests[last.index] is not None:
        return None
    told_s = getattr(last.error, "retry_after_s", None)
    if told_s is not None:
        return float(told_s) if alone and is_short(told_s, around.left_s) else None
    n_waits = sum(a.index == b.index for a, b in pairwise(attempts))
    wait_s = rule.wait_s if rule.wait_s is not None else jittered(n_waits, around.draw)
    return wait_s if wait_s < around.left_s else None


def _per_provider(attempts: Sequence[Failed], around: Situation) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for attempt in attempts:
        owner = around.places[attempt.index].owner
        counts[owner] = counts.get(owner, 0) + 1
    return counts


def _surfaced(attempts: Sequence[Failed]) -> LaneError | None:
    """Return the error of the only attempt, or one that tells of all."""
    if len(attempts) <= 1:
        return attempts[0].error if attempts else None
    errors = [attempt.error for attempt in attempts]
    told = "; ".join(f"{type(error).__name__}: {error}" for error in errors)
    error = _exhausted(f"all {len(errors)} attempts failed: {told}", errors)
    error.__cause__ = errors[-1]
    return error


def _all_rest(around: Situation) -> LaneError:
    rests = [rest for rest in around.rests if rest is not None]
    told = "; ".join(
        f"{place} rests for {rest.left_s:.0f} s after {type(rest.error).__name__}"
        for place, rest in zip(around.places, rests, strict=True)
    )
    return _exhausted(f"no endpoint may be asked now: {told}", [rest.error for rest in rests])


def _exhausted(message: str, errors: Sequence[LaneError]) -> LaneError:
    hint = next((error.hint for error in errors if error.hint), "")
    error = LaneExhaustedError(message, attempts=errors, hint=hint)
    error.retryable = any(one.retryable for one in errors)
    return error


def _too_late() -> LaneError:
    return ProviderTimeoutError("the deadline had passed before the call began")
