"""Blocks to chunks: along the heading tree, under a token limit, losing nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from fingerpost.corpus.blocks import Block
from fingerpost.corpus.cleaning import PROSE, search_text_of
from fingerpost.corpus.prose import clean_inline
from fingerpost.corpus.source import ParsedText
from fingerpost.corpus.units import MAX_RAW_PER_TOKEN, Breaker, Unit, count_tokens

SPLITTER_VERSION = "5"

# What the heading path may take above the chunk limit: MiniLM's 256 less its two marks less 220.
PATH_ROOM = 34
_MAX_HEADING_CHARS = 200
_MIN_BUDGET = 16
# A section longer than this is hardly ever one chunk: it is not worth trying.
_LIKELY_CHARS_PER_TOKEN = 5


class Piece(NamedTuple):
    """A chunk before it has an identity.

    Attributes:
        start: Place in the parsed text.
        end: Place after it.
        heading_path: Headings down to its section.
        prefix: Head of the table or fence that it continues.
        search_text: What is searched.
        n_tokens: Estimate for the search text.
        targets: Targets of its links, as written.
    """

    start: int
    end: int
    heading_path: tuple[str, ...]
    prefix: str
    search_text: str
    n_tokens: int
    targets: Sequence[str]


class _Heading(NamedTuple):
    level: int
    text: str
    n_tokens: int


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...] = ()
    n_path_tokens: int = 0
    blocks: list[Block] = field(default_factory=list)
    has_body: bool = False


def split(parsed: ParsedText, *, max_tokens: int, root: str = "") -> list[Piece]:
    """Return the pieces of a parsed text, in order, covering it.

    Each section is a piece of its own, with its heading; a heading without a body joins the
    next section. A section over the limit is broken between its blocks, and a block over the
    limit as `units` says.

    Args:
        parsed: Text and blocks.
        max_tokens: Most tokens of a piece's search text; less where the heading path is long.
        root: Title that stands above all headings, for documents without one of level 1.
    """
    if not parsed.kind or len(parsed.text) > _MAX_BODY_CHARS:
        return _split(parsed, max_tokens, root)
    key = (parsed.text, parsed.kind, max_tokens, root)
    pieces = _BODIES.get(key)
    if pieces is None:
        if len(_BODIES) >= _MAX_BODIES:
            _BODIES.clear()
        pieces = _BODIES[key] = _split(parsed, max_tokens, root)
    return pieces


# Versions of a page often have the same body, and are read one after the other.
_MAX_BODY_CHARS = 100_000
_MAX_BODIES = 64
_BODIES: dict[tuple[object, ...], list[Piece]] = {}


def _split(parsed: ParsedText, max_tokens: int, root: str) -> list[Piece]:
    lengths = map(len, parsed.text.split("\n"))
    starts = list(accumulate(lengths, lambda before, length: before + length + 1, initial=0))
    starts[-1] = len(parsed.text)
    pieces: list[Piece] = []
    for section in _sections(parsed.blocks, root, max_tokens):
        budget = max_tokens - max(0, section.n_path_tokens - PATH_ROOM)
        cutter = _Cutter(parsed.text, starts, section, max(budget, _MIN_BUDGET))
        pieces.extend(cutter.pieces())
    return _with_words(pieces)


# Blanks and comments beyond this are chunks of their own, rather than a burden to every reader.
_MAX_WORDLESS = 65_536
_WORD = re.compile(r"[^\W_]")


def _with_words(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with those that hold no word joined to the next, or the last, one."""
    kept: list[Piece] = []
    waiting: Piece | None = None
    for piece in pieces:
        one = piece
        if waiting is not None:
            if piece.end - waiting.start > _MAX_WORDLESS:
                kept.append(waiting)
            else:
                one = piece._replace(
                    start=waiting.start, targets=[*waiting.targets, *piece.targets]
                )
        waiting = None if _WORD.search(piece.search_text) else one
        if waiting is None:
            kept.append(one)
    if waiting is not None:
        before = kept[-1] if kept else waiting
        if kept and waiting.end - before.start <= _MAX_WORDLESS:
            targets = [*before.targets, *waiting.targets]
            kept[-1] = before._replace(end=waiting.end, targets=targets)
        else:
            kept.append(waiting)
    return kept


def _sections(blocks: Sequence[Block], root: str, max_tokens: int) -> Iterator[_Section]:
    stack: list[_Heading] = []
    if root:
        stack.append(_heading(0, root, max_tokens))
    section = _section(stack)
    for block in blocks:
        if block.kind != "heading":
            section.blocks.append(block)
            section.has_body = section.has_body or block.kind != "rule"
            continue
        carried: list[Block] = []
        if section.has_body:
            yield section
        else:
            carried = section.blocks
        while stack and stack[-1].level >= block.level:
            stack.pop()
        stack.append(_heading(block.level, block.title, max_tokens))
        section = _section(stack)
        carried.append(block)  # not copied: a file may hold a million headings in a row
        section.blocks = carried
        section.has_body = block.end - block.start > _MAX_HEADING_LINES
    if section.blocks:
        yield section


_MAX_HEADING_LINES = 64


def _heading(level: int, markup: str, max_tokens: int) -> _Heading:
    text = clean_inline(markup)
    if len(text) > _MAX_HEADING_CHARS:
        text = text[: _MAX_HEADING_CHARS - 1] + "…"
    n_tokens = count_tokens(text)
    while n_tokens > max_tokens // 6 and len(text) > 1:
        text = text[: int(len(text) * (max_tokens // 6) / n_tokens * 0.9)].rstrip() + "…"
        n_tokens = count_tokens(text)
    return _Heading(level, text, n_tokens)


def _section(stack: Sequence[_Heading]) -> _Section:
    named = [heading for heading in stack if heading.text]
    return _Section(
        tuple(heading.text for heading in named), sum(heading.n_tokens for heading in named)
    )


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts one section into pieces."""

    text: str
    starts: list[int]
    section: _Section
    budget: int

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the section, in order, covering it."""
        blocks = self.section.blocks
        start, end = self.starts[blocks[0].start], self.starts[blocks[-1].end]
        if end - start <= self.budget * _LIKELY_CHARS_PER_TOKEN:
            piece = self._piece(list(self._joined()))
            if piece.n_tokens <= self.budget:
                yield piece
                return
        breaker = Breaker(self.text, self.starts, self.budget)
        units = [
            unit
            for block in blocks
            for unit in breaker.units(block._replace(kind=self._kind(block)))
        ]
        for group in _pack(units, self.budget, self.text):
            yield from self._checked(group, breaker)

    def _joined(self) -> Iterator[Unit]:
        """Yield the blocks as units; neighbours that are prose are one, cleaned at once."""
        kind, start, end = "", 0, 0
        for block in self.section.blocks:
            own = self._kind(block)
            own = "paragraph" if own in PROSE else own
            if own == kind == "paragraph":
                end = self.starts[block.end]
                continue
            if kind:
                yield self._uncounted(kind, start, end)
            kind, start, end = own, self.starts[block.start], self.starts[block.end]
        yield self._uncounted(kind, start, end)

    def _uncounted(self, kind: str, start: int, end: int) -> Unit:
        text, targets = search_text_of(kind, self.text[start:end])
        return Unit(kind, start, end, text, 0, targets)

    def _kind(self, block: Block) -> str:
        """Return the block's kind; a heading that the path holds is not searched twice."""
        if block.kind != "heading":
            return block.kind
        return "hidden" if clean_inline(block.title) in self.section.path else "heading"

    def _checked(self, group: list[Unit], breaker: Breaker) -> Iterator[Piece]:
        """Yield the group as one piece, or as halves of it where it is over the limit."""
        piece = self._piece(group)
        if piece.n_tokens <= self.budget or piece.end - piece.start <= 1:
            yield piece
        elif len(group) > 1:
            middle = len(group) // 2
            yield from self._checked(group[:middle], breaker)
            yield from self._checked(group[middle:], breaker)
        else:
            unit = group[0]
            middle = (unit.start + unit.end) // 2
            middle = self.text.rfind("\n", unit.start + 1, middle) + 1 or middle
            prefix = "" if count_tokens(unit.prefix) > self.budget // 3 else unit.prefix
            for start, end in ((unit.start, middle), (middle, unit.end)):
                later = unit.continues or start > unit.start
                half = breaker.unit(unit.kind, start, end, prefix, continues=later)
                yield from self._checked([half], breaker)

    def _piece(self, units: Sequence[Unit]) -> Piece:
        first = units[0]
        head = search_text_of(first.kind, first.prefix)[0] if first.prefix else ""
        text = "\n\n".join([unit.text for unit in units if unit.text])
        if head:
            text = f"{head}\n{text}"
        if not text:
            text = self._headings_only(units)
        n_tokens = count_tokens(text)
        targets = [target for unit in units for target in unit.targets]
        return Piece(
            first.start, units[-1].end, self.section.path, first.prefix, text, n_tokens, targets
        )

    def _headings_only(self, units: Sequence[Unit]) -> str:
        """Return the words of a heading that stands alone: they are all the piece has."""
        blocks = self.section.blocks
        end = bisect_left(blocks, units[-1].end, key=lambda block: self.starts[block.start])
        first = bisect_left(blocks, units[0].start, key=lambda block: self.starts[block.start])
        last = next((one for one in reversed(blocks[first:end]) if one.kind == "heading"), None)
        text = clean_inline(last.title) if last else ""
        return text if count_tokens(text) <= self.budget else self.section.path[-1]


def _pack(units: Sequence[Unit], budget: int, text: str) -> Iterator[list[Unit]]:
    """Yield groups of neighbours within the budget, of about equal size.

    What announces the next unit (a heading, a line that ends with a colon) goes with it.
    """
    total = sum(unit.n_tokens for unit in units)
    n_groups = max(1, -(-total // budget))
    target = min(budget, total // n_groups + budget // 6)
    room = budget * MAX_RAW_PER_TOKEN
    group: list[Unit] = []
    n_group = 0
    for unit in units:
        n_unit = unit.n_tokens + count_tokens(unit.prefix)
        size = unit.end - group[0].start if group else 0
        full = n_group + n_unit > (budget if unit.continues else target)
        if group and n_group and (full or size > room):
            carried = _announcing(group, text)
            yield group[: len(group) - carried]
            group = group[len(group) - carried :]
            n_group = sum(one.n_tokens for one in group)
            if n_group + n_unit > budget and group:
                yield group
                group, n_group = [], 0
        elif group and size > room:
            yield group
            group, n_group = [], 0
        group.append(unit)
        n_group += unit.n_tokens if len(group) > 1 else n_unit
    if group:
        yield group


def _announcing(group: Sequence[Unit], text: str) -> int:
    """Return how many units at the group's end announce what follows; never all of them."""
    n_units = 0
    for unit in reversed(group[1:]):
        heading = unit.kind in ("heading", "hidden")
        if not heading and not text[unit.start : unit.end].rstrip().endswith(":"):
            break
        n_units += 1
        if not heading:
            break
    return n_units
