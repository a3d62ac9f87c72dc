"""Where lines force a break: blank lines, headings, list items, table rows, code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Block", "blocks"]

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FENCE: Final = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}|~{3,})(?P<rest>[^\r\n]*)"
)
_QUOTE: Final = re.compile(r"[ \t]*>")
_ITEM: Final = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+•‣▪·]|\(?\d{1,9}[.)]|[A-Za-z][.)])[ \t]+\S")
_ALONE: Final = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?:"
    r"\#{1,6}(?:[ \t]|$)"  # heading
    r"|\|"  # table row
    r"|\[![A-Za-z]+\]"  # alert
    r"|:{3,}"  # directive fence
    r"|\.\.[ \t]+[\w-]+::"  # reStructuredText directive
    r"|</?[A-Za-z][^<>]*>[ \t]*$"  # a tag on its own
    r"|(?:import|export)[ \t].*\bfrom[ \t]+['\"]"  # MDX
    r")"
)
_RULE: Final = re.compile(
    r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={2,}|-{2,})[ \t]*$"
)
_DELIMITER_ROW: Final = re.compile(
    r"[ \t]*(?:>[ \t]?)*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$"
)
_INDENTED: Final = re.compile(r"(?: {4}|\t)[ \t]*\S")


@dataclass(frozen=True, slots=True)
class Block:
    """A range of lines that no sentence reaches out of; ``text[start:end]``.

    Attributes:
        start: Offset of the first character.
        end: Offset after the last character.
        is_code: The block is code and stays whole.
    """

    start: int
    end: int
    is_code: bool = False


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of Markdown or plain text in order; together they cover ``text``."""
    scan = _Scan()
    for match in _LINE.finditer(text):
        if match.start() == match.end():
            continue
        line = match.group().rstrip("\r\n")
        yield from scan.line(line, match.start())
    yield from scan.finish(len(text))


class _Scan:
    """The state between lines: where the open block starts, and what the last line was."""

    def __init__(self) -> None:
        self._start = 0
        self._is_code = False
        self._fence = ""  # the opening fence while inside of it
        self._indented = False  # inside indented code
        self._in_list = False
        self._after_blank = True
        self._quoted = False
        self._row = False  # the last line is a table row
        self._ends_here = False  # the last line stands alone: cut before the next

    def line(self, line: str, at: int) -> Iterator[Block]:
        """Take the line that starts at ``at``; yield the block that it ends, if any."""
        if self._fence:
            if self._closes(line):
                self._fence, self._ends_here = "", True
        elif (fence := _opening_fence(line)) is not None:
            yield from self._cut(at)
            self._fence, self._is_code = fence, True
        elif not line.strip():
            yield from self._cut(at)
            self._after_blank, self._quoted, self._indented = True, False, False
        else:
            if self._breaks_before(line):
                yield from self._cut(at)
                self._is_code = self._indented
            self._after_blank = False

    def finish(self, end: int) -> Iterator[Block]:
        """Yield the last block."""
        yield from self._cut(end)

    def _closes(self, line: str) -> bool:
        bare = line.strip().lstrip("> \t")
        return bare.startswith(self._fence) and not bare.strip(self._fence[0])

    def _breaks_before(self, line: str) -> bool:
        ended, self._ends_here = self._ends_here, False
        if _INDENTED.match(line) is None:
            ended |= self._indented
            self._indented = False
        elif self._indented or (self._after_blank and not self._in_list):
            started = not self._indented
            self._indented = True
            return started
        quoted = _QUOTE.match(line) is not None
        ended |= quoted != self._quoted
        self._quoted = quoted
        if self._row and _DELIMITER_ROW.match(line):
            self._ends_here = True  # the row under a table's header belongs to it
            return False
        self._row = False
        return self._is_own_line(line) or ended

    def _is_own_line(self, line: str) -> bool:
        if _RULE.match(line):
            self._ends_here = True  # an underline belongs to the line above it
            return False
        if _ALONE.match(line):
            self._ends_here, self._row = True, line.lstrip("> \t").startswith("|")
            return True
        if _ITEM.match(line):
            self._in_list = True
            return True
        if self._after_blank and not line[:1].isspace():
            self._in_list = False
        return False

    def _cut(self, at: int) -> Iterator[Block]:
        if at > self._start:
            yield Block(self._start, at, self._is_code)
        self._start = at
        self._is_code = False


def _opening_fence(line: str) -> str | None:
    match = _FENCE.match(line)
    if match is None or (match["fence"][0] == "`" and "`" in match["rest"]):
        return None
    return match["fence"]
