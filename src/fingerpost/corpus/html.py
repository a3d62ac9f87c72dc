"""HTML files as documents."""

from __future__ import annotations

from fingerpost.corpus.blocks import Block
from fingerpost.corpus.source import ParsedText
from fingerpost.text.html import MAX_BLOCKS, read_html

_CROWDED = f"more than {MAX_BLOCKS:,} blocks; the rest was read without headings"


def parse_html(text: str, start: int) -> ParsedText:
    """Return the prose of an HTML file; each line knows where in the file it stands.

    Args:
        text: Decoded file.
        start: Where the body starts (after a byte order mark).
    """
    page = read_html(text, start)
    blocks = [Block(*block) for block in page.blocks]
    return ParsedText(
        page.weave.text(),
        blocks,
        start,
        len(text),
        page.title,
        page.language,
        page.weave,
        note=_CROWDED if page.crowded else "",
    )
