"""Questions that the documents did not answer, kept as lines of a local file.

Nothing of a document is kept, only where the nearest pages stand. The file is the user's alone
(mode 0600). Each line is appended by one write, so many processes may keep one file; past its
size the file becomes ``FILE.1``, in place of an older one, and a new file begins.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from fingerpost.observe.events import Event, RouteComplete
from fingerpost.types.answer import SourceCitation, Verdict
from fingerpost.types.result import QueryResult

__all__ = ["MAX_BYTES", "REASONS", "Gap", "GapLog", "NearPage", "content_hash", "gaps_of"]

MAX_BYTES: Final = 8 * 1024 * 1024
"""Size past which a file is put aside; with the older one at most twice that is kept."""
REASONS: Final = {
    "no_document_indexed": "no document was indexed",
    "no_document_matches": "nothing was found",
    "filter_excludes_all": "the filter excluded everything",
    "evidence_too_weak": "what was found is too weak",
    "not_grounded": "the answer could not be grounded",
    "no_source_fits": "no source fits",
    "no_source_chosen": "no source was chosen",
    "uncovered": "a part of a question was not covered",
    "doubtful": "what was found may not answer it",
    "contradicted": "a claim of the answer was contradicted",
    "unsupported": "a claim of the answer was not supported",
}
"""Reason of a gap → what it says to people."""
_MAX_QUESTION = 2_000
_MAX_NEAR = 3
_MAX_HASHED = 16 * 1024 * 1024
_OPEN = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OURS: Final = stat.S_IRUSR | stat.S_IWUSR
_LOG = logging.getLogger("fingerpost.observe")


@dataclass(frozen=True, slots=True)
class NearPage:
    """A page that was near a question and did not answer it.

    Attributes:
        source: Name of its source.
        path: In its source.
        line: Of the nearest passage, from 1.
        uri: Where it can be opened.
        url: Its published address, empty when none is configured.
        sha256: Of the file when the question was asked; empty when it is no local file.
    """

    source: str
    path: str
    line: int
    uri: str
    url: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A question, or the part of one, that was not answered.

    Attributes:
        at: When, seconds since the epoch.
        question: Stands alone: of a follow-up what it was rewritten to.
        reason: One of `REASONS`.
        near: The nearest pages, nearest first.
        index: Fingerprint of the index that was asked, and its generation.
        whole: The question that ``question`` is a part of, empty when it is the whole one.
    """

    at: float
    question: str
    reason: str
    near: tuple[NearPage, ...] = ()
    index: str = ""
    whole: str = ""


def gaps_of(result: QueryResult, at: float, clean: Callable[[str], str] = str) -> Iterator[Gap]:
    """Yield what of a question was not answered, nothing when all of it was.

    An abstention is one gap. Otherwise each part that was not covered is one, an answer that is
    doubtful is one, and an answer with a contradicted or unsupported claim is one.

    Args:
        result: Of the question.
        at: When, seconds since the epoch.
        clean: Takes what must not be kept out of a text.
    """
    asked = result.rewritten_query or (result.query.text if result.query else "")
    whole = clean(asked)[:_MAX_QUESTION]
    if not whole.strip():
        return
    state = result.fingerprints
    index = ":".join(filter(None, (state.get("index"), state.get("generation"))))
    near = tuple(_near(result.sources))
    if result.abstention is not None:
        yield Gap(at, whole, result.abstention.value, near, index)
        return
    for part in result.uncovered:
        own = clean(part)[:_MAX_QUESTION]
        yield Gap(at, own, "uncovered", near, index, "" if own == whole else whole)
    if result.doubtful:
        yield Gap(at, whole, "doubtful", near, index)
    grounding = result.grounding
    if grounding is None:
        return
    if grounding.contradicted_count:
        yield Gap(at, whole, "contradicted", near, index)
    elif grounding.count(Verdict.UNVERIFIABLE):
        yield Gap(at, whole, "unsupported", near, index)


def _near(sources: tuple[SourceCitation, ...]) -> Iterator[NearPage]:
    pages = {source.document_id or source.uri: source for source in reversed(sources)}
    for source in list(reversed(pages.values()))[:_MAX_NEAR]:
        yield NearPage(
            source.source,
            source.path,
            source.line_start,
            source.uri,
            source.url or "",
            content_hash(source.uri),
        )


def content_hash(uri: str) -> str:
    """Return the SHA-256 of a local file as it is now, empty when there is none to read."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return ""
    try:
        descriptor = os.open(unquote(parts.path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_HASHED:
                return ""
            return file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


class GapLog:
    """An observer that appends the gaps of each question that is done to a file.

    It never raises for the file's sake: what cannot be written is logged once and dropped.
    Thread-safe.

    Args:
        path: The file; folders above it are made.
        clean: Takes keys out of a question.
        max_bytes: Size past which the file is put aside.
    """

    def __init__(
        self, path: Path, *, clean: Callable[[str], str] = str, max_bytes: int = MAX_BYTES
    ) -> None:
        self._path = path.expanduser().absolute()
        self._clean = clean
        self._max_bytes = max_bytes
        self._told = False
        self._torn = False
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if not isinstance(event, RouteComplete):
            return
        lines = [
            json.dumps(asdict(gap), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
            for gap in gaps_of(event.result, event.at, self._clean)
        ]
        if not lines:
            return
        try:
            with self._lock:
                self._append(b"".join(lines))
        except OSError as error:
            if not self._told:
                self._told = True
                _LOG.warning(
                    "gap_log: cannot write %s: %s; its questions are not kept",
                    self._path,
                    error.strerror or type(error).__name__,
                )

    def _append(self, lines: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = self._opened()
        try:
            status = os.fstat(descriptor)
            _refuse_foreign(status)
            # After a write that a full disk cut short, the next line must not join its rest.
            whole = b"\n" + lines if self._torn else lines
            self._torn = True
            self._torn = os.write(descriptor, whole) != len(whole)
            if self._torn:
                raise OSError(0, "the disk is full")
            if status.st_size + len(whole) > self._max_bytes:
                self._put_aside(descriptor)
        finally:
            os.close(descriptor)

    def _opened(self) -> int:
        """Return the file, made when it is not there; a link is not followed."""
        try:
            descriptor = os.open(self._path, _OPEN | os.O_CREAT | os.O_EXCL, _OURS)
        except FileExistsError:
            if self._path.is_symlink():
                raise OSError(0, "it is a symbolic link") from None
            return os.open(self._path, _OPEN | os.O_CREAT, _OURS)
        os.fchmod(descriptor, _OURS)  # whatever the umask took away
        return descriptor

    def _put_aside(self, descriptor: int) -> None:
        """Rename the file, unless another process is doing or has done so."""
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours, there = os.fstat(descriptor), os.lstat(self._path)
            if (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino):
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))


def _refuse_foreign(status: os.stat_result) -> None:
    """Raise unless a file is a regular one, of this user, that no one else may read or write."""
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is no regular file")
    if status.st_uid != os.geteuid():
        raise OSError(0, "it belongs to another user")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise OSError(0, "others may read or write it; chmod 600 lets its questions be kept")
