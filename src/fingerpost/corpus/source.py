"""The text that is parsed, and where each of its characters stands in the file."""

from __future__ import annotations

from dataclasses import dataclass

from fingerpost.corpus.blocks import Block
from fingerpost.text.weave import Weave


@dataclass(frozen=True, slots=True)
class ParsedText:
    r"""A document's body as blocks over a text whose only line ends are ``\n``.

    For Markdown, reStructuredText and plain text the parsed text has the length of the body
    and place ``i`` of it is place ``start + i`` of the file. For HTML and notebooks it is
    woven from pieces of the file, and `place` maps a place back to the piece it came from.

    Attributes:
        text: What was parsed.
        blocks: Its blocks in order, covering every line.
        start: Where the body starts in the file's decoded text.
        end: Where it ends, the length of the decoded text.
        title: Title that the format itself carries (HTML), empty when none.
        language: Language that the format itself carries, empty when none.
        weave: Starts of the pieces in the text and in the file; empty for the identity.
        kind: Format, when text and format alone decide the blocks; else empty.
        note: What of its structure was left out, empty when nothing was.
    """

    text: str
    blocks: list[Block]
    start: int
    end: int
    title: str = ""
    language: str = ""
    weave: Weave | None = None
    kind: str = ""
    note: str = ""

    def place(self, offset: int) -> int:
        """Return where in the file a place of the text stands."""
        if offset <= 0:
            return self.start
        if offset >= len(self.text):
            return self.end
        return self.start + offset if self.weave is None else self.weave.place(offset)
