"""Verbatim quotes: a claim that stands in the source word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from fingerpost.types.document import Span
from fingerpost.verify.negation import polarity
from fingerpost.verify.shown import Page, shown
from fingerpost.verify.words import words

_TRIMMED = " \t\n.。!！;；,，"
_SHORTEST = 2
_MOST_PLACES = 64
_PART_ENDS = ("; ", ". ", "! ", "? ")
_GOES_BEFORE = re.compile(r"[\w.,+-]$|\w['’]$")
_GOES_ON = re.compile(r"[\w%°]|[.,'’-]\w")
_CLAUSE = re.compile(r"[.!?:;。！？：；\n|•]|(?:^|\n)\s*[-*+]\s")
# Words around a quotation that may take back what it says.
_DOUBT = re.compile(
    r"\b(?:if|unless|whether|except|false|wrong|myth|incorrect|untrue|claim(?:s|ed)?|suppose|allegedly"
    r"|hardly|only|when|where|quand|lorsque|cuando|until|before|wenn|falls|falsch|si|faux|falso|excepto|sauf|außer)\b",
    re.IGNORECASE,
)


def find_quote(claim: str, source: str | Page) -> Span | None:
    """Return where the claim stands in the source word for word, ``None`` when it does not.

    White space, Markdown's marks, link targets and final punctuation may differ, nothing else;
    several cells of a table row may be told as ``header: cell; header: cell``. A claim that is
    only part of a longer clause or cell is no quote when the rest negates, limits or doubts it.
    """
    wanted = _wanted(claim)
    if len(wanted) < _SHORTEST or (" " not in wanted and len(claim) < 12):  # noqa: PLR2004 - one short word is no quote
        return None
    page = source if isinstance(source, Page) else Page(source)
    for start, end in _places(wanted, page.shown.text):
        span = page.shown.span(start, end)
        if _undoubted(page.text, span.start, span.end):
            return span
    return _row_quote(wanted, page) if ": " in wanted else None


@lru_cache(maxsize=512)
def _wanted(claim: str) -> str:
    """Return what a reader sees of a claim, kept: one source after another is asked for it."""
    return shown(claim.strip(_TRIMMED)).text.strip(_TRIMMED)


def _row_quote(wanted: str, page: Page) -> Span | None:
    for row in page.rows:
        if _is_told(wanted, row.cells):
            return row.span
        text = row.shown.text
        for start, end in _places(wanted, text):
            before, after = text[:start], text[end:]
            whole = not before or before.endswith(_PART_ENDS)
            if whole and (not after or after[0] in ";.!?") and _harmless(f"{before} {after}"):
                return row.span
    return None


def _is_told(wanted: str, cells: Sequence[str]) -> bool:
    """Return whether the words are several whole cells of a row, in order.

    What is left out says something of other columns: it takes nothing back.
    """
    n_told = 0
    for cell in cells:
        if wanted == cell.rstrip(_TRIMMED):
            return n_told > 0
        if wanted.startswith(f"{cell}; "):
            wanted = wanted[len(cell) + 2 :]
            n_told += 1
    return False


def _places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the words stand as whole words, the first letter in either case."""
    first, rest = wanted[0].casefold(), wanted[1:]
    at = text.find(rest, 1)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        start, end = at - 1, at + len(rest)
        opens = text[start].casefold() == first and not _GOES_BEFORE.search(
            text, max(0, start - 2), start
        )
        if opens and not _GOES_ON.match(text, end):
            yield start, end
        at = text.find(rest, at + 1)


def _undoubted(source: str, start: int, end: int) -> bool:
    """Return whether the clause around the quotation leaves its meaning alone."""
    before_start = 0
    for match in _CLAUSE.finditer(source, max(0, start - 300), start):
        before_start = match.end()
    after = _CLAUSE.search(source, end, end + 300)
    prefix = source[max(before_start, start - 300) : start]
    suffix = source[end : after.start() if after else min(len(source), end + 300)]
    return _harmless(f"{prefix} {suffix}")


def _harmless(rest: str) -> bool:
    """Return whether words around a quotation leave its meaning alone."""
    if not any(mark.isalnum() for mark in rest):
        return True
    rest = rest.strip()
    return not _DOUBT.search(rest) and not polarity(rest, words(rest)).any
