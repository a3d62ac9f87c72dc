"""The prose of a Markdown answer: paragraphs, list items and table rows, with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fingerpost.types.document import Span

_FENCE = re.compile(r"^[ \t]*(?:>[ \t]*)*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)\s*$")
_RULE = re.compile(r"^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_ROW_RULE = re.compile(r"^(?=[^-]*-)[\s:|-]++$")
_ITEM = re.compile(r"^\s*(?:>\s*)*(?:[-*+•‣◦·]\s+|\(?\d{1,3}[.)]\s+|\[[ xX]\]\s+)+")
_QUOTE = re.compile(r"^\s*(?:>(?![=\d]))+\s?")  # >= 5 is no quotation
_BOLD_LINE = re.compile(r"^\s*(\*\*|__)[^*_]+(?<![.!。！])\1\s*:?\s*$")
_STOPPED = re.compile(r"[.!?。！？][\"'”’)*_\s]*$")


class _Line(NamedTuple):
    start: int
    end: int
    text: str


class Block(NamedTuple):
    """A paragraph, an item or a row."""

    span: Span
    listed: bool


def prose_blocks(answer: str) -> Iterator[tuple[Span, bool]]:
    """Yield paragraphs, list items and table rows with whether each is an item or a row.

    Fenced code, headings of both kinds, rules, bold lines that serve as headings, and the
    header of a table are left out.
    """
    lines = _outside_fences(_lines(answer))
    current: Block | None = None
    is_row = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else None
        start = None if line is None else _content_start(line, following)
        if line is None or start is None:
            if current and not (line and _is_heading_underline(line, current, answer)):
                yield current
            current = None
            continue
        opens = bool(_ITEM.match(line.text) or _ROW.match(line.text))
        if current and (opens or is_row):
            yield current
            current = None
        first = current.span.start if current else start
        is_row = bool(_ROW.match(line.text))
        end = line.start + len(line.text.rstrip(" \t|")) if is_row else line.end
        current = Block(Span(first, max(first, end)), current.listed if current else opens)
    if current:
        yield current


def _lines(answer: str) -> list[_Line]:
    found, at = [], 0
    for raw in answer.splitlines(keepends=True):
        text = "".join(raw.splitlines())
        found.append(_Line(at, at + len(text), text))
        at += len(raw)
    return found


def _outside_fences(lines: list[_Line]) -> list[_Line | None]:
    """Return the lines outside fenced code; ``None`` where a block of code stood."""
    kept: list[_Line | None] = []
    fence = ""
    for line in lines:
        match = _FENCE.match(line.text)
        if fence:
            if match and match.group(1).startswith(fence):
                fence = ""
        elif match:
            fence = match.group(1)
            kept.append(None)
        else:
            kept.append(line)
    return kept


def _is_heading_underline(line: _Line, block: Block, answer: str) -> bool:
    text = answer[block.span.start : block.span.end]
    single = not block.listed and "\n" not in text and not _STOPPED.search(text)
    return single and block.span.end + 2 >= line.start and bool(_UNDERLINE.match(line.text))


def _content_start(line: _Line, following: _Line | None) -> int | None:
    """Return where the line's prose starts, ``None`` when it has none or breaks a paragraph."""
    text = line.text
    if not text.strip() or any(
        pattern.match(text) for pattern in (_HEADING, _RULE, _UNDERLINE, _ROW_RULE, _BOLD_LINE)
    ):
        return None
    if _ROW.match(text):
        header = following is not None and _ROW_RULE.match(following.text)
        return None if header else line.start + len(text) - len(text.lstrip(" \t|"))
    sign = _ITEM.match(text) or _QUOTE.match(text)
    return line.start + (sign.end() if sign else len(text) - len(text.lstrip()))
