"""Live re-indexing: call back when documents change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fingerpost.corpus.formats import format_of
from fingerpost.corpus.locate import CorpusRoot, is_ignored_folder
from fingerpost.errors import MissingExtraError

_DEBOUNCE_MS = 800
_STOP_CHECK_MS = 500


def watch(
    roots: Sequence[CorpusRoot], on_change: Callable[[], None], stop: threading.Event
) -> None:
    """Call ``on_change`` after documents changed, until ``stop`` is set; changes are gathered.

    Raises:
        MissingExtraError: `watchfiles` is not installed.
    """
    try:
        import watchfiles  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(
            "watching for changes needs the package 'watchfiles'",
            hint="In the repository: pip install '.[watch]'",
        ) from error
    folders = [root.folder for root in roots]

    def concerns(_change: Any, path: str) -> bool:
        return is_watched(Path(path), folders)

    for _ in watchfiles.watch(
        *folders,
        watch_filter=concerns,
        stop_event=stop,
        debounce=_DEBOUNCE_MS,
        rust_timeout=_STOP_CHECK_MS,
        raise_interrupt=False,
    ):
        on_change()


def is_watched(path: Path, folders: Sequence[Path]) -> bool:
    """Tell whether a change at this path may change the corpus.

    A path without a suffix may be a folder that was renamed or removed.
    """
    for folder in folders:
        if path.is_relative_to(folder):
            parts = path.relative_to(folder).parts
            if not any(is_ignored_folder(part) for part in parts):
                return bool(format_of(path.name)) or not path.suffix
    return False
