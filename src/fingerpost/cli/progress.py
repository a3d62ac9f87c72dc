"""Progress of indexing, drawn on a terminal and silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from fingerpost.observe.events import Event, GithubIndexStart, IngestProgress

_TITLES = {
    "scan": "looking for documents",
    "parse": "reading",
    "store": "storing",
    "embed": "computing vectors",
}


class IngestBar:
    """An observer that draws `IngestProgress` on stderr until its ``with`` block ends.

    Attributes:
        n_embedded: Vectors that were computed, drawn or not.
    """

    def __init__(self, *, enabled: bool | None = None) -> None:
        self._enabled = sys.stderr.isatty() if enabled is None else enabled
        self.n_embedded = 0
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._enabled = False
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, GithubIndexStart) and self._enabled:
            self._draw(f"fetching {event.repo}", 0, None)
        if not isinstance(event, IngestProgress):
            return
        if event.phase == "embed":
            self.n_embedded = event.done
        if not self._enabled or event.phase not in _TITLES:
            return
        self._draw(_TITLES[event.phase], event.done, event.total or None)

    def _draw(self, title: str, done: int, total: int | None) -> None:
        if self._bar is None:
            self._bar = _new_bar()
        if title not in self._tasks:
            self._tasks[title] = self._bar.add_task(title, total=total)
        self._bar.update(self._tasks[title], completed=done, total=total)


def _new_bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar


@contextmanager
def case_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Give what draws one bar for each job of an evaluation; it is silent off a terminal."""
    if not sys.stderr.isatty():
        yield lambda _label, _done, _total: None
        return
    bar = _new_bar()
    tasks: dict[str, Any] = {}

    def show(label: str, done: int, total: int) -> None:
        if label not in tasks:
            tasks[label] = bar.add_task(label, total=total)
        bar.update(tasks[label], completed=done, total=total)

    try:
        yield show
    finally:
        bar.stop()
