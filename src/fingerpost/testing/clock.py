"""A clock that moves only when it is told to."""

from __future__ import annotations

import anyio.lowlevel

__all__ = ["FakeClock"]


class FakeClock:
    """Called, it tells the seconds; its `sleep` moves it on at once.

    Attributes:
        now: Seconds.
        waits: Each wait so far, in order.
    """

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.waits: list[float] = []

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Move on by ``seconds`` and let other tasks run."""
        self.waits.append(seconds)
        self.now += seconds
        await anyio.lowlevel.checkpoint()
