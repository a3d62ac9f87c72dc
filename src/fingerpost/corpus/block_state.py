"""Where the block rules of markdown-it-py read lines from and put tokens, made cheap."""

from __future__ import annotations

from itertools import accumulate
from operator import sub
from typing import Literal, cast

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token


class Mark:
    """A token with a place and no content."""

    __slots__ = (
        "attrs", "block", "children", "content", "hidden", "info", "level", "map", "markup",
        "meta", "tag", "type",
    )  # fmt: skip

    def __init__(self, kind: str, level: int) -> None:
        """Keep what the structure needs; rules set the rest and nobody reads it."""
        self.type = kind
        self.level = level
        self.map: list[int] | None = None
        self.markup = ""
        self.content = ""


# Takes what rules say of a closing token; nothing reads it.
_END = cast("Token", Mark("end", 0))


class State(StateBlock):
    """Line index of a document, built in a few passes in C."""

    def __init__(self, src: str, md: MarkdownIt, *, code_blocks: bool) -> None:
        self.src = src
        self.md = md
        self.env = {}
        self.tokens = []
        self.tops: list[int] = []  # places of the top-level tokens
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
        """Append a token with its place still to come; a closing one is not kept."""
        if nesting < 0:
            self.level -= 1
            return _END
        mark = cast("Token", Mark(ttype, self.level))
        if not self.level:
            self.tops.append(len(self.tokens))
        self.level += nesting
        self.tokens.append(mark)
        return mark
