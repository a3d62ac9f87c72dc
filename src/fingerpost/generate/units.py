"""Units: the smallest pieces of a chunk that can answer, each with its exact place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from fingerpost.generate.blocks import Block, BlockKind, cells, scan
from fingerpost.generate.plain import code_text, neutralise, plain_text
from fingerpost.text.analyse import analyse
from fingerpost.text.sentences import sentences
from fingerpost.text.unfinished import COLONS
from fingerpost.types import Chunk, Hit, Span
from fingerpost.types.document import readable_text


class UnitKind(StrEnum):
    """How a unit is written."""

    SENTENCE = "sentence"
    ITEM = "item"
    STEP = "step"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, list item, step, table row or code block.

    Attributes:
        kind: How it is written.
        text: As shown to people, without marker; code without its fence.
        quote: The place of its words in the document.
        hit: Position of its chunk among the hits.
        order: Position in its chunk, from 0.
        group: Units of one paragraph, list or table share a number within a chunk.
        lead: ``order`` of the sentence that introduces it (a list or code), else ``None``.
        number: Of a step as written, 0 otherwise.
        depth: Columns of indentation of an item.
        language: Of code, may be empty.
        heading: Headings above it within the chunk, may be empty.
        first: It opens its section.
        tokens: Index tokens of ``text``, in order.
        cells: Column name and value of each cell that holds something, for rows.
        aside: It says nothing by itself: a link, a label, an entry of a checklist.
    """

    kind: UnitKind
    text: str
    quote: Span
    hit: int
    order: int
    group: int
    lead: int | None = None
    number: int = 0
    depth: int = 0
    language: str = ""
    heading: str = ""
    first: bool = False
    tokens: tuple[str, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    aside: bool = False


LISTED = frozenset({UnitKind.ITEM, UnitKind.STEP, UnitKind.ROW})
_MAX_UNIT = 1500
_MAX_CODE = 6000
_MAX_ITEM = 320
_SENTENCE = 140
# Scripts that part clauses, not sentences, by blanks: Thai, Lao, Myanmar, Khmer.
_CLAUSED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_ADDRESSES = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()]{0,500}\)[^()\s]{0,500})?[^()]{0,300}\)")
_URL = re.compile(r"https?://[^\s<>)\]]{1,2000}")
_CODE = re.compile(r"`[^`\n]{1,500}`")
_MARKS = re.compile(r"\n[ \t]{0,12}>|^[ \t]{0,12}>|\[!\w{1,20}\]")
_BLOCK_TAGS = re.compile(
    r"</?(?:p|div|li|ul|ol|h[1-6]|tr|table|section|article|br|dd|dt|blockquote|pre)\b[^<>]*>",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<(script|style|head|template)\b.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{1,1000}>")
_OPTION = re.compile(r"\s*-{1,2}[A-Za-z][\w-]*(?:[ ,=].*)?\s{2,}\S")
_BLANKS = re.compile(r"\s+")
_MIN_OPTIONS = 2
_MOST = 0.6
_WORD = re.compile(r"\w")
_ONLY_LINK = re.compile(
    r"[\s*_]*(?:\[[^\]\n]{1,300}\](?:\([^()\n]{0,1000}\)|\[[^\]\n]{0,200}\])|<https?://[^<>\s]+>"
    r"|https?://\S+)[\s*_.]*"
)
_BOX = re.compile(r"\[[ xX]\][ \t]+$")
_BOX_WIDTH = 8
# Headings without their mark: no stop, no code, no number; scripts that part words by blanks.
_LABEL = re.compile(r"[^\W\d](?:[^\W\d]|[ '’(),&/-])*(?<![,])")
_LABEL_WORDS = 6
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff]")


def split_hits(hits: Sequence[Hit]) -> list[Unit]:
    """Return the units of all hits, hit by hit, in reading order within each."""
    return [unit for position, hit in enumerate(hits) for unit in split_units(hit, position)]


def split_units(hit: Hit, position: int) -> tuple[Unit, ...]:
    """Return the units of a hit's chunk, in reading order; headings are context, not units.

    Args:
        hit: The chunk and its document.
        position: The hit's place among the hits, from 0; kept on each unit.
    """
    return _split(hit.chunk, hit.document.format, position)


@lru_cache(maxsize=256)
def _split(chunk: Chunk, markup: str, position: int) -> tuple[Unit, ...]:
    """Return the units of a chunk; kept for the chunks used last."""
    return tuple(_Splitter(chunk, markup, position).run())


class _Splitter:
    """Turns the blocks of one chunk into units."""

    def __init__(self, chunk: Chunk, markup: str, position: int) -> None:
        self.chunk = chunk
        self.markup = markup
        self.position = position
        self.raw = readable_text(chunk, markup)
        self.woven = self.raw != chunk.text  # places in it are not places in the document
        # Blocks and sentences are found in ``text``, words are shown from ``raw``.
        tagged = self.markup == "html" and not self.woven
        self.text = _html_as_text(self.raw) if tagged else self.raw
        self.units: list[Unit] = []
        self.heading = ""
        self.fresh = not chunk.ordinal
        self.lead: int | None = None

    def run(self) -> list[Unit]:
        group = -1
        prefix = "" if self.woven else self.chunk.prefix
        for block in scan(self.text, prefix=prefix, markup=self.markup):
            if block.kind is BlockKind.HEADING:
                self.heading = plain_text(self.raw[block.start : block.end].strip("#= \t"))
                self.fresh, self.lead = True, None
                continue
            if block.group != group and block.kind is not BlockKind.CODE:
                self.lead = self._introduction(block)
            group = block.group
            self._block(block)
        return self.units

    def _introduction(self, block: Block) -> int | None:
        """Return the sentence that leads to a list or table: it ends in a colon before it."""
        if block.kind in {BlockKind.PARAGRAPH, BlockKind.TERM} or not self.units:
            return None
        last = self.units[-1]
        if last.kind is not UnitKind.SENTENCE or last.heading != self.heading:
            return None
        return last.order if last.text.endswith(COLONS) else None

    def _block(self, block: Block) -> None:
        if block.kind is BlockKind.CODE:
            self._code(block)
        elif block.kind is BlockKind.ROW:
            self._row(block)
        elif block.kind in {BlockKind.ITEM, BlockKind.STEP}:
            self._item(block)
        else:
            self._sentences(block)

    def _add(
        self, kind: UnitKind, text: str, block: Block, span: tuple[int, int], **more: object
    ) -> None:
        if not _WORD.search(text):
            return
        unit = Unit(
            kind,
            text,
            self._quote(span),
            self.position,
            len(self.units),
            block.group,
            heading=self.heading,
            first=self.fresh,
            tokens=tuple(analyse(text)),
            **more,  # type: ignore[arg-type]
        )
        self.units.append(unit)
        self.fresh = False

    def _quote(self, span: tuple[int, int]) -> Span:
        """Return the place in the document.

        Words that stand there in pieces have the rest of the chunk after the unit before them.
        """
        start, end = span
        base = self.chunk.span.start
        if self.woven:
            before = self.units[-1].quote if self.units else Span(base, base)
            least = before.end if before.end < self.chunk.span.end else before.start
            start = self.chunk.text.find(self.raw[start:end], least - base)
            if start < 0:
                return Span(least, self.chunk.span.end)
            end += start - span[0]
        return Span(base + start, base + end)

    def _code(self, block: Block) -> None:
        """Add code, introduced by the sentence or item right before it."""
        start, end = block.body
        if end - start > _MAX_CODE:
            return
        lead = None
        if self.units and self.units[-1].heading == self.heading:
            last = self.units[-1]
            lead = last.order if last.kind is not UnitKind.CODE else None
        text = code_text(self.text[start:end])
        if _is_option_list(text):
            self._options(block)
            return
        self._add(UnitKind.CODE, text, block, (start, end), lead=lead, language=block.language)

    def _options(self, block: Block) -> None:
        """Add each line of a list of command line options as an item."""
        at = block.body[0]
        for line in self.text[at : block.body[1]].splitlines(keepends=True):
            text = _BLANKS.sub(" ", neutralise(line)).strip().replace("`", "'")
            if text:
                kept = len(line.rstrip())
                self._add(UnitKind.ITEM, f"`{text}`", block, (at, at + kept))
            at += len(line)

    def _row(self, block: Block) -> None:
        """Add a table row as ``header: cell`` pairs; empty cells are left out."""
        values = cells(self.raw[block.start : block.end])
        names = (*block.header, *("" for _ in values))
        pairs = tuple(
            (plain_text(name), shown)
            for name, value in zip(names, values, strict=False)
            if (shown := plain_text(value))
        )
        text = row_text(pairs)
        if len(text) <= _MAX_UNIT:
            place = (block.start, block.end)
            self._add(UnitKind.ROW, text, block, place, lead=self.lead, cells=pairs)

    def _item(self, block: Block) -> None:
        """Add a list item whole when it is short, else its sentences, the first as the item."""
        kind = UnitKind.STEP if block.kind is BlockKind.STEP else UnitKind.ITEM
        spans = [(block.start, block.end)]
        if block.end - block.start > _MAX_ITEM:
            spans = self._sentence_spans(block)
        for position, (start, end) in enumerate(spans):
            if end - start > _MAX_UNIT:
                continue
            text = plain_text(self.raw[start:end])
            more = {"number": block.number, "depth": block.depth} if not position else {}
            aside = is_link(self.raw[start:end]) or self._is_check(block)
            self._add(
                UnitKind.SENTENCE if position else kind,
                text,
                block,
                (start, end),
                lead=self.lead if not position else None,
                aside=aside and not position,
                **more,
            )

    def _sentences(self, block: Block) -> None:
        if block.kind is BlockKind.TERM:
            text = _definition(self.raw[block.start : block.end])
            if len(text) <= _MAX_UNIT:
                self._add(UnitKind.ITEM, text, block, (block.start, block.end))
                return
        spans = self._sentence_spans(block)
        for start, end in spans:
            if end - start <= _MAX_UNIT:
                text = plain_text(self.raw[start:end])
                aside = len(spans) == 1 and (is_label(text) or is_link(self.raw[start:end]))
                self._add(UnitKind.SENTENCE, text, block, (start, end), aside=aside)

    def _is_check(self, block: Block) -> bool:
        """Return whether an item has a box to tick."""
        return bool(_BOX.search(self.raw[max(0, block.start - _BOX_WIDTH) : block.start]))

    def _sentence_spans(self, block: Block) -> list[tuple[int, int]]:
        """Return sentence offsets; stops in addresses and code end no sentence."""
        raw = self.text[block.start : block.end]
        spans = sentences(masked(raw))
        if _CLAUSED.search(raw):
            spans = _joined(spans)
        return [(block.start + span.start, block.start + span.end) for span in spans]


def row_text(cells: Sequence[tuple[str, str]]) -> str:
    """Return the cells of a row as ``name: value`` pairs."""
    return "; ".join(f"{name}: {value}" if name else value for name, value in cells)


def is_link(raw: str) -> bool:
    """Return whether a text is one link and nothing else."""
    return bool(_ONLY_LINK.fullmatch(raw))


def is_label(text: str) -> bool:
    """Return whether a paragraph is a few words without a stop, as headings are."""
    words = text.split()
    few = 0 < len(words) <= _LABEL_WORDS and not _UNPARTED.search(text)
    return few and bool(_LABEL.fullmatch(text))


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with neighbours joined up to the length of a usual sentence."""
    joined: list[Span] = []
    for span in spans:
        if joined and len(joined[-1]) < _SENTENCE:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def masked(raw: str) -> str:
    """Return text of equal length without the marks that would mislead a sentence splitter."""
    text = raw
    if "`" in text:
        text = _CODE.sub(lambda found: "x" * len(found.group()), text)
    if "](" in text:
        text = _ADDRESSES.sub(lambda found: "]" + "x" * (len(found.group()) - 1), text)
    if "://" in text:
        text = _URL.sub(lambda found: _covered(found.group()), text)
    if ">" in text or "[!" in text:
        text = _MARKS.sub(lambda found: " " * len(found.group()), text)
    return re.sub(r"[\r\n]", " ", text)


def _covered(address: str) -> str:
    """Return a filler as long as an address; its closing full stop stays."""
    kept = address.rstrip(".,;!?")
    return "x" * len(kept) + address[len(kept) :]


def _is_option_list(code: str) -> bool:
    """Return whether most lines of a code block describe a command line option each."""
    lines = [line for line in code.splitlines() if line.strip()]
    options = sum(bool(_OPTION.match(line)) for line in lines)
    return options >= _MIN_OPTIONS and options >= _MOST * len(lines)


def _definition(raw: str) -> str:
    """Return ``term: definition`` of a definition list."""
    term, *meanings = raw.splitlines()
    meaning = " ".join(line.lstrip(": \t") for line in meanings)
    return f"{plain_text(term)}: {plain_text(meaning)}"


def _html_as_text(raw: str) -> str:
    """Return text of equal length with tags blanked out and blocks parted by line ends."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\r\n]", " ", found.group())

    def parted(found: re.Match[str]) -> str:
        tag = found.group()
        mark = "\n- " if tag[:3].lower() == "<li" else "\n\n"
        return mark + " " * (len(tag) - len(mark)) if len(tag) >= len(mark) else blank(found)

    return _TAG.sub(blank, _BLOCK_TAGS.sub(parted, _HIDDEN.sub(blank, raw)))
