"""Blocking calls of async methods, on one private event loop thread."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import TypeVar

import anyio
import anyio.from_thread

from fingerpost.errors import UsageError

T = TypeVar("T")


def inside_event_loop() -> bool:
    """Return whether the calling thread runs an event loop."""
    try:
        anyio.get_current_task()
    except (anyio.NoEventLoopError, RuntimeError):
        return False
    return True


class Portal:
    """Runs async functions from threads without an event loop; made at the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: AbstractContextManager[anyio.from_thread.BlockingPortal] | None = None
        self._portal: anyio.from_thread.BlockingPortal | None = None

    def call(self, function: Callable[[], Awaitable[T]]) -> T:
        """Run ``function()`` to its end and return what it returns.

        Raises:
            UsageError: Called inside a running event loop, which it would stop.
        """
        if inside_event_loop():
            raise UsageError(
                "a blocking call inside a running event loop would stop it",
                hint="Await the method without _sync instead.",
            )
        with self._lock:
            if self._portal is None:
                self._context = anyio.from_thread.start_blocking_portal()
                self._portal = self._context.__enter__()
        return self._portal.call(function)

    def close(self) -> None:
        """End the thread. Safe to call twice."""
        with self._lock:
            context, self._context, self._portal = self._context, None, None
        if context is not None:
            context.__exit__(None, None, None)
