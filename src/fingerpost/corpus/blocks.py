"""Markdown to top-level blocks with exact places, by the block rules of markdown-it-py.

The rules that decide are markdown-it-py's own (quotes, lists, HTML, tables, references, code).
Three things around them are ours, for speed, and are held to the original by a test that
compares both on random documents: a rule is only asked when the first character of the line
can start its block; the lines of a document are indexed in one pass; tokens carry a place and
no content. Inline rules never run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import StateBlock

from fingerpost.corpus.block_rules import RULES, SPECIAL
from fingerpost.corpus.block_state import Mark, State


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


class _Parser(ParserBlock):
    """The block parser, asking only rules that the first character of a line allows."""

    def __init__(self, disabled: frozenset[str]) -> None:
        super().__init__()
        for name in ("lheading", *disabled):
            self.ruler.disable(name)
        for name, rule, kinds, _ in RULES:
            self.ruler.at(name, rule, {"alt": kinds})
        allowed = [row for row in RULES if row[0] not in disabled]
        self._plain = tuple(rule for name, rule, _, starts in allowed if starts is None)
        self._by_character = {
            character: tuple(
                rule for _, rule, _, starts in allowed if starts is None or character in starts
            )
            for character in SPECIAL
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


def _as_it_is(url: str) -> str:
    return url


def _make(disabled: frozenset[str]) -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    markdown.block = _Parser(disabled)
    # Where a reference leads is not the parser's business here.
    markdown.normalizeLink = _as_it_is  # type: ignore[method-assign]
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
    state = State(text, markdown, code_blocks=not mdx)
    markdown.block.tokenize(state, 0, state.lineMax)
    return _top_level(cast("list[Mark]", state.tokens), text, state)


def _top_level(marks: list[Mark], text: str, state: State) -> list[Block]:
    tops = state.tops
    blocks: list[Block] = []
    n_lines = len(state.bMarks) - 1
    following = [*tops[1:], len(marks)] if tops else []
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
        elif kind == "html" and text.startswith("<!--", state.bMarks[start] + state.tShift[start]):
            blocks.append(Block("comment", start, end))
        else:
            blocks.append(Block(kind, start, end))
    return blocks or ([Block("paragraph", 0, n_lines)] if n_lines else [])


def _lead(blocks: list[Block], start: int) -> int:
    """Give lines before the first block (reference definitions, blanks) a block of their own."""
    if start:
        blocks.append(Block("paragraph", 0, start))
    return start
