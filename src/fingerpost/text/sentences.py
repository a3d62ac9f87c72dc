"""Sentence spans with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fingerpost.text.abbreviations import ENDING, NEVER_ENDING, NUMBERED, is_month
from fingerpost.text.blocks import Block, blocks
from fingerpost.text.stopwords import stop_words
from fingerpost.types.document import Span

__all__ = ["sentences"]

_CLOSERS: Final = "\"'”’»›)\\]}*_`」』）】〉》"
_STOP: Final = re.compile(
    # A full stop of a script that needs no blank after it. Not between digits (３．１４).
    rf"(?:[。！？｡。።፧။៕。]|(?<!\d)．|．(?!\d)|[।॥۔؟։។༎])+[{_CLOSERS}]*\s*"
    # A stop that counts only before a blank.
    rf"|(?<![.!?…‽])(?P<stop>[.!?…‽]++)(?P<closers>[{_CLOSERS}]*+)\s++(?=\S)"
)
_THAI_BLANK: Final = re.compile(r"(?<=[\u0e01-\u0edf])[ \u00a0]+(?=[\u0e01-\u0edf“\"(])")
_THAI_CLAUSE: Final = 60
_LAST_WORD: Final = re.compile(r"[^\s(\[{\"'“‘«*_`/]+$")
_NEXT_WORD: Final = re.compile(r"[^\W\d_]+")
_BACKTICKS: Final = re.compile(r"`+")
_REACH: Final = 24
_DAY_DIGITS: Final = 2
_SHORT_WORD: Final = 3  # a shorter one may be an abbreviation that is in no list
_OPENERS: Final = "\"'“‘«([{*_`„‚「『（【-–—> "
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of ``text``, trimmed of white space, in order.

    The spans are disjoint and hold every character that is not white space. Blank lines,
    headings, list items and table rows end a sentence; a code block is one span; inside inline
    code nothing ends. Thai and Lao, which have no full stop, are cut at blanks once a clause
    is long enough. Linear in the length of ``text``.
    """
    spans: list[Span] = []
    for block in blocks(text):
        start = block.start
        for end in (*_ends(text, block), block.end):
            span = _trimmed(text, start, end)
            if span is not None:
                spans.append(span)
            start = end
    return spans


def _trimmed(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    bare = piece.strip()
    if not bare:
        return None
    first = start + len(piece) - len(piece.lstrip())
    return Span(first, first + len(bare))


def _ends(text: str, block: Block) -> Iterator[int]:
    """Yield the offsets in a block where a sentence ends, in order."""
    if block.is_code:
        return
    piece = text[block.start : block.end]
    code = _InlineCode(piece)
    stops = [
        m.end() for m in _STOP.finditer(piece) if not code.holds(m.start()) and _ends_at(piece, m)
    ]
    for end in _with_thai(piece, stops):
        yield block.start + end


def _with_thai(piece: str, stops: list[int]) -> list[int]:
    blanks = [match.end() for match in _THAI_BLANK.finditer(piece)]
    if not blanks:
        return stops
    cuts: list[int] = []
    last = 0
    real = set(stops)
    for at in sorted(real.union(blanks)):
        if at in real or at - last >= _THAI_CLAUSE:
            cuts.append(at)
            last = at
    return cuts


def _ends_at(piece: str, match: re.Match[str]) -> bool:
    """Tell whether a stop ends its sentence, by the words on both sides."""
    stop = match["stop"]
    if stop is None:
        return True
    following = piece[match.end() : match.end() + 2 * _REACH].lstrip(_OPENERS)
    if match["closers"] and not stop.startswith("."):
        return not following[:1].islower()
    if stop != ".":
        return not following[:1].islower()
    before = _LAST_WORD.search(piece[max(0, match.start() - _REACH) : match.start()])
    if before is None:
        return True
    if match["closers"] and match["closers"].strip("*_"):
        return True
    return _ends_after(
        before.group(), following, at_start=_opens_line(piece, match.start(), before)
    )


def _opens_line(piece: str, stop: int, before: re.Match[str]) -> bool:
    """Tell whether the word before the stop is the first of its line, as a list number is."""
    start = stop - len(before.group())
    lead = piece[max(0, start - _REACH) : start].rstrip(" \t>")
    return lead.endswith(("\n", "\r")) or (not lead and start <= _REACH)


def _ends_after(word: str, following: str, *, at_start: bool) -> bool:
    """Tell whether ``word`` and a full stop end a sentence that ``following`` comes after."""
    folded = word.casefold()
    if at_start and (folded.isdigit() or len(folded) == 1):
        return False
    if folded in NEVER_ENDING:
        return False
    first = following[:1]
    if folded in NUMBERED and (first.isdigit() or first in "§#"):
        return False
    if folded in ENDING or _INITIALS.fullmatch(folded):
        return first.isupper() and _starts_sentence(following)
    if len(word) == 1 and word.isalpha() and word.isupper():
        return _starts_sentence(following)
    if folded.isdigit() and len(folded) <= _DAY_DIGITS:
        return not (first.islower() or is_month(_first_word(following)))
    return not first.islower() or (len(word) > _SHORT_WORD and "." not in word.strip("."))


def _starts_sentence(following: str) -> bool:
    word = _first_word(following)
    return word[:1].isupper() and word.casefold() in stop_words("en")


def _first_word(following: str) -> str:
    match = _NEXT_WORD.match(following)
    return match.group() if match is not None else ""


class _InlineCode:
    """The inline code of a piece of prose; asked about ever greater offsets."""

    def __init__(self, piece: str) -> None:
        self._ranges = _code_ranges(piece)
        self._next = 0

    def holds(self, offset: int) -> bool:
        """Tell whether ``offset`` is inside inline code."""
        while self._next < len(self._ranges) and self._ranges[self._next][1] <= offset:
            self._next += 1
        return self._next < len(self._ranges) and self._ranges[self._next][0] < offset


def _code_ranges(piece: str) -> list[tuple[int, int]]:
    """Return the ranges between runs of as many backticks, as CommonMark pairs them."""
    runs = [(match.start(), match.end()) for match in _BACKTICKS.finditer(piece)]
    closing: list[int | None] = [None] * len(runs)
    seen: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = seen.get(length)
        seen[length] = index
    ranges: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        partner = closing[index]
        if partner is None:
            index += 1
            continue
        ranges.append((runs[index][0], runs[partner][1]))
        index = partner + 1
    return ranges
