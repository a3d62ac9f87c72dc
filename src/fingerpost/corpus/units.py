"""What stays together in a chunk, and how a block is broken that is too long for one.

A list breaks between items, a table between rows, a fence between lines and rather at a blank
one, prose between lines, then sentences, then words; what has no place to break is cut hard.
The parts of a table or fence after the first one carry its head as a prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fingerpost.corpus.blocks import Block
from fingerpost.corpus.cleaning import FENCES, TABLES, search_text_of
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
_MANY_LINES = 10_000
_STRIDES = 4
# Longest stretch of a file in one unit, for text that is mostly markup or blanks.
MAX_RAW_PER_TOKEN = 24


class Unit(NamedTuple):
    """A stretch of the parsed text that stays together.

    Attributes:
        kind: Kind of the block it comes from.
        start: Place in the parsed text.
        end: Place after it.
        text: What is searched of it, prefix not included.
        n_tokens: Estimate for ``text``.
        targets: Targets of its links, as written.
        prefix: Head of the table or fence that it continues.
        continues: It is a later part of a block that was broken.
    """

    kind: str
    start: int
    end: int
    text: str
    n_tokens: int
    targets: Sequence[str] = ()
    prefix: str = ""
    continues: bool = False


def count_tokens(text: str) -> int:
    """Return the estimate, 0 for no text; what was counted lately is remembered."""
    if not text:
        return 0
    return _remembered(text) if len(text) <= _MAX_REMEMBERED else estimate_tokens(text)


_MAX_REMEMBERED = 8_000
_remembered = lru_cache(maxsize=16_384)(estimate_tokens)
_MIN_SAMPLE = 60
_SURE = 0.85


@dataclass(frozen=True, slots=True)
class Breaker:
    """Makes the units of one text.

    Attributes:
        text: The parsed text.
        starts: Place of the start of each line, and the text's length at the end.
        budget: Most tokens of a unit, head included.
        density: Tokens per character by kind of block, found on the first one: packing needs
            no exact number, and the pieces are counted in the end.
    """

    text: str
    starts: list[int]
    budget: int
    density: dict[str, float] = field(default_factory=dict)

    def units(self, block: Block) -> Iterator[Unit]:
        """Yield the units of a block, in order, covering it."""
        start, end = self.starts[block.start], self.starts[block.end]
        if end - start <= self.budget * MAX_RAW_PER_TOKEN:
            unit = self.unit(block.kind, start, end)
            if unit.n_tokens > self.budget * _SURE:
                unit = unit._replace(n_tokens=count_tokens(unit.text))
            if unit.n_tokens <= self.budget:
                yield unit
                return
        if block.parts:
            yield from self._parts(block)
        elif block.kind in TABLES:
            yield from self._lines(block.kind, start, end, self._head(start, end, 2))
        elif block.kind in FENCES:
            yield from self._lines(block.kind, start, end, self._head(start, end, 1))
        else:
            yield from self._lines(block.kind, start, end, "")

    def unit(
        self, kind: str, start: int, end: int, prefix: str = "", *, continues: bool = False
    ) -> Unit:
        """Return a stretch of the text as a unit, cleaned, its tokens guessed."""
        own = self.text[start:end]
        if continues and kind in FENCES:
            # Its opening line stands in another unit; without one the last line is kept.
            own = (prefix or "```\n") + own
        text, targets = search_text_of(kind, own)
        return Unit(kind, start, end, text, self._guess(kind, text), targets, prefix, continues)

    def _guess(self, kind: str, text: str) -> int:
        density = self.density.get(kind)
        if density is not None:
            return int(len(text) * density) + bool(text)
        n_tokens = count_tokens(text)
        if len(text) >= _MIN_SAMPLE:
            self.density[kind] = n_tokens / len(text)
        return n_tokens

    def _head(self, start: int, end: int, n_lines: int) -> str:
        """Return the first lines of a block, empty when they would eat the budget."""
        at = start
        for _ in range(n_lines):
            at = self.text.find("\n", at, end) + 1
            if not at:
                return ""
        head = self.text[start:at]
        if len(head) > self.budget * MAX_RAW_PER_TOKEN:
            return ""
        return head if estimate_tokens(head) <= self.budget // 3 else ""

    def _parts(self, block: Block) -> Iterator[Unit]:
        """Break a list or quote at its items and inner blocks."""
        kinds: dict[int, str] = {block.start: "list"}
        inside_until = block.start
        for mark in block.parts:
            if mark.map is None or mark.map[0] < inside_until:
                continue
            kind = _PART_KINDS.get(mark.type)
            if kind is not None:
                kinds[mark.map[0]] = "list" if kind == "paragraph" else kind
                inside_until = mark.map[1]
            elif mark.type == "list_item_open":
                kinds.setdefault(mark.map[0], "list")
        lines = [*sorted(line for line in kinds if line < block.end), block.end]
        for first, last in pairwise(lines):
            for unit in self.units(Block(kinds[first], first, last)):
                yield unit._replace(continues=True) if first > block.start else unit

    def _lines(self, kind: str, start: int, end: int, head: str) -> Iterator[Unit]:
        """Break at line ends; a line over the budget is broken inside."""
        budget = self.budget - count_tokens(head)
        for first, last in self._runs(start, end, budget):
            later = first > start
            yield self.unit(kind, first, last, head if later else "", continues=later)

    def _runs(self, start: int, end: int, budget: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of runs of lines within the budget."""
        run, n_run, at, blank = start, 0, start, 0
        room = self.budget * MAX_RAW_PER_TOKEN
        stride = self._stride(start, end)
        while at < end:
            line_end = self.text.find("\n", at + stride, end) + 1 or end
            fits = line_end - at <= room
            n_line = estimate_tokens(self.text[at:line_end]) if fits else 0
            if not fits or n_line > budget:
                if run < at:
                    yield run, at
                yield from self._long_line(at, line_end, budget)
                run, n_run, blank = line_end, 0, 0
            elif n_run + n_line > budget or line_end - run > room:
                cut = blank if blank - run > (at - run) // 2 else at
                yield run, cut
                run, blank = cut, 0
                n_run = estimate_tokens(self.text[cut:line_end])
            else:
                n_run += n_line
                if not n_line:
                    blank = line_end
            at = line_end
        if run < end:
            yield run, end

    def _stride(self, start: int, end: int) -> int:
        """Return how many characters are counted at once, with the line that they end in.

        0, a line at a time, but where lines are so many and so short that counting each would
        cost more than all else.
        """
        stride = self.budget // _STRIDES
        size = end - start
        if size < _MANY_LINES or self.text.count("\n", start, end) < max(
            _MANY_LINES, size // stride
        ):
            return 0
        return stride

    def _long_line(self, start: int, end: int, budget: int) -> Iterator[tuple[int, int]]:
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
                yield run, first
                run, n_run = first, 0
            if n_tokens > budget:
                yield from self._cut(run, last, budget)
                run, n_run = last, 0
            else:
                n_run += n_tokens
        if run < end:
            yield run, end

    def _cut(self, start: int, end: int, budget: int) -> Iterator[tuple[int, int]]:
        """Cut at blanks where there are some, else anywhere."""
        at = start
        size = budget * _CHARS_PER_TOKEN
        while at < end:
            stop = min(at + size, end)
            n_tokens = estimate_tokens(self.text[at:stop])
            while n_tokens > budget and stop - at > 1:
                stop = at + max(1, int((stop - at) * budget / n_tokens * 0.95))
                n_tokens = estimate_tokens(self.text[at:stop])
            size = max(budget, int((stop - at) * 1.05))  # the next stretch is often alike
            if stop < end:
                stop = self.text.rfind(" ", at + (stop - at) // 2, stop) + 1 or stop
                if self.text[stop] == "\n":
                    stop += 1
            yield at, stop
            at = stop
