"""What a reader sees of Markdown, with the place of each piece in the source."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fingerpost.types.document import Span

_SIGNS = r"\s*_>|#\"'“”«»"
_STOP = r"[.,;:!?](?:\s|$)"
_LABEL = r"[^`<>]{0,300}?[^`<>\s]"
_TARGET = r"\s*<[^<>`]{1,500}>`__?(?!\w)"
# What is read of a mark that has a named group is that group.
_MARK = re.compile(
    r"!\[[^\[\]\n]{0,500}\]\([^()\n]{0,2000}\)"  # an image
    r"|\]\([^()\s]{0,2000}(?:\([^()\n]{0,500}\)[^()\s]{0,500})?[^()\n]{0,300}\)"  # a link's target
    r"|\[(?=[^\[\]\n]{1,500}\]\()"
    r"|(?<![\w\])`])\[(?P<linked>[^\[\]\n]{1,500})\]\[[^\[\]\n]{0,200}\]"
    r"|\\(?=[!-/:-@\[-`{-~])"  # an escape
    rf"|:[a-z][a-z:+-]{{1,30}}:`(?P<role>{_LABEL})(?:\s*<[^<>`]{{0,300}}>)?`"
    rf"|`(?P<named>{_LABEL}){_TARGET}"
    # A run of signs and white space; a single blank between words is text.
    rf"|(?! (?!{_STOP})[^`{_SIGNS}])(?:[{_SIGNS}]++|`(?!{_LABEL}{_TARGET}))+"
)
_LINK = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,500})\]"
    r"\([^()\s]{0,2000}(?:\([^()\n]{0,500}\)[^()\s]{0,500})?[^()\n]{0,300}\)"
)
_INNER = "_'#>"  # inside a word they are part of it: snake_case, don't
_ENDS_HERE = re.compile(_STOP)
_SPACE = re.compile(r"[\s|]")
_RULE = re.compile(r"(?=[^-]*-)[ \t:|-]++")
_CELL_ENDS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Shown:
    """Text without marks of Markdown and roles of reStructuredText.

    White space is single blanks, none before a full stop or comma.

    Attributes:
        text: What a reader sees.
        starts: Where each piece begins in ``text``, ascending; twice the same where one
            character stands for several of the source.
        places: Where each piece begins in the source; the second time, the last of the several.
    """

    text: str
    starts: tuple[int, ...]
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Return the place in the source of ``text[start:end]``, which is not empty."""
        first = bisect_left(self.starts, start)
        if first == len(self.starts) or self.starts[first] > start:
            first -= 1
        last = bisect_right(self.starts, end - 1) - 1
        return Span(
            self.places[first] + start - self.starts[first],
            self.places[last] + end - self.starts[last],
        )


class Row(NamedTuple):
    """A table row as it is told: ``header: cell; header: cell``.

    Attributes:
        shown: The row; empty cells, and names of columns without one, are left out.
        cells: Its parts, each with the name of its column.
        span: The place of the row in the source.
    """

    shown: Shown
    cells: tuple[str, ...]
    span: Span


class Page:
    """A source, with what a reader sees of it worked out once, however many claims ask.

    Attributes:
        text: As it was given.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def shown(self) -> Shown:
        """Return it without its marks."""
        return shown(self.text)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Return the rows of its tables, in order."""
        return tuple(_rows(self.text))


def shown(source: str) -> Shown:
    """Return what a reader sees of a text."""
    pieces: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    length = 0
    for piece, place in _pieces(source, 0, len(source)):
        if piece == " " and pieces and pieces[-1].endswith(" "):
            continue
        pieces.append(piece)
        starts.append(length)
        places.append(place)
        length += len(piece)
    return Shown("".join(pieces), tuple(starts), tuple(places))


def without_targets(text: str) -> str:
    """Return the text with links and images as their labels; other marks stay."""
    return _LINK.sub(lambda link: link["label"], text) if "](" in text else text


def only_links(text: str) -> bool:
    """Return whether the text has links, and no word besides."""
    left, n_links = _LINK.subn(" ", text)
    return n_links > 0 and not any(sign.isalnum() for sign in left)


def _pieces(source: str, at: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield what is seen of ``source[at:end]`` in order, each piece with its place."""
    for match in _MARK.finditer(source, at, end):
        if match.start() > at:
            yield source[at : match.start()], at
        at = match.end()
        if match.lastgroup is not None:
            yield from _pieces(source, *match.span(match.lastgroup))
        elif left := _left_of(source, match):
            yield left, match.start()
    if at < end:
        yield source[at:end], at


def _left_of(source: str, match: re.Match[str]) -> str:
    """Return what is seen of a mark: a blank, the signs inside a word, or nothing."""
    mark = match.group()
    if mark[0] in "![]\\":
        return ""
    if _SPACE.search(mark):
        return "" if _ENDS_HERE.match(source, match.end()) else " "
    around = (
        source[max(0, match.start() - 1) : match.start()] + source[match.end() : match.end() + 1]
    )
    inside = len(around) == 2 and around.isalnum()  # noqa: PLR2004 - a letter on both sides
    inner = "'" if "'" in mark else _INNER
    return "".join(sign for sign in mark if sign in inner) if inside else ""


def _rows(source: str) -> Iterator[Row]:
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
            told = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
            parts = tuple(shown(part).text.strip() for part in told)
            yield Row(shown("; ".join(told)), parts, Span(at, at + len(line.rstrip())))
        before = line
        at += len(line)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    parts = _CELL_ENDS.split(inner)
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return [part.strip() for part in parts]
