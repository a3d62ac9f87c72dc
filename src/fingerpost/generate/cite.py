"""Markers in generated text: which source each one names, whole or as a stream."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fingerpost.types import Citation, Span

_LIST = r"[ \t]*[0-9０-９]{1,6}(?:[ \t]*[,，、;；–-][ \t]*[0-9０-９]{1,6})*[ \t]*"
_PLACE = r"(?:†[^】\n]{0,60})?"  # what models that browse add: lines, or the word source
_MARKER = re.compile(
    rf"([ \t]*)(?:\[\[({_LIST})\]\]|\[({_LIST})\]|［({_LIST})］|【({_LIST}){_PLACE}】)"
)
_PARTIAL = re.compile(
    rf"[ \t]*(?:$|(?:\[\[?|［|【)[0-9０-９ \t,，、;；–-]*\]?$|【{_LIST}†[^】\n]{{0,60}}$)"
)
_PART = re.compile(r"([0-9０-９]+)[ \t]*(?:[–-][ \t]*([0-9０-９]+))?")
_SPECIAL = re.compile(r"[ \t]*[\[［【]|[ \t]+$|`+|\n")
_FENCE_START = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})([^\n]*)")
_MAYBE_FENCE = re.compile(r"[ \t]{0,3}(?:$|`{1,2}$|~{1,2}$|`{3}|~{3})")
# A removed marker must not let what stands around it close up to a new one.
_OPEN = re.compile(r"[\[［【][0-9０-９ \t,，、;；–-]*$|【[0-9０-９ \t,，、;；–-]*†[^】\n]*$")
_MAX_MARKER = 80
_MAX_RANGE = 20


@dataclass(slots=True)
class MarkerStream:
    """Clean a text that arrives in pieces split anywhere; equals `resolve_markers` on it all.

    ``[1]``, ``[1, 2]``, ``[1-3]``, ``[[4]]``, ``［１］``, ``【1】`` and ``【1†L3-L5】`` become
    ``[n]``, one per number; numbers that name no source are removed and counted. Fenced and
    inline code stays as it is. Text is held back only while it may still belong to a marker or
    to code.

    Attributes:
        n_sources: Markers may name 1 to ``n_sources``.
        citations: Markers found so far, in reading order, with spans in the clean text.
        removed: Numbers so far that named no source.
    """

    n_sources: int
    citations: list[Citation] = field(default_factory=list)
    removed: int = 0
    _held: str = ""
    _fence: str = ""
    _length: int = 0
    _line_start: bool = True
    _verbatim: bool = False
    _tail: str = ""

    def feed(self, delta: str) -> str:
        """Take the next piece and return the clean text that is certain by now."""
        self._held += delta
        return self._drain(last=False)

    def close(self) -> str:
        """Return the clean rest; nothing may be fed afterwards."""
        return self._drain(last=True)

    def _drain(self, *, last: bool) -> str:
        """Consume the held text as far as it is decided."""
        out: list[str] = []
        at = 0
        while at < len(self._held):
            step = self._step(at, last=last)
            if step is None:
                break
            at, text = step
            out.append(text)
            self._length += len(text)
            self._tail = (self._tail + text)[-_MAX_MARKER:]
        self._held = self._held[at:]
        return "".join(out)

    def _step(self, at: int, *, last: bool) -> tuple[int, str] | None:
        """Return (next position, clean text) for the next element, ``None`` to wait."""
        held = self._held
        line_end = held.find("\n", at) + 1
        if self._line_start and not (line_end or last) and _MAYBE_FENCE.match(held, at):
            return None
        if self._line_start:
            self._line_start = False
            self._verbatim = self._fenced(held[at : line_end or len(held)])
        if self._verbatim:
            end = line_end or len(held)
            self._line_start = bool(line_end)
            return end, held[at:end]
        return self._prose(at, last=last)

    def _fenced(self, line: str) -> bool:
        """Return whether the line belongs to fenced code; opens and closes fences."""
        found = _FENCE_START.match(line)
        if self._fence:
            closes = (
                found is not None
                and found.group(1).startswith(self._fence)
                and not found.group(2).strip()
            )
            self._fence = "" if closes else self._fence
            return True
        if found is None or (found.group(1)[0] == "`" and "`" in found.group(2)):
            return False
        self._fence = found.group(1)
        return True

    def _prose(self, at: int, *, last: bool) -> tuple[int, str] | None:
        """Step over plain text, a line end, inline code or a marker."""
        held = self._held
        special = _SPECIAL.search(held, at)
        if special is None:
            return len(held), held[at:]
        if special.start() > at:
            return special.start(), held[at : special.start()]
        if special.group().startswith("`"):
            return self._code(at, special.group(), last=last)
        if special.group() == "\n":
            self._line_start = True
            return at + 1, "\n"
        return self._marker(at, special.end(), last=last)

    def _code(self, at: int, ticks: str, *, last: bool) -> tuple[int, str] | None:
        """Step over inline code, or over back-ticks that open none on this line."""
        held = self._held
        after = at + len(ticks)
        if after == len(held) and not last:
            return None
        closing = re.compile(rf"(?<!`)`{{{len(ticks)}}}(?!`)|\n").search(held, after)
        if closing is None and not last:
            return None
        if closing is None or closing.group() == "\n":
            return after, ticks
        if closing.end() == len(held) and not last:
            return None
        return closing.end(), held[at : closing.end()]

    def _marker(self, at: int, opened: int, *, last: bool) -> tuple[int, str] | None:
        """Step over a marker, or over a bracket that opens none."""
        held = self._held
        found = _MARKER.match(held, at)
        begin = at if found is None else found.end(1)
        if found is not None and found.end() - begin <= _MAX_MARKER:
            numbers = next(group for group in found.groups()[1:] if group)
            return found.end(), self._resolved(found.group(1), numbers)
        undecided = _PARTIAL.match(held, at)
        if undecided and not last and len(undecided.group().lstrip(" \t")) <= _MAX_MARKER:
            return None
        return opened, held[at:opened]

    def _resolved(self, blanks: str, numbers: str) -> str:
        """Return the clean form of one marker and record its citations."""
        known: list[int] = []
        for number in _numbers(numbers):
            if not 1 <= number <= self.n_sources:
                self.removed += 1
            elif number not in known:
                known.append(number)
        text = blanks if known else "…" * bool(_OPEN.search(self._tail))
        for position, number in enumerate(known):
            marker = f"[{number}]"
            start = self._length + len(text) + (position > 0)
            text += " " * (position > 0) + marker
            self.citations.append(Citation(marker, number, Span(start, start + len(marker))))
        return text


def resolve_markers(text: str, n_sources: int) -> tuple[str, tuple[Citation, ...], int]:
    """Return the text with clean markers, its citations, and how many numbers were removed.

    Args:
        text: As a model wrote it; see `MarkerStream` for the forms that count as markers.
        n_sources: Markers may name 1 to ``n_sources``.

    Example:
        >>> resolve_markers("Four modes [[2]], not five [9].", 2)[0]
        'Four modes [2], not five.'
    """
    stream = MarkerStream(n_sources)
    clean = stream.feed(text) + stream.close()
    return clean, tuple(stream.citations), stream.removed


def _numbers(text: str) -> list[int]:
    """Return the numbers of a marker, ranges spelled out."""
    numbers: list[int] = []
    for found in _PART.finditer(text):
        first = int(found.group(1))
        final = int(found.group(2) or first)
        if first <= final <= first + _MAX_RANGE:
            numbers.extend(range(first, final + 1))
        else:
            numbers.extend((first, final))
    return numbers
