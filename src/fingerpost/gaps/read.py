"""The lines of a gap log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fingerpost.errors import CorpusError
from fingerpost.observe.gap_log import REASONS, Gap, NearPage

_START: Final = '{"at": '
_MAX_LINE: Final = 64 * 1024


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
        with file.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.strip():
                    yield _gap(line)
    except OSError as error:
        raise CorpusError(
            f"cannot read the gap log {file}: {error.strerror}",
            hint="It belongs to the user who asks the questions; read it as that user.",
        ) from error


def _gap(line: str) -> Gap | None:
    """Return the gap of a line, ``None`` when it is none; one may follow the rest of another."""
    if len(line) > _MAX_LINE:
        return None
    try:
        value = json.loads(line[max(line.rfind(_START), 0) :])
        return _from_wire(value)
    except (ValueError, TypeError, KeyError, RecursionError):
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
    at, index, whole = float(value["at"]), str(value.get("index", "")), str(value.get("whole", ""))
    return Gap(at, question, reason, near, index, whole)
