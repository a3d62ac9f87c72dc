"""How often a process may try again."""

from __future__ import annotations

from threading import Lock
from typing import Final

from fingerpost.lanes.window import Window

_SPAN_S: Final = 10


class RetryBudget:
    """Allows retries up to a share of the requests of the last 10 s, and a few besides.

    Without it a provider that is down would be asked twice as often as one that is well.
    Thread-safe; give one to all lanes of a process.

    Args:
        share: Retries per request, 0 to 1.
        floor: Retries that are allowed however few requests there were.
    """

    def __init__(self, share: float = 0.2, floor: int = 3) -> None:
        self._share = share
        self._floor = floor
        self._lock = Lock()
        self._window = Window(_SPAN_S)  # requests, retries

    def asked(self, now: float) -> None:
        """Count a request."""
        with self._lock:
            self._window.add(now, 1, 0)

    def left(self, now: float) -> bool:
        """Return whether one more retry is allowed."""
        with self._lock:
            return self._is_left(now)

    def take(self, now: float) -> bool:
        """Count a retry and return true, or return false when none is allowed."""
        with self._lock:
            if not self._is_left(now):
                return False
            self._window.add(now, 0, 1)
            return True

    def _is_left(self, now: float) -> bool:
        requests, retries = self._window.sums(now)
        return retries + 1 <= self._floor + self._share * requests
