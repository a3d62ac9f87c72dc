"""Markdown to top-level blocks with exact places, by the block rules of markdown-it-py.

The rules that decide are markdown-it-py's own (quotes, lists, HTML, tables, references, code).
Three things around them are ours, for speed, and are held to the original by a test that
compares both on random documents: a rule is only asked when the first character of the line
can start its block; the lines of a document are indexed in one pass; tokens carry a place and
no content. Inline rules never run.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import sub
from typing import Any, Literal, NamedTuple, cast

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    code,
    fence,
    hr,
    html_block,
    list_block,
    reference,
    table,
)
from markdown_it.token import Token

Rule = Callable[[StateBlock, int, int, bool], bool]

_MAX_INDENT = 3
_MAX_LEVEL = 6


class Block(NamedTuple):
    """A block of a document, in lines of the parsed text.

    Attributes:
        kind: ``heading``, ``paragraph``, ``fence``, ``code``, ``table``, ``list``, ``quote``,
            ``html``, ``comment``, ``rule``.
        start: First line, from 0.
        end: Line after the last one; blank lines that follow belong to the block.
        level: 1 to 6 for a heading, else 0.
        title: Markup of a heading's text.
        parts: Blocks inside a list or quote, in order of their start; ``item`` is the start of
            a list item.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""
    parts: Sequence[Mark] = ()

    def moved(self, n_lines: int) -> Block:
        """Return the block as many lines further down; its parts move with it."""
        for mark in self.parts:
            if mark.map is not None:
                mark.map = [mark.map[0] + n_lines, mark.map[1] + n_lines]
        return self._replace(start=self.start + n_lines, end=self.end + n_lines)


class Mark:
    """A token with a place and no content."""

    __slots__ = (
        "attrs", "block", "children", "content", "hidden", "info", "level", "map", "markup",
        "meta", "nesting", "tag", "type",
    )  # fmt: skip

    def __init__(self, kind: str, level: int, nesting: int) -> None:
        """Keep what the structure needs; rules set the rest and nobody reads it."""
        self.type = kind
        self.level = level
        self.nesting = nesting
        self.map: list[int] | None = None
        self.markup = ""
        self.content = ""


class _State(StateBlock):
    """Line index of a document, built in a few passes in C."""

    def __init__(self, src: str, md: MarkdownIt, *, code_blocks: bool) -> None:
        self.src = src
        self.md = md
        self.env = {}
        self.tokens = []
        lines = src.split("\n")
        if not lines[-1].strip(" \t"):
            lines.pop()
        lengths = list(map(len, lines))
        bare = [line.lstrip(" \t") for line in lines]
        shifts = list(map(sub, lengths, map(len, bare)))
        ends = list(accumulate(lengths, lambda before, length: before + length + 1, initial=-1))
        starts = [end + 1 for end in ends[:-1]]
        self.bMarks = [*starts, len(src)]
        self.eMarks = [*ends[1:], len(src)]
        self.tShift = [*shifts, 0]
        self.sCount = [*shifts, 0]
        if "\t" in src:
            for line, shift in enumerate(shifts):
                if shift and "\t" in lines[line][:shift]:
                    self.sCount[line] = len(lines[line][:shift].expandtabs(4))
        self.bsCount = [0] * len(self.bMarks)
        self.blkIndent = 0
        self.line = 0
        self.lineMax = len(lines)
        self.tight = False
        self.ddIndent = -1
        self.listIndent = -1
        self.parentType = "root"
        self.level = 0
        self.result = ""
        self._code_enabled = code_blocks

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:  # noqa: ARG002 - signature of the base
        if nesting < 0:
            self.level -= 1
        mark = cast("Token", Mark(ttype, self.level, nesting))
        if nesting > 0:
            self.level += 1
        self.tokens.append(mark)
        return mark


def _guarded(rule: Rule, characters: str) -> Rule:
    """Return the rule, asked only when the line's first character can start its block."""

    def ask(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
        at = state.bMarks[start] + state.tShift[start]
        return (
            at < state.eMarks[start]
            and state.src[at] in characters
            and rule(state, start, end, silent)
        )

    return ask


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    """Find the end of a top-level fence in C; leave nested ones to the original rule."""
    if silent or state.blkIndent or state.level or end != state.lineMax:
        return fence(state, start, end, silent)
    if not fence(state, start, end, True):
        return False
    at = state.bMarks[start] + state.tShift[start]
    marker = state.src[at]
    length = 0
    while state.src[at + length : at + length + 1] == marker:
        length += 1
    indent = f" {{0,{_MAX_INDENT}}}" if state._code_enabled else "[ \t]*"  # noqa: SLF001 - same class
    closing = re.compile(f"^{indent}{marker}{{{length},}}[ \t]*$", re.MULTILINE)
    found = closing.search(state.src, state.bMarks[start + 1]) if start + 1 < end else None
    state.line = bisect_right(state.bMarks, found.start(), 0, end) if found else end
    state.push("fence", "", 0).map = [start, state.line]
    return True


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    """Take the head by the original rule and each line up to the table's end, without cells."""
    if start + 2 > end:
        return False
    at = state.bMarks[start + 1] + state.tShift[start + 1]
    if at >= state.eMarks[start + 1] or state.src[at] not in "|-:":
        return False
    if not table(state, start, end, True):
        return False
    if silent:
        return True
    before, state.parentType = state.parentType, "table"
    line = start + 2
    while line < end and not (
        state.sCount[line] < state.blkIndent
        or state.isEmpty(line)
        or state.is_code_block(line)
        or any(rule(state, line, end, True) for rule in _TABLE_ENDS)
    ):
        line += 1
    state.parentType = before
    state.push("table", "", 0).map = [start, line]
    state.line = line
    return True


def _underline(state: StateBlock, line: int) -> int:
    """Return 1 or 2 when the line underlines a setext heading, else 0."""
    if state.sCount[line] < state.blkIndent:
        return 0
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")
    marker = text[:1]
    if marker not in ("-", "=") or text.strip(marker):
        return 0
    return 1 if marker == "=" else 2


def _text(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: ARG001, FBT001 - markdown-it's signature
    """Take a paragraph or, when an underline ends it, a setext heading, in one pass."""
    before, state.parentType = state.parentType, "paragraph"
    line, last, level = start + 1, state.lineMax, 0
    source, begins, shifts, ends = state.src, state.bMarks, state.tShift, state.eMarks
    while line < last:
        at = begins[line] + shifts[line]
        if at >= ends[line]:
            break
        indent = state.sCount[line]
        if indent - state.blkIndent <= _MAX_INDENT:
            first = source[at]
            if first in "-=" and line < end:
                level = _underline(state, line)
                if level:
                    break
            if indent >= 0 and _interrupts(state, line, last, first):
                break
        line += 1
    state.parentType = before
    if level:
        mark = state.push("heading", "", 0)
        mark.markup = "#" * level
        mark.content = state.getLines(start, line, state.blkIndent, False).strip()  # noqa: FBT003
        line += 1
    else:
        mark = state.push("paragraph", "", 0)
    mark.map = [start, line]
    state.line = line
    return True


def _interrupts(state: StateBlock, line: int, last: int, first: str) -> bool:
    rule = _INTERRUPTERS.get(first)
    if rule and any(one(state, line, last, True) for one in rule):
        return True
    return _table(state, line, last, True)


def _atx(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: ARG001, FBT001 - markdown-it's signature
    """Take an ATX heading as one token."""
    if state.is_code_block(start):
        return False
    text = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    bare = text.lstrip("#")
    level = len(text) - len(bare)
    if not 1 <= level <= _MAX_LEVEL or (bare and bare[0] not in " \t"):
        return False
    if not silent:
        title = bare.rstrip(" \t")
        unclosed = title.rstrip("#")
        if unclosed and unclosed[-1] in " \t":
            title = unclosed
        mark = state.push("heading", "", 0)
        mark.markup = "#" * level
        mark.content = title.strip()
        mark.map = [start, start + 1]
        state.line = start + 1
    return True


def _code(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    """Ask the original only where a line is indented like code."""
    return state.is_code_block(start) and code(state, start, end, silent)


_LIST_CHARACTERS = "*+-0123456789"
_QUOTE = _guarded(blockquote, ">")
_FENCE = _guarded(_fence, "`~")
_HR = _guarded(hr, "*-_")
_LIST = _guarded(list_block, _LIST_CHARACTERS)
_HTML = _guarded(html_block, "<")
_ATX = _guarded(_atx, "#")
_TABLE_ENDS: tuple[Rule, ...] = (_FENCE, _QUOTE, _HR, _LIST, _HTML, _ATX)

# name, rule, the block kinds it can interrupt, the characters that it starts with
_RULES: tuple[tuple[str, Rule, list[str], str | None], ...] = (
    ("table", _table, ["paragraph", "reference"], None),
    ("code", _code, [], None),
    ("fence", _FENCE, ["paragraph", "reference", "blockquote", "list"], "`~"),
    ("blockquote", _QUOTE, ["paragraph", "reference", "blockquote", "list"], ">"),
    ("hr", _HR, ["paragraph", "reference", "blockquote", "list"], "*-_"),
    ("list", _LIST, ["paragraph", "reference", "blockquote"], _LIST_CHARACTERS),
    ("reference", reference, [], "["),
    ("html_block", _HTML, ["paragraph", "reference", "blockquote"], "<"),
    ("heading", _ATX, ["paragraph", "reference", "blockquote"], "#"),
    ("paragraph", _text, [], None),
)
_SPECIAL = "`~>*-_+0123456789[<#"
_INTERRUPTERS: dict[str, tuple[Rule, ...]] = {
    character: tuple(
        rule
        for _, rule, kinds, starts in _RULES
        if "paragraph" in kinds and starts is not None and character in starts
    )
    for character in _SPECIAL
    if character != "["
}


class _Parser(ParserBlock):
    """The block parser, asking only rules that the first character of a line allows."""

    def __init__(self, disabled: frozenset[str]) -> None:
        super().__init__()
        for name in ("lheading", *disabled):
            self.ruler.disable(name)
        for name, rule, kinds, _ in _RULES:
            self.ruler.at(name, rule, {"alt": kinds})
        allowed = [row for row in _RULES if row[0] not in disabled]
        self._plain = tuple(rule for name, rule, _, starts in allowed if starts is None)
        self._by_character = {
            character: tuple(
                rule for _, rule, _, starts in allowed if starts is None or character in starts
            )
            for character in _SPECIAL
        }

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803 - the base's names
        line = startLine
        deepest = state.md.options.maxNesting
        blank_before = False
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            if state.level >= deepest:
                state.line = endLine
                break
            first = state.src[state.bMarks[line] + state.tShift[line]]
            for rule in self._by_character.get(first, self._plain):
                if rule(state, line, endLine, False):
                    break
            state.tight = not blank_before
            line = state.line
            if line - 1 < endLine and state.isEmpty(line - 1):
                blank_before = True
            if line < endLine and state.isEmpty(line):
                blank_before = True
                line += 1
                state.line = line


def _make(disabled: frozenset[str]) -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    markdown.block = _Parser(disabled)
    return markdown


_MARKDOWN = _make(frozenset())
# MDX has neither indented code nor HTML blocks: what is indented is inside a component.
_MDX = _make(frozenset({"code", "html_block"}))

_KINDS = {
    "heading": "heading",
    "paragraph": "paragraph",
    "fence": "fence",
    "code_block": "code",
    "table": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
    "list_item_open": "item",
}


def parse_blocks(text: str, *, mdx: bool = False) -> list[Block]:
    r"""Return the top-level blocks of Markdown text, in order, covering every line.

    Args:
        text: Markdown whose only line ends are ``\n``, without front matter.
        mdx: Whether indented code and HTML blocks do not exist.
    """
    markdown = _MDX if mdx else _MARKDOWN
    state = _State(text, markdown, code_blocks=not mdx)
    markdown.block.tokenize(state, 0, state.lineMax)
    return _top_level(cast("list[Mark]", state.tokens), text, state)


def _top_level(marks: list[Mark], text: str, state: _State) -> list[Block]:
    tops = [
        position
        for position, mark in enumerate(marks)
        if mark.level == 0 and mark.nesting >= 0 and mark.map is not None
    ]
    blocks: list[Block] = []
    n_lines = len(state.bMarks) - 1
    following: list[Any] = [*tops[1:], len(marks)]
    for position, next_position in zip(tops, following, strict=True):
        mark = marks[position]
        start = cast("list[int]", mark.map)[0]
        end = n_lines
        if next_position < len(marks):
            end = cast("list[int]", marks[next_position].map)[0]
        kind = _KINDS[mark.type]
        if not blocks:
            start = _lead(blocks, start)
        if kind == "heading":
            blocks.append(Block(kind, start, end, len(mark.markup), mark.content))
        elif kind in ("list", "quote"):
            blocks.append(Block(kind, start, end, 0, "", marks[position + 1 : next_position]))
        elif kind == "html" and text.startswith(
            "<!--", state.bMarks[start] + state.tShift[start]
        ):
            blocks.append(Block("comment", start, end))
        else:
            blocks.append(Block(kind, start, end))
    return blocks or ([Block("paragraph", 0, n_lines)] if n_lines else [])


def _lead(blocks: list[Block], start: int) -> int:
    """Give lines before the first block (reference definitions, blanks) a block of their own."""
    if start:
        blocks.append(Block("paragraph", 0, start))
    return start
