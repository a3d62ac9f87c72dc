"""Live re-indexing: call back when documents change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from fingerpost.corpus.formats import is_read
from fingerpost.corpus.locate import CorpusRoot, is_ignored_folder
from fingerpost.corpus.site import SITE_FILES
from fingerpost.errors import MissingExtraError

_DEBOUNCE_MS = 800
_STOP_CHECK_MS = 500


def watch(
    roots: Sequence[CorpusRoot], on_change: Callable[[], None], stop: threading.Event
) -> None:
    """Call ``on_change`` when the watch has begun, then after documents changed.

    The first call is for what changed between the caller's last reading and the watch. Changes
    are gathered. Returns once ``stop`` is set.

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
    changes = watchfiles.watch(
        *folders,
        watch_filter=None,
        stop_event=stop,
        debounce=_DEBOUNCE_MS,
        rust_timeout=_STOP_CHECK_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    has_begun = False
    for changed in changes:
        if not has_begun or any(is_watched(Path(path), folders) for _, path in changed):
            has_begun = True
            on_change()


def is_watched(path: Path, folders: Sequence[Path]) -> bool:
    """Tell whether a change at this path may change the corpus.

    A path without a suffix may be a folder that was renamed or removed.
    """
    for folder in folders:
        if path.is_relative_to(folder):
            parts = path.relative_to(folder).parts
            if not any(is_ignored_folder(part) for part in parts):
                return is_read(path.name) or path.name in SITE_FILES or not path.suffix
    return False
