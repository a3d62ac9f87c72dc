"""Model calls side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import anyio

from fingerpost.errors import FingerpostError

T = TypeVar("T")


async def together(calls: Iterable[Callable[[], Awaitable[T]]], at_once: int) -> list[T]:
    """Return what the calls give, in their order; the first failure cancels the others.

    Args:
        calls: Functions that begin a call.
        at_once: Most calls under way at the same time, at least 1.

    Raises:
        FingerpostError: What the call that failed first raised, alone.
    """
    given: dict[int, T] = {}
    failed: list[FingerpostError] = []
    room = anyio.CapacityLimiter(at_once)

    async def make(place: int, call: Callable[[], Awaitable[T]]) -> None:
        async with room:
            try:
                given[place] = await call()
            except FingerpostError as error:
                failed.append(error)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for place, call in enumerate(calls):
            group.start_soon(make, place, call)
    if failed:
        raise failed[0]
    return [given[place] for place in sorted(given)]
