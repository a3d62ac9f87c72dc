"""A block that is too long for one chunk, broken where it hurts least.

A list breaks between items, a table between rows, a fence between lines and rather at a blank
one, prose between lines, then sentences, then words; what has no place to break is cut hard.
The parts of a table or fence after the first one carry its head as a prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from fingerpost.corpus.blocks import Block
from fingerpost.corpus.prose import clean_fence, clean_prose, clean_table, tidy
from fingerpost.corpus.rst import clean_rst
from fingerpost.text.sentences import sentences
from fingerpost.text.tokens import estimate_tokens

_PART_KINDS = {
    "paragraph": "paragraph",
    "heading": "paragraph",
    "fence": "fence",
    "code_block": "code",
    "table": "table",
    "html_block": "html",
}
_CHARS_PER_TOKEN = 4
_MAX_SENTENCE_LINE = 50_000
_MAX_RAW_PER_TOKEN = 24


class Unit(NamedTuple):
    """A stretch of the parsed text that stays together.

    Attributes:
        kind: Kind of the block it comes from.
        start: Place in the parsed text.
        end: Place after it.
        n_tokens: Estimate for its own search text.
        prefix: Head of the table or fence that it continues.
        continues: It is a later part of a block that was broken.
    """

    kind: str
    start: int
    end: int
    n_tokens: int
    prefix: str = ""
    continues: bool = False


def search_text_of(kind: str, text: str, targets: list[str] | None = None) -> str:
    """Return what is searched of one block's text."""
    if kind in _SILENT:
        return ""
    cleaner = _CLEANERS.get(kind)
    if cleaner is not None:
        return cleaner(text)
    if kind == "table":
        return tidy(clean_table(text, targets))
    if kind == "rst":
        return tidy(clean_rst(text, targets))
    return tidy(clean_prose(text, targets))


def _after_first_line(text: str) -> str:
    return text.partition("\n")[2].strip("\n")


_SILENT = frozenset({"rule", "comment", "hidden"})
_CLEANERS: dict[str, Callable[[str], str]] = {
    "fence": clean_fence,
    "code": lambda text: text.strip("\n"),
    "plain": str.strip,
    "woven": lambda text: tidy(unescape(text)),
    "wovencode": lambda text: unescape(text).strip("\n"),
    "rstcode": _after_first_line,
}


@dataclass(frozen=True, slots=True)
class Breaker:
    """Breaks the blocks of one text.

    Attributes:
        text: The parsed text.
        starts: Place of the start of each line, and the text's length at the end.
        budget: Most tokens of a unit, head included.
    """

    text: str
    starts: list[int]
    budget: int

    def units(self, block: Block) -> Iterator[Unit]:
        """Yield the units of a block, in order, covering it."""
        start, end = self.starts[block.start], self.starts[block.end]
        if end - start <= self.budget * _MAX_RAW_PER_TOKEN:
            n_tokens = self._count(block.kind, start, end)
            if n_tokens <= self.budget:
                yield Unit(block.kind, start, end, n_tokens)
                return
        if block.parts:
            yield from self._parts(block)
        elif block.kind == "table":
            yield from self._lines("table", start, end, self._head(start, end, 2))
        elif block.kind == "fence":
            yield from self._lines("fence", start, end, self._head(start, end, 1))
        else:
            yield from self._lines(block.kind, start, end, "")

    def _count(self, kind: str, start: int, end: int) -> int:
        text = search_text_of(kind, self.text[start:end])
        return estimate_tokens(text) if text else 0

    def _head(self, start: int, end: int, n_lines: int) -> str:
        """Return the first lines of a block, empty when they would eat the budget."""
        at = start
        for _ in range(n_lines):
            at = self.text.find("\n", at, end) + 1
            if not at:
                return ""
        head = self.text[start:at]
        if len(head) > self.budget * _MAX_RAW_PER_TOKEN:
            return ""
        return head if estimate_tokens(head) <= self.budget // 3 else ""

    def _parts(self, block: Block) -> Iterator[Unit]:
        """Break a list or quote at its items and inner blocks."""
        kinds: dict[int, str] = {block.start: "paragraph"}
        inside_until = block.start
        for mark in block.parts:
            if mark.map is None or mark.nesting < 0 or mark.map[0] < inside_until:
                continue
            kind = _PART_KINDS.get(mark.type)
            if kind is not None:
                kinds[mark.map[0]] = kind
                inside_until = mark.map[1]
            elif mark.type == "list_item_open":
                kinds.setdefault(mark.map[0], "paragraph")
        lines = [*sorted(line for line in kinds if line < block.end), block.end]
        for first, last in pairwise(lines):
            inner = "list" if kinds[first] == "paragraph" else kinds[first]
            for unit in self.units(Block(inner, first, last)):
                yield unit._replace(continues=unit.continues or first > block.start)

    def _lines(self, kind: str, start: int, end: int, head: str) -> Iterator[Unit]:
        """Break at line ends; a line over the budget is broken inside."""
        budget = self.budget - (estimate_tokens(head) if head else 0)
        for part in self._runs(start, end, budget):
            first = part[0] == start
            yield Unit(
                kind, part[0], part[1], part[2], "" if first else head, continues=not first
            )

    def _runs(self, start: int, end: int, budget: int) -> Iterator[tuple[int, int, int]]:
        """Yield (start, end, tokens) of runs of lines within the budget."""
        run, n_run, at, blank = start, 0, start, 0
        room = self.budget * _MAX_RAW_PER_TOKEN
        while at < end:
            line_end = self.text.find("\n", at, end) + 1 or end
            line = self.text[at:line_end] if line_end - at <= room else ""
            n_line = estimate_tokens(line) if line.strip() else 0
            if (not line or n_line > budget) and at < line_end:
                if run < at:
                    yield run, at, n_run
                yield from self._long_line(at, line_end, budget)
                run, n_run, blank = line_end, 0, 0
            elif n_run + n_line > budget or line_end - run > room:
                cut = blank if blank - run > (at - run) // 2 else at
                yield run, cut, n_run
                run = cut
                n_run = estimate_tokens(self.text[cut:line_end])
                blank = 0
            else:
                n_run += n_line
                if not line.strip():
                    blank = line_end
            at = line_end
        if run < end:
            yield run, end, n_run

    def _long_line(self, start: int, end: int, budget: int) -> Iterator[tuple[int, int, int]]:
        """Break one line at sentences, then at words, then anywhere."""
        if end - start > _MAX_SENTENCE_LINE:
            yield from self._cut(start, end, budget)
            return
        spans = sentences(self.text[start:end])
        places = [start, *(start + span.start for span in spans[1:]), end]
        run, n_run = start, 0
        for first, last in pairwise(places):
            n_tokens = estimate_tokens(self.text[first:last])
            if n_run and n_run + n_tokens > budget:
                yield run, first, n_run
                run, n_run = first, 0
            if n_tokens > budget:
                yield from self._cut(first, last, budget)
                run, n_run = last, 0
            else:
                n_run += n_tokens
        if run < end:
            yield run, end, n_run

    def _cut(self, start: int, end: int, budget: int) -> Iterator[tuple[int, int, int]]:
        """Cut at blanks where there are some, else anywhere."""
        at = start
        size = budget * _CHARS_PER_TOKEN
        while at < end:
            stop = min(at + size, end)
            n_tokens = estimate_tokens(self.text[at:stop])
            while n_tokens > budget and stop - at > 1:
                stop = at + max(1, int((stop - at) * budget / n_tokens * 0.95))
                n_tokens = estimate_tokens(self.text[at:stop])
            if stop < end:
                blank = self.text.rfind(" ", at + (stop - at) // 2, stop) + 1
                stop = blank or stop
                if self.text[stop] == "\n":
                    stop += 1
            yield at, stop, n_tokens
            at = stop
