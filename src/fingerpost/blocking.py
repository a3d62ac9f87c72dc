"""Blocking calls of async methods, on one private event loop thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Awaitable, Callable
from queue import Queue
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
    """Runs async functions from threads without an event loop; made at the first call.

    A program that ends without `close` is not held up: the loop's thread is a daemon, and a
    second one waits for the main thread and then stops the loop, which lets its workers go.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._portal: anyio.from_thread.BlockingPortal | None = None
        self._thread: threading.Thread | None = None

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
        return self._started().call(function)

    def close(self) -> None:
        """End the thread. Safe to call twice."""
        with self._lock:
            portal, self._portal = self._portal, None
            thread, self._thread = self._thread, None
        if portal is None or thread is None:
            return
        # The loop may have ended on its own already.
        with contextlib.suppress(RuntimeError):
            portal.call(portal.stop)
        thread.join()

    def _started(self) -> anyio.from_thread.BlockingPortal:
        with self._lock:
            if self._portal is None:
                ready: Queue[anyio.from_thread.BlockingPortal] = Queue()
                self._thread = threading.Thread(
                    target=anyio.run, args=(_serve, ready), name="fingerpost-loop", daemon=True
                )
                self._thread.start()
                self._portal = ready.get()
                threading.Thread(
                    target=self._close_after_main, name="fingerpost-exit", daemon=True
                ).start()
            return self._portal

    def _close_after_main(self) -> None:
        threading.main_thread().join()
        self.close()


async def _serve(ready: Queue[anyio.from_thread.BlockingPortal]) -> None:
    async with anyio.from_thread.BlockingPortal() as portal:
        ready.put(portal)
        await portal.sleep_until_stopped()
