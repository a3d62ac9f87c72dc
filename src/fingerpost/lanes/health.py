"""Which providers may be asked: a circuit for each, and for each of their models."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, TypeAlias

from fingerpost.errors import LaneError
from fingerpost.lanes.attempt import Place, Rest
from fingerpost.lanes.faults import Effect, Rule, rule_for
from fingerpost.lanes.window import Window

_LOG = logging.getLogger("fingerpost.lanes")

_SPAN_S: Final = 30
_LEAST_FAILURES: Final = 5.0
_LEAST_SHARE: Final = 0.5
_FIRST_REST_S: Final = 10.0
_LONGEST_REST_S: Final = 120.0
_LONGEST_TOLD_S: Final = 900.0

Key: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to ask an endpoint once; handed back with how it went.

    Attributes:
        place: Whom to ask.
        probes: Circuits that wait for the outcome.
    """

    place: Place
    probes: frozenset[Key] = frozenset()


@dataclass(slots=True)
class _Circuit:
    error: LaneError | None = None  # what it is open for; None while it is closed
    until: float = 0.0
    n_opened: int = 0  # since the last success
    probing: bool = False
    window: Window = field(default_factory=lambda: Window(_SPAN_S))  # calls, failures

    def rest(self, now: float) -> Rest | None:
        if self.error is None or (now >= self.until and not self.probing):
            return None
        return Rest(self.error, max(0.0, self.until - now))

    def open(self, error: LaneError, until: float) -> None:
        # A copy has no traceback and no cause, which would keep the request alive.
        self.error = copy.copy(error)
        self.until = max(self.until, until)
        self.probing = False

    def open_longer(self, error: LaneError, now: float, first_s: float, longest_s: float) -> None:
        self.open(error, now + min(longest_s, first_s * 2.0**self.n_opened))
        self.n_opened = min(self.n_opened + 1, 16)

    def close(self) -> None:
        self.error = None
        self.until = 0.0
        self.n_opened = 0
        self.probing = False
        self.window.clear()


class Health:
    """Keeps how the calls of each provider went. Thread-safe; share one between lanes.

    A circuit opens at 5 failures that are half of the calls of the last 30 s, for 10 s, which
    double up to 120. After that one call may probe it; the others go elsewhere until it has
    ended.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._circuits: dict[Key, _Circuit] = {}

    def rests(self, places: Sequence[Place], now: float) -> tuple[Rest | None, ...]:
        """Return beside each place why it may not be asked, ``None`` when it may."""
        with self._lock:
            return tuple(self._rest(place, now) for place in places)

    def begin(self, place: Place, now: float) -> Permit | None:
        """Return leave to ask a place now, ``None`` when it rests or is being probed."""
        with self._lock:
            if self._rest(place, now) is not None:
                return None
            probes = {key for key in _keys(place) if self._is_open(key)}
            for key in probes:
                self._circuits[key].probing = True
            return Permit(place, frozenset(probes))

    def succeeded(self, permit: Permit, now: float) -> None:
        """Take note of a call that the provider answered."""
        with self._lock:
            for key in permit.probes:
                self._circuits[key].close()
            self._circuit(permit.place.owner).window.add(now, 1, 0)

    def alive(self, permit: Permit) -> Permit:
        """Take note that a call has begun to be answered; return its permit from then on.

        A stream may take long, and nobody should be kept waiting for the end of a probe.
        """
        with self._lock:
            for key in permit.probes:
                self._circuits[key].close()
        return Permit(permit.place)

    def failed(self, permit: Permit, error: LaneError, now: float, *, alone: bool) -> None:
        """Take note of a call that failed.

        Args:
            permit: Of the call.
            error: What it ended in.
            now: When.
            alone: No other provider of the lane may be asked.
        """
        rule = rule_for(error)
        if rule.effect in {Effect.ANSWERED, Effect.REST_MODEL}:
            self.succeeded(permit, now)
        with self._lock:
            self._release(permit)
            if rule.effect is Effect.REST_MODEL:
                self._circuit(_keys(permit.place)[1]).open(error, now + rule.rest_s)
            elif rule.effect not in {Effect.ANSWERED, Effect.NONE}:
                self._fail(permit, error, rule, now, alone=alone)

    def dropped(self, permit: Permit) -> None:
        """Take note of a call that its caller gave up."""
        with self._lock:
            self._release(permit)

    def _fail(
        self, permit: Permit, error: LaneError, rule: Rule, now: float, *, alone: bool
    ) -> None:
        key = permit.place.owner
        circuit = self._circuit(key)
        if rule.weight:
            circuit.window.add(now, 1, rule.weight)
        told_s = getattr(error, "retry_after_s", None)
        if rule.effect is Effect.REST:
            _LOG.warning("%s rests %g s: %s", key[0], rule.rest_s, type(error).__name__)
            circuit.open(error, now + rule.rest_s)
        elif told_s is not None and not alone:
            circuit.open(error, now + min(told_s, _LONGEST_TOLD_S))
        elif rule.effect is Effect.PACE and not alone:
            if circuit.rest(now) is None:
                circuit.open_longer(error, now, rule.rest_s, rule.longest_rest_s)
        elif rule.weight and self._is_failing(key, permit, now):
            circuit.open_longer(error, now, _FIRST_REST_S, _LONGEST_REST_S)
        elif key in permit.probes and not rule.weight:
            circuit.close()

    def _is_failing(self, key: Key, permit: Permit, now: float) -> bool:
        circuit = self._circuits[key]
        if circuit.error is not None:  # only a probe speaks for a circuit that is open
            return key in permit.probes
        calls, failures = circuit.window.sums(now)
        return failures >= _LEAST_FAILURES and failures >= _LEAST_SHARE * calls

    def _release(self, permit: Permit) -> None:
        for key in permit.probes:
            self._circuits[key].probing = False

    def _rest(self, place: Place, now: float) -> Rest | None:
        rests = (self._circuits[key].rest(now) for key in _keys(place) if key in self._circuits)
        return next((rest for rest in rests if rest is not None), None)

    def _is_open(self, key: Key) -> bool:
        return key in self._circuits and self._circuits[key].error is not None

    def _circuit(self, key: Key) -> _Circuit:
        return self._circuits.setdefault(key, _Circuit())


def _keys(place: Place) -> tuple[Key, Key]:
    return place.owner, (*place.owner, place.model)
