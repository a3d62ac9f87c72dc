"""The blocks of a chunk: paragraphs, list items, table rows and code, with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a run of lines is."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    STEP = "step"
    ROW = "row"
    CODE = "code"
    TERM = "term"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines of one kind.

    Attributes:
        kind: What it is.
        start: Offset of the first character of its content in the scanned text.
        end: Offset behind its last character.
        group: Blocks of one list or table share a number; else each has its own.
        number: As written, for steps (``3``); else 0.
        language: Of a fence, empty when none.
        header: Column names, for rows.
        depth: Columns of indentation of an item.
        body: Where the code between the fences stands; equals (start, end) for the rest.
    """

    kind: BlockKind
    start: int
    end: int
    group: int
    number: int = 0
    language: str = ""
    header: tuple[str, ...] = ()
    depth: int = 0
    body: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_FENCE = re.compile(r"[ \t>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})\s*([^\s`{]*)")
_ATX = re.compile(r"[ \t]{0,3}(#{1,6})(?:\s|$)")
_ITEM = re.compile(r"([ \t>]*)(?:[-*+•]|(\d{1,9}|[A-Za-z#])[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")
_UNDERLINE = re.compile(r"([=\-~^\"#*+`])\1{2,}\s*$")
_SKIPPED = re.compile(
    r"\s*(?:</?[A-Za-z][^<>]{0,500}/?>\s*)+$"  # tags alone on a line
    r"|\s*:{3,}.*$|\s*(?:\{\{[<%].*[>%]\}\}\s*)+$"  # directives, shortcodes
    r"|\s*\[[^\]\n]{1,300}\]:\s*\S+.*$"  # link definitions
    r"|\s*(?:[-*_]\s*){3,}$"  # rules
    r"|\s*\.\.(?:\s+_[^:]+:.*|\s*)$"  # reStructuredText targets
)
_MODULE = re.compile(r"(?:import|export)\s.*(?:from\s+)?['\"{]")
_RST_CODE = re.compile(r"\s*\.\.\s+(?:code-block|code|sourcecode|parsed-literal)::\s*(\S*)")
_DIRECTIVE = re.compile(r"\s*\.\.\s+[\w-]+::")
_TERM = re.compile(r":[ \t]+(?=\S)")
_INDENT = 4


def scan(text: str, *, prefix: str = "", markup: str = "markdown") -> list[Block]:
    """Return the blocks of a chunk's text, in order; headings are blocks too.

    Args:
        text: Exact text of a chunk; it may begin inside a table or a fence.
        prefix: What a split left behind: the header of the table or the opening of the fence.
        markup: The document's format; only ``mdx`` drops module lines and only ``rst`` and
            plain text read indented lines after ``::`` as code.
    """
    return _Scanner(text, prefix, markup).run()


class _Scanner:
    """Walks over the lines of one chunk."""

    def __init__(self, text: str, prefix: str, markup: str) -> None:
        self.markup = markup
        self.lines = _lines(_without_comments(text))
        self.at = 0
        self.group = 0
        self.blocks: list[Block] = []
        self.header: tuple[str, ...] = ()
        self.literal = False
        self._begin(prefix)

    def _begin(self, prefix: str) -> None:
        """Take up the table or fence that the chunk begins in."""
        rows = [line for line in prefix.splitlines() if line.strip()]
        if not rows:
            return
        fence = _FENCE.match(rows[-1])
        if fence:
            self._code_until(fence.group(1), 0, fence.group(2), 0)
        elif len(rows) > 1 and "|" in rows[-2] and _DELIMITER.match(rows[-1]):
            self.header = cells(rows[-2])
            self._rows()

    def run(self) -> list[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.text.strip():
                self.at += 1
            elif not self._code() and not self._heading() and not self._table():
                self._prose()
        return self.blocks

    def _add(self, kind: BlockKind, start: int, end: int, **more: object) -> None:
        more.setdefault("body", (start, end))
        self.blocks.append(Block(kind, start, end, self.group, **more))  # type: ignore[arg-type]

    def _code(self) -> bool:
        """Take a fence, a reStructuredText code directive or an indented literal."""
        line = self.lines[self.at]
        fence = _FENCE.match(line.text)
        if fence and not (fence.group(1)[0] == "`" and "`" in line.text[fence.end() :]):
            self.at += 1
            start = line.start + fence.start(1)
            self._code_until(fence.group(1), start, fence.group(2), fence.start(1))
            return True
        directive = _RST_CODE.match(line.text)
        if directive:
            self.at += 1
            self._indented(directive.group(1))
            return True
        if _DIRECTIVE.match(line.text) and not line.text.split("::", 1)[1].strip():
            self.at += 1
            return True
        if self.literal or self._is_indented_code(line):
            self.literal = False
            if line.text[:1] in " \t":
                self._indented("")
                return True
        return False

    def _is_indented_code(self, line: _Line) -> bool:
        after_blank = self.at == 0 or not self.lines[self.at - 1].text.strip()
        in_list = bool(self.blocks) and self.blocks[-1].kind in {BlockKind.ITEM, BlockKind.STEP}
        deep = line.text.startswith(("    ", "\t")) and self.markup in {"markdown", "text"}
        return deep and after_blank and not in_list and not _ITEM.match(line.text)

    def _code_until(self, fence: str, start: int, language: str, margin: int) -> None:
        """Take lines up to the closing fence; an open fence runs to the end."""
        self.group += 1
        first = self.at
        closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
        while self.at < len(self.lines) and not closing.match(self.lines[self.at].text):
            self.at += 1
        inside = self.lines[first : self.at]
        closed = self.at < len(self.lines)
        end = self.lines[self.at].end if closed else (inside[-1].end if inside else start)
        self.at += closed
        if any(line.text.strip() for line in inside):
            body = (inside[0].start, inside[-1].end)
            begin = start if fence and start < body[0] else body[0]
            self._add(BlockKind.CODE, begin, end, language=language, body=body, depth=margin)

    def _indented(self, language: str) -> None:
        """Take blank and indented lines."""
        first = self.at
        while self.at < len(self.lines):
            text = self.lines[self.at].text
            if text.strip() and text[0] not in " \t":
                break
            self.at += 1
        inside = [line for line in self.lines[first : self.at] if line.text.strip()]
        while inside and re.match(r"\s+:[\w-]+:", inside[0].text):
            inside.pop(0)
        if inside:
            self.group += 1
            self._add(BlockKind.CODE, inside[0].start, inside[-1].end, language=language)

    def _heading(self) -> bool:
        """Take an ATX or underlined heading, or a line that is markup alone."""
        line = self.lines[self.at]
        if _ATX.match(line.text):
            self.group += 1
            self._add(BlockKind.HEADING, line.start, line.end)
            self.at += 1
            return True
        if _SKIPPED.match(line.text) or (self.markup == "mdx" and _MODULE.match(line.text)):
            self.at += 1
            return True
        below = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        if _UNDERLINE.match(below) and not _ITEM.match(line.text) and "|" not in line.text:
            self.group += 1
            self._add(BlockKind.HEADING, line.start, line.end)
            self.at += 2
            return True
        return False

    def _table(self) -> bool:
        line = self.lines[self.at]
        below = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        if "|" not in line.text or "-" not in below or not _DELIMITER.match(below):
            return False
        self.header = cells(line.text)
        self.at += 2
        self._rows()
        return True

    def _rows(self) -> None:
        self.group += 1
        while self.at < len(self.lines) and "|" in self.lines[self.at].text:
            line = self.lines[self.at]
            self._add(BlockKind.ROW, line.start, line.end, header=self.header)
            self.at += 1

    def _prose(self) -> None:
        """Take a paragraph, a list item or a definition."""
        line = self.lines[self.at]
        item = _ITEM.match(line.text)
        kind, start, number, depth = BlockKind.PARAGRAPH, line.start, 0, 0
        if item:
            kind = BlockKind.STEP if item.group(2) else BlockKind.ITEM
            number = int(item.group(2)) if (item.group(2) or "").isdigit() else 0
            start, depth = line.start + item.end(), len(item.group(1).expandtabs(_INDENT))
        first = self.at
        self.at += 1
        end = self._paragraph_end(line)
        follows = bool(self.blocks) and self.blocks[-1].kind is kind and item is not None
        self.group += not follows
        if not item and self._is_term(first):
            kind = BlockKind.TERM
        self._add(kind, start, end, number=number, depth=depth)
        last = self.lines[self.at - 1].text.rstrip()
        self.literal = last.endswith("::") and self.markup in {"rst", "text"}

    def _is_term(self, first: int) -> bool:
        """Return whether the line below the paragraph's first begins a definition."""
        return first + 1 < self.at and bool(_TERM.match(self.lines[first + 1].text))

    def _paragraph_end(self, line: _Line) -> int:
        """Step over the lines that continue a paragraph and return its end."""
        end = line.end
        while self.at < len(self.lines):
            text = self.lines[self.at].text
            if not text.strip() or _ITEM.match(text) or _FENCE.match(text) or _ATX.match(text):
                break
            if _SKIPPED.match(text) or _DIRECTIVE.match(text):
                break
            end = self.lines[self.at].end
            self.at += 1
        return end


def cells(row: str) -> tuple[str, ...]:
    """Return the raw cells of a table row; an escaped bar does not part cells."""
    line = row.strip().lstrip(">").strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return tuple(x.strip().replace("\\|", "|") for x in re.split(r"(?<!\\)\|", line))


def _lines(text: str) -> list[_Line]:
    """Return the lines without their ends."""
    found: list[_Line] = []
    at = 0
    for raw in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text):
        found.append(_Line(at, raw.rstrip("\r\n")))
        at += len(raw)
    return found


def _without_comments(text: str) -> str:
    """Return the text with comments blanked out, every offset and line end kept."""
    if "<!--" not in text and "{/*" not in text:
        return text
    fences = [
        (found.start(), found.end())
        for found in re.finditer(
            r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", text, re.MULTILINE | re.DOTALL
        )
    ]

    def blank(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in fences):
            return found.group()
        return re.sub(r"[^\r\n]", " ", found.group())

    return re.sub(r"<!--.*?(?:-->|\Z)|\{/\*.*?(?:\*/\}|\Z)", blank, text, flags=re.DOTALL)
