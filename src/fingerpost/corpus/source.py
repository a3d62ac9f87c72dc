"""The text that is parsed, and where each of its characters stands in the file."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from fingerpost.corpus.blocks import Block


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
    """

    text: str
    blocks: list[Block]
    start: int
    end: int
    title: str = ""
    language: str = ""
    weave: Weave | None = None
    kind: str = ""

    def place(self, offset: int) -> int:
        """Return where in the file a place of the text stands."""
        if offset <= 0:
            return self.start
        if offset >= len(self.text):
            return self.end
        return self.start + offset if self.weave is None else self.weave.place(offset)


@dataclass(slots=True)
class Weave:
    """Text put together from pieces of a file, in the order of the file."""

    parts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    anchors: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def add(self, text: str, place: int, length: int = 0) -> None:
        """Append text that stands at ``place`` in the file and covers ``length`` characters.

        Text that stands nowhere (a heading's mark) has length 0.
        """
        if not text:
            return
        if self.places:
            place = max(place, self.places[-1])
        self.parts.append(text)
        self.starts.append(self.size)
        self.places.append(place)
        self.lengths.append(length)
        self.size += len(text)

    def anchor(self, place: int) -> None:
        """Say that what is added next starts at ``place`` already, with its markup."""
        self.anchors[self.size] = max(
            place, self.places[-1] + self.lengths[-1] if self.places else 0
        )

    def text(self) -> str:
        """Return what was put together."""
        return "".join(self.parts)

    def place(self, offset: int) -> int:
        """Return the place in the file of a place in the text."""
        if offset in self.anchors:
            return self.anchors[offset]
        at = bisect_right(self.starts, offset) - 1
        return self.places[at] + min(offset - self.starts[at], self.lengths[at])
