"""The block rules: markdown-it-py's own behind cheap questions, and four that are ours.

Ours do what the originals do (a test compares them), without content: a paragraph and a setext
heading in one pass, an ATX heading, a table without cells, the end of a top-level fence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

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

Rule = Callable[[StateBlock, int, int, bool], bool]

_MAX_INDENT = 3
_MAX_LEVEL = 6


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
        mark.content = state.getLines(start, line, state.blkIndent, False).strip()
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
RULES: tuple[tuple[str, Rule, list[str], str | None], ...] = (
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
SPECIAL = "`~>*-_+0123456789[<#"
_INTERRUPTERS: dict[str, tuple[Rule, ...]] = {
    character: tuple(
        rule
        for _, rule, kinds, starts in RULES
        if "paragraph" in kinds and starts is not None and character in starts
    )
    for character in SPECIAL
    if character != "["
}
