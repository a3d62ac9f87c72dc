"""The lines of a gap log."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from fingerpost.errors import CorpusError
from fingerpost.observe.gap_log import REASONS, Gap, NearPage

_START: Final = '{"at": '
_MAX_LINE: Final = 64 * 1024
# A time of the year 9999 can still be shown as a date in every time zone.
_MAX_AT: Final = 253_000_000_000.0


@dataclass(frozen=True, slots=True)
class KeptGaps:
    """What a gap log holds.

    Attributes:
        gaps: In the order of the files, oldest first.
        n_unreadable: Lines that are no gap, cut by a full disk or written by something else.
    """

    gaps: tuple[Gap, ...]
    n_unreadable: int


def read_gaps(path: Path, *, since: float = 0.0) -> KeptGaps:
    """Return the gaps of a log and of the older file that was put aside, if there is one.

    Args:
        path: The log.
        since: Seconds since the epoch; older ones are left out.

    Raises:
        CorpusError: There is no such file, or it cannot be read.
    """
    older = path.with_name(f"{path.name}.1")
    found: list[Gap] = []
    n_unreadable = 0
    files = [file for file in (older, path) if file.exists()]
    if not files:
        raise CorpusError(
            f"there is no gap log {path}",
            hint="Set gap_log to a file; it is written when a question gets no answer.",
        )
    for file in files:
        for gap in _read(file):
            if gap is None:
                n_unreadable += 1
            elif gap.at >= since:
                found.append(gap)
    return KeptGaps(tuple(found), n_unreadable)


def _read(file: Path) -> Iterator[Gap | None]:
    try:
        with _opened(file) as lines:
            for line in _lines(lines):
                if line is None or line.strip():
                    yield None if line is None else _gap(line.decode("utf-8", "replace"))
    except OSError as error:
        raise CorpusError(
            f"cannot read the gap log {file}: {error.strerror}",
            hint="It belongs to the user who asks the questions; read it as that user.",
        ) from error


def _opened(file: Path) -> BinaryIO:
    """Return a regular file, open; a pipe must not keep its reader waiting."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is no regular file")
    return os.fdopen(descriptor, "rb")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines, ``None`` for one that is too long; no more than a piece of it is held."""
    while line := file.readline(_MAX_LINE + 1):
        too_long = len(line) > _MAX_LINE
        while len(line) > _MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(_MAX_LINE + 1)
        yield None if too_long else line


def _gap(line: str) -> Gap | None:
    """Return the gap of a line, ``None`` when it is none; one may follow the rest of another."""
    try:
        value = json.loads(line[max(line.rfind(_START), 0) :])
        return _from_wire(value)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _from_wire(value: dict[str, Any]) -> Gap:
    reason, question = value["reason"], value["question"]
    if reason not in REASONS or not isinstance(question, str) or not question.strip():
        raise ValueError("no gap")
    near = tuple(
        NearPage(
            source=str(one["source"]),
            path=str(one["path"]),
            line=int(one["line"]),
            uri=str(one["uri"]),
            url=str(one.get("url", "")),
            sha256=str(one.get("sha256", "")),
        )
        for one in value.get("near", ())
    )
    if not 0 <= float(value["at"]) <= _MAX_AT:  # NaN is not, either
        raise ValueError("no time")
    at, index, whole = float(value["at"]), str(value.get("index", "")), str(value.get("whole", ""))
    return Gap(at, question, reason, near, index, whole)
