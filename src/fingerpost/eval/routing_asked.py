"""Routing cases by a source router, several at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio

from fingerpost.errors import AuthenticationError, ConfigError, LaneError, ModelNotFoundError
from fingerpost.eval.cases import RoutingCase
from fingerpost.eval.measurement import Failure
from fingerpost.eval.routing import FAILED, NOBODY, Routed
from fingerpost.eval.run import Progress
from fingerpost.types.routing import SourceAssessment, SourceRouter, SourceRouting

_LOG = logging.getLogger("fingerpost.eval")
_HOPELESS = (ConfigError, AuthenticationError, ModelNotFoundError)
"""What the next question would meet as well: it ends the run."""

Close = Callable[[], Awaitable[None]]


def route_all(
    router: SourceRouter, close: Close, at_once: int
) -> Callable[[str, Sequence[RoutingCase], Progress], tuple[list[Routed], list[Failure]]]:
    """Return what routes cases by a source router, on an event loop of its own.

    Args:
        router: Its fallback strategy should be ``FAIL``, so that a failure counts as one.
        close: Closes the connections of its models.
        at_once: Most questions under way at the same time.
    """

    def run(
        label: str, cases: Sequence[RoutingCase], progress: Progress
    ) -> tuple[list[Routed], list[Failure]]:
        told = partial(progress, label)
        routings, failures = anyio.run(ask_all, router, close, cases, at_once, told)
        return [FAILED if one is None else _routed(*one) for one in routings], failures

    return run


async def ask_all(
    router: SourceRouter,
    close: Close,
    cases: Sequence[RoutingCase],
    at_once: int,
    progress: Callable[[int, int], None],
) -> tuple[list[tuple[SourceRouting, float] | None], list[Failure]]:
    """Return the routing of each case with its wall milliseconds, ``None`` where it failed.

    Raises:
        ConfigError: What the router was built with cannot work, so no further case is asked.
        LaneError: Likewise: a key is refused, or there is no such model.
    """
    found: list[tuple[SourceRouting, float] | None] = [None] * len(cases)
    failed: dict[int, Failure] = {}
    hopeless: list[ConfigError | LaneError] = []
    left = iter(enumerate(cases))
    n_done = 0

    async def work(group: anyio.abc.TaskGroup) -> None:
        nonlocal n_done
        for place, case in left:
            try:
                began = time.perf_counter()
                routing = await router.route(case.text)
                found[place] = routing, (time.perf_counter() - began) * 1000
            except _HOPELESS as error:
                hopeless.append(error)
                group.cancel_scope.cancel()
                return
            except Exception as error:
                _LOG.debug("case %s failed", case.id, exc_info=True)
                failed[place] = Failure(case.id, f"{type(error).__name__}: {error}")
            n_done += 1
            progress(n_done, len(cases))

    try:
        async with anyio.create_task_group() as group:
            for _ in range(min(at_once, len(cases))):
                group.start_soon(work, group)
    finally:
        with anyio.CancelScope(shield=True):
            await close()
    if hopeless:
        raise hopeless[0]
    return found, [failed[place] for place in sorted(failed)]


def _routed(routing: SourceRouting, took_ms: float) -> Routed:
    scores = {
        item.name: value for item in routing.assessments if (value := item.probability) is not None
    }

    def rank(item: SourceAssessment) -> float:
        return scores.get(item.name, float(item.chosen))

    used = tuple(
        item.name for item in sorted(routing.assessments, key=rank, reverse=True) if item.chosen
    )
    best = max(routing.assessments, key=rank).name
    return Routed(
        chosen=used[0] if used else NOBODY,
        confidence=routing.confidence,
        best=best,
        scores=scores,
        used=used,
        took_ms=took_ms,
        model=routing.model,
    )
