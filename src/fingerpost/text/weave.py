"""Text put together from pieces of a file, which knows where each of them stands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


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
