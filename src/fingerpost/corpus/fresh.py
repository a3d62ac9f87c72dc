"""Whether a document's file is still what was indexed of it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fingerpost.corpus.locate import CorpusRoot
from fingerpost.corpus.walk import FileRefusedError, read_below
from fingerpost.types.document import Document

MAX_BYTES: Final = 4 * 1024**2
"""A larger file is not read again: only its size is compared."""
_MOST_KNOWN: Final = 10_000
# A file that is written twice within one tick of its clock keeps its times.
_SETTLED_NS: Final = 2_000_000_000
_GONE = (FileNotFoundError, NotADirectoryError)
_ESCAPE = "\\x"  # stands in the path of a file whose name is no valid Unicode
_State = tuple[int, ...]


@dataclass(slots=True)
class Freshness:
    """Compares files with their documents. May be used from several threads.

    A file that was found equal is read again only when its inode, size or times have changed.

    Attributes:
        roots: Returns the folders that documents come from.
    """

    roots: Callable[[], Sequence[CorpusRoot]]
    _equal: dict[tuple[str, str], _State] = field(default_factory=dict)

    def is_stale(self, document: Document) -> bool | None:
        """Return whether the file differs from what was indexed of it, or is gone.

        No link is followed and nothing outside the roots is read; what is no regular file any
        more differs. ``None`` when it cannot be known: the document comes from no folder of the
        corpus, its file may not be read, or it is larger than `MAX_BYTES` and of equal size.
        """
        own = [root.folder for root in self.roots() if root.name == document.source]
        found = [self._differs(folder, document) for folder in own]
        if not found or False in found:
            return False if found else None
        return None if None in found else True

    def _differs(self, folder: Path, document: Document) -> bool | None:
        try:
            return self._compared(folder, document)
        except _GONE:
            return None if _ESCAPE in document.path else True
        except FileRefusedError:
            return True
        except (OSError, ValueError):  # no right to read it; a NUL in its name
            return None

    def _compared(self, folder: Path, document: Document) -> bool | None:
        status = os.lstat(f"{folder}/{document.path}")  # a Path takes three times as long
        if status.st_size != document.size_bytes:
            return True
        state = (
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )  # fmt: skip
        key = (document.id, document.content_hash)
        if self._equal.get(key) == state:
            return False
        if status.st_size > MAX_BYTES:
            return None
        now = time.time_ns()
        raw = read_below(folder, document.path, MAX_BYTES)
        if hashlib.sha256(raw).hexdigest() != document.content_hash:
            return True
        if max(status.st_mtime_ns, status.st_ctime_ns) < now - _SETTLED_NS:
            if len(self._equal) >= _MOST_KNOWN:
                self._equal.clear()
            self._equal[key] = state
        return False
