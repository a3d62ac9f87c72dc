"""One event loop in a thread of its own, for blocking callers of async code."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol, TypeVar
from weakref import WeakSet

__all__ = ["Closable", "release", "run_blocking"]

T = TypeVar("T")
_STOP_S: Final = 2.0


class Closable(Protocol):
    """Something that holds connections of the loop."""

    async def close(self) -> None:
        """Close them."""
        ...


class _Background:
    """Started at the first call; ends with the process, all connections closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._users: WeakSet[Closable] = WeakSet()

    def run(self, user: Closable, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                target = self._loop.run_forever
                threading.Thread(target=target, name="fingerpost-embed", daemon=True).start()
                atexit.register(self._stop, self._loop)
            self._users.add(user)
        future = asyncio.run_coroutine_threadsafe(function(), self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def release(self, user: Closable) -> None:
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(lambda: loop.create_task(user.close()))

    def _stop(self, loop: asyncio.AbstractEventLoop) -> None:
        async def close_all() -> None:
            for user in list(self._users):
                await user.close()
            loop.call_soon(loop.stop)

        asyncio.run_coroutine_threadsafe(close_all(), loop).result(_STOP_S)


_BACKGROUND: Final = _Background()


def run_blocking(user: Closable, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run ``function()`` on the background loop and return what it returns. Thread-safe.

    Args:
        user: Whose connections it uses; closed on the same loop when the process ends.
        function: Makes the coroutine; when the caller is interrupted it is cancelled.
    """
    return _BACKGROUND.run(user, function)


def release(user: Closable) -> None:
    """Let the connections of ``user`` be closed, without waiting for it. Thread-safe."""
    _BACKGROUND.release(user)
