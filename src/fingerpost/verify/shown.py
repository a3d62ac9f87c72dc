"""What a reader sees of Markdown, with the place of each piece in the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fingerpost.types.document import Span

_KEPT_LENGTH = 65_536
_MARK = re.compile(
    r"!\[[^\[\]\n]{0,500}\]\([^()\n]{0,2000}\)"  # an image
    r"|\]\([^()\s]{0,2000}(?:\([^()\n]{0,500}\)[^()\s]{0,500})?[^()\n]{0,300}\)"  # a link's target
    r"|\[(?=[^\[\]\n]{1,500}\]\()"
    r"|\\(?=[!-/:-@\[-`{-~])"  # an escape
    r"|[\s*_`>|#\"'“”«»]+"
)
_INNER = "_'#>"  # inside a word they are part of it: snake_case, don't
_SPACE = re.compile(r"[\s|]")
_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*")
_CELL_ENDS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Shown:
    """Text without Markdown's marks, white space as single blanks.

    Attributes:
        text: What a reader sees.
        starts: Where each piece begins in ``text``, ascending.
        places: Where each piece begins in the source.
    """

    text: str
    starts: tuple[int, ...]
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Return the place in the source of ``text[start:end]``, which is not empty."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        return Span(
            self.places[first] + start - self.starts[first],
            self.places[last] + end - self.starts[last],
        )


def shown(source: str) -> Shown:
    """Return what a reader sees of a text; kept for the texts used last."""
    return _kept(source) if len(source) <= _KEPT_LENGTH else _shown(source)


def shown_rows(source: str) -> tuple[tuple[Shown, Span], ...]:
    """Return each table row as ``header: cell; header: cell``, with its place in the source.

    Empty cells, and names of columns without one, are left out.
    """
    return _kept_rows(source) if len(source) <= _KEPT_LENGTH else tuple(_rows(source))


def _shown(source: str) -> Shown:
    pieces: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    at = length = 0
    for match in _MARK.finditer(source):
        start = match.start()
        left = _left_of(source, match)
        blank = left == " " and start == at and pieces[-1:] == [" "]
        for piece, place in ((source[at:start], at), ("" if blank else left, start)):
            if piece:
                pieces.append(piece)
                starts.append(length)
                places.append(place)
                length += len(piece)
        at = match.end()
    if at < len(source) or not pieces:
        pieces.append(source[at:])
        starts.append(length)
        places.append(at)
    return Shown("".join(pieces), tuple(starts), tuple(places))


def _left_of(source: str, match: re.Match[str]) -> str:
    """Return what is seen of a mark: a blank, the signs inside a word, or nothing."""
    mark = match.group()
    if mark[0] in "![]\\":
        return ""
    if _SPACE.search(mark):
        return " "
    around = (
        source[max(0, match.start() - 1) : match.start()] + source[match.end() : match.end() + 1]
    )
    inside = len(around) == 2 and around.isalnum()  # noqa: PLR2004 - a letter on both sides
    return "".join(sign for sign in mark if sign in _INNER) if inside else ""


_kept = lru_cache(maxsize=256)(_shown)


@lru_cache(maxsize=256)
def _kept_rows(source: str) -> tuple[tuple[Shown, Span], ...]:
    return tuple(_rows(source))


def _rows(source: str) -> Iterator[tuple[Shown, Span]]:
    names: list[str] | None = None
    before = ""
    at = 0
    for line in source.splitlines(keepends=True):
        if "|" not in line:
            # A header that is repeated above a part of its table stands apart from it.
            names = names if not line.strip() and _RULE.fullmatch(before.rstrip()) else None
        elif _RULE.fullmatch(line.rstrip()):
            names = _cells(before)
        elif names is not None:
            pairs = zip((*names, *("" for _ in line)), _cells(line), strict=False)
            told = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
            yield _shown(told), Span(at, at + len(line.rstrip()))
        before = line
        at += len(line)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    parts = _CELL_ENDS.split(inner)
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return [part.strip() for part in parts]
