"""Plain text: paragraphs between blank lines, no headings, no markup."""

from __future__ import annotations

from fingerpost.corpus.blocks import Block


def parse_plain(text: str) -> list[Block]:
    r"""Return a block for each paragraph of text whose only line ends are ``\n``."""
    blocks: list[Block] = []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    start = 0
    blank_before = False
    for number, line in enumerate(lines):
        blank = not line or line.isspace()
        if blank_before and not blank:
            blocks.append(Block("plain", start, number))
            start = number
        blank_before = blank
    if lines:
        blocks.append(Block("plain", start, len(lines)))
    return blocks
