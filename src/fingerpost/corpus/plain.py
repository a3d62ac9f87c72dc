"""Plain text: paragraphs between blank lines, no headings, no markup."""

from __future__ import annotations

from fingerpost.corpus.blocks import Block

MAX_LINES = 100_000
_MERGED_LINES = 100


def parse_plain(text: str) -> list[Block]:
    r"""Return a block for each paragraph of text whose only line ends are ``\n``.

    Of a text with more than `MAX_LINES` lines a block is a hundred lines or more, so that
    memory does not grow with the number of paragraphs.
    """
    blocks: list[Block] = []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    least = 1 if len(lines) <= MAX_LINES else _MERGED_LINES
    start = 0
    blank_before = False
    for number, line in enumerate(lines):
        blank = not line or line.isspace()
        if blank_before and not blank and number - start >= least:
            blocks.append(Block("plain", start, number))
            start = number
        blank_before = blank
    if lines:
        blocks.append(Block("plain", start, len(lines)))
    return blocks
