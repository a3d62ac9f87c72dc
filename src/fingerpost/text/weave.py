"""Text put together from pieces of a file, which knows where each of them stands."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from io import StringIO


def _numbers() -> array[int]:
    """Return a list of numbers that takes 8 bytes for each: a file may hold a million pieces."""
    return array("q")


@dataclass(slots=True)
class Weave:
    """Text put together from pieces of a file, in the order of the file."""

    size: int = 0
    ends_line: bool = False
    _written: StringIO = field(default_factory=StringIO)
    _starts: array[int] = field(default_factory=_numbers)
    _places: array[int] = field(default_factory=_numbers)
    _lengths: array[int] = field(default_factory=_numbers)
    _anchored: array[int] = field(default_factory=_numbers)
    _anchors: array[int] = field(default_factory=_numbers)

    def add(self, text: str, place: int, length: int = 0) -> None:
        """Append text that stands at ``place`` in the file and covers ``length`` characters.

        Text that stands nowhere (a heading's mark) has length 0. What was added before is not
        covered again: of a piece that begins sooner, only the rest counts.
        """
        if not text:
            return
        places = self._places
        if places and place < places[-1]:
            length = max(0, place + length - places[-1])
            place = places[-1]
        self._written.write(text)
        self._starts.append(self.size)
        places.append(place)
        self._lengths.append(length)
        self.size += len(text)
        self.ends_line = text[-1] == "\n"

    def anchor(self, place: int) -> None:
        """Say that what is added next starts at ``place`` already, with its markup."""
        place = max(place, self.end)
        if self._anchored and self._anchored[-1] == self.size:
            self._anchors[-1] = place
            return
        self._anchored.append(self.size)
        self._anchors.append(place)

    @property
    def end(self) -> int:
        """Return the place in the file after the last piece, 0 without one."""
        return self._places[-1] + self._lengths[-1] if self._places else 0

    def text(self) -> str:
        """Return what was put together."""
        return self._written.getvalue()

    def place(self, offset: int) -> int:
        """Return the place in the file of a place in the text."""
        at = bisect_right(self._anchored, offset) - 1
        if at >= 0 and self._anchored[at] == offset:
            return self._anchors[at]
        at = bisect_right(self._starts, offset) - 1
        return self._places[at] + min(offset - self._starts[at], self._lengths[at])
