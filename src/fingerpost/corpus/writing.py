"""The text that a file is converted to, written block by block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fingerpost.corpus.blocks import Block

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LINE_END = re.compile("\r\n|[\r\v\f]")
_WORD = re.compile(r"[^\W_]")
_MARKS = re.compile(r"[\\*_\[\]<>{}&`~]")
_MAX_LEVEL = 6


class ConversionError(Exception):
    """A file gives no text; ``reason`` and ``detail`` are those of `SkippedFile`."""

    def __init__(self, reason: str, detail: str) -> None:
        """Keep why."""
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(slots=True)
class Writing:
    """Text with its blocks and the places where its pages start.

    Attributes:
        title: That the file's properties name, empty when none.
        language: Two letters, empty when the file names none.
        pages: Start of each page or slide in the text, in order; empty when it has none.
        blocks: In order, covering every line.
        size: Characters so far.
    """

    title: str = ""
    language: str = ""
    pages: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0
    _parts: list[str] = field(default_factory=list)
    _items: list[str] = field(default_factory=list)
    _line: int = 0

    def page(self) -> None:
        """Begin the next page or slide."""
        self._end_list()
        self.pages.append(self.size)

    def heading(self, text: str, level: int) -> None:
        """Write a heading of one line; one without a word is a paragraph."""
        said = " ".join(clean(text).split())
        if not _WORD.search(said):
            self.prose(said)
            return
        level = min(max(level, 1), _MAX_LEVEL)
        self._write("heading", f"{'#' * level} {said}", level, as_markup(said))

    def prose(self, text: str) -> None:
        """Write a paragraph, a list or lines of a page."""
        said = clean(text).strip("\n")
        if said.strip():
            self._write("plain", said)

    def item(self, text: str, depth: int) -> None:
        """Write an item of a list, directly below the item before it."""
        said = " ".join(clean(text).split())
        if said:
            self._items.append(f"{'  ' * depth}- {said}")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Write a table, the first row as its head; of one without text nothing."""
        cells = [[_cell(cell) for cell in row] for row in rows]
        cells = [row for row in cells if any(row)]
        if not cells:
            return
        width = max(map(len, cells))
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in cells]
        lines.insert(1, f"|{' --- |' * width}")
        self._write("table", "\n".join(lines))

    def text(self) -> str:
        """Return what was written."""
        self._end_list()
        return "".join(self._parts)

    def _end_list(self) -> None:
        items, self._items = self._items, []
        if items:
            self._write("plain", "\n".join(items))

    def _write(self, kind: str, text: str, level: int = 0, title: str = "") -> None:
        self._end_list()
        first = self._line
        self._parts.append(f"{text}\n\n")
        self.size += len(text) + 2
        self._line += text.count("\n") + 2
        self.blocks.append(Block(kind, first, self._line, level, title))


def as_markup(text: str) -> str:
    """Return a title that is no markup as markup that says the same, for `Block.title`."""
    return _MARKS.sub(lambda found: f"&#{ord(found[0])};", text)


def clean(text: str) -> str:
    r"""Return text whose only line ends are ``\n``, without control characters.

    A vertical tab ends a line: PowerPoint writes one for a line break inside a paragraph.
    """
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def _cell(text: str) -> str:
    return " ".join(clean(text).split()).replace("|", r"\|")
