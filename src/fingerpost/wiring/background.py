"""Threads that work while questions are answered."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Starts threads by name, one of each at a time, and ends with all of them.

    Attributes:
        stopped: Set when the work must end.
    """

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, target: Callable[[], None], name: str) -> None:
        """Run ``target`` in a thread, unless one of that name is at work or all must end."""
        if self.stopped.is_set() or self.is_running(name):
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def is_running(self, name: str) -> bool:
        """Return whether a thread of that name is at work."""
        return any(thread.name == name and thread.is_alive() for thread in self._threads)

    def wait_for(self, name: str) -> None:
        """Wait until no thread of that name is at work."""
        for thread in self._threads:
            if thread.name == name:
                thread.join()

    def stop(self) -> None:
        """End all threads and wait for them; one may have started another meanwhile."""
        self.stopped.set()
        while running := [thread for thread in self._threads if thread.is_alive()]:
            for thread in running:
                thread.join()
        self._threads.clear()
