"""Counts of the last seconds."""

from __future__ import annotations

from collections import deque


class Window:
    """Two running counts over the last ``span_s`` seconds, kept by the second."""

    def __init__(self, span_s: int) -> None:
        self._span_s = span_s
        self._seconds: deque[tuple[int, float, float]] = deque()

    def add(self, now: float, first: float, second: float) -> None:
        """Add to both counts."""
        at = int(now)
        if self._seconds and self._seconds[-1][0] >= at:
            at, had_first, had_second = self._seconds.pop()
            first, second = had_first + first, had_second + second
        self._seconds.append((at, first, second))
        self._forget(now)

    def sums(self, now: float) -> tuple[float, float]:
        """Return both counts."""
        self._forget(now)
        return (
            sum(first for _, first, _ in self._seconds),
            sum(second for _, _, second in self._seconds),
        )

    def clear(self) -> None:
        """Begin anew."""
        self._seconds.clear()

    def _forget(self, now: float) -> None:
        while self._seconds and self._seconds[0][0] <= now - self._span_s:
            self._seconds.popleft()
