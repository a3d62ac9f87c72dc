"""Results by question: bounded, aged, and one run for equal questions asked at once."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import anyio
from anyio.lowlevel import RunVar

from fingerpost.errors import DeadlineExceededError
from fingerpost.types.query import Query
from fingerpost.types.result import QueryResult


@dataclass(slots=True)
class _Entry:
    result: QueryResult
    expires_at: float


class _Flight:
    """One run that others wait for."""

    __slots__ = ("deadline_s", "done", "error", "result")

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.done = anyio.Event()
        self.result: QueryResult | None = None
        self.error: BaseException | None = None


def result_key(query: Query, parts: Sequence[str]) -> str:
    """Return the cache key of a question: SHA-256 over all that shapes its result.

    JSON lists keep neighbouring parts apart, so ``["a", "bc"]`` and ``["ab", "c"]`` differ. The
    question and the whole conversation are in it, and these decide how a follow-up is
    rewritten.

    Args:
        query: The request; its id and deadline are not part of the key.
        parts: Fingerprints of configuration and index, and whatever else shapes the result.
    """
    filters = query.filters
    material = [
        "v4",
        list(parts),
        query.text,
        [[turn.role, turn.text] for turn in query.history],
        [
            list(filters.paths),
            list(filters.tags),
            list(filters.sources),
            list(filters.languages),
            [list(pair) for pair in filters.metadata],
        ],
        query.tier,
        query.max_tier,
        query.top_k,
        query.explain,
        query.require_grounded,
        query.budget_usd,
        sorted(query.excluded_capability_ids),
    ]
    raw = json.dumps(material, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(raw.encode("ascii")).hexdigest()


_LASTING = frozenset(
    {
        "cross-language-vectors",
        "cross-language-words",
        "hyde-to-vector",
        "keyword-fallback",
        "lane-failover",
        "platform-knowledge",
        "policy-escalation",
        "tier-escalation",
        "vector-empty",
    }
)
"""Fallbacks of which nothing is better at the next question."""


def _failed(result: QueryResult) -> bool:
    """Return whether something failed on the way that may be back at the next question."""
    fallbacks = set(result.fallbacks_used)
    without_vectors = "keyword-fallback" in fallbacks and result.vector_coverage > 0
    unchecked = result.grounding_status == "unavailable"
    return without_vectors or unchecked or not fallbacks <= _LASTING


def _is_hurried(flight: _Flight, deadline_s: float) -> bool:
    """Return whether the first asker's deadline may have shaped the result for one with more time.

    A stage that ran out of its share of the time says only that it failed.
    """
    result = flight.result
    if result is None:
        return False
    out_of_time = "deadline-reached" in result.fallbacks_used
    return out_of_time or (flight.deadline_s < deadline_s and _failed(result))


class ResultCache:
    """Keeps results for a while and lets equal questions share one run.

    A result on whose way something failed is shared but not kept. Bounded by entries and
    age; the least recently used leaves first. May be used from several event loops and threads;
    runs are shared within one loop.
    """

    def __init__(self, *, max_entries: int, max_age_s: float, clock: Callable[[], float]) -> None:
        self._max_entries = max_entries
        self._max_age_s = max_age_s
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        # Runs under way are shared within one event loop: their events belong to it.
        self._flights: RunVar[dict[str, _Flight]] = RunVar(f"fingerpost-flights-{id(self)}")
        self._epoch = 0

    def clear(self) -> None:
        """Forget all results; runs under way are not kept when they end."""
        with self._lock:
            self._entries.clear()
            self._epoch += 1

    def __len__(self) -> int:
        return len(self._entries)

    async def get_or_run(
        self,
        key: str,
        run: Callable[[], Awaitable[QueryResult]],
        deadline_s: float | None = None,
    ) -> QueryResult:
        """Return the kept result with ``cached=True``, or run once for all who ask now.

        When the run under way is cancelled or fails, each who waited runs for itself.

        Args:
            key: Of `result_key`.
            run: Answers the question; keeps its own deadline.
            deadline_s: Seconds to wait for another's run, ``None`` for no limit.

        Raises:
            DeadlineExceededError: It passed while another's run was waited for.
        """
        limit_s = math.inf if deadline_s is None else deadline_s
        until = self._clock() + limit_s
        while True:
            kept = self._lookup(key)
            if kept is not None:
                return replace(kept, cached=True)
            flight = self._under_way().get(key)
            if flight is None:
                return await self._fly(key, run, limit_s)
            with anyio.move_on_after(None if until == math.inf else until - self._clock()):
                await flight.done.wait()
            if deadline_s is not None and not flight.done.is_set():
                raise DeadlineExceededError(
                    f"the deadline of {deadline_s:g} s passed while the same question was answered",
                    elapsed_s=deadline_s,
                    deadline_s=deadline_s,
                )
            if flight.result is not None and not _is_hurried(flight, limit_s):
                return replace(flight.result, cached=True)
            if flight.result is not None or isinstance(flight.error, Exception):
                return await run()

    async def _fly(
        self, key: str, run: Callable[[], Awaitable[QueryResult]], limit_s: float
    ) -> QueryResult:
        under_way = self._under_way()
        flight = under_way[key] = _Flight(limit_s)
        epoch = self._epoch
        try:
            flight.result = await run()
        except BaseException as error:
            flight.error = error
            raise
        else:
            self._keep(key, flight.result, epoch)
            return flight.result
        finally:
            del under_way[key]
            flight.done.set()

    def _under_way(self) -> dict[str, _Flight]:
        try:
            return self._flights.get()
        except LookupError:
            flights: dict[str, _Flight] = {}
            self._flights.set(flights)
            return flights

    def _lookup(self, key: str) -> QueryResult | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if entry.expires_at <= self._clock():
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry.result

    def _keep(self, key: str, result: QueryResult, epoch: int) -> None:
        if _failed(result):
            return
        with self._lock:
            if epoch != self._epoch:
                return
            self._entries[key] = _Entry(result, self._clock() + self._max_age_s)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
