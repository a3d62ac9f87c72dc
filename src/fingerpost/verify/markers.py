"""Citation markers: ``[1]``, ``[1, 2]``, ``[1-3]``, ``［１］``, ``【1】``, ``[[4]]``, ``[^1]``."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"\d{1,3}"
_LIST = rf"{_NUMBER}(?:\s*[,;、，；\-–—]\s*{_NUMBER}){{0,20}}"
_PLACE = r"(?:†[^】\n]{0,60})?"  # what models that browse add: 【1†L3-L5】
# A link `[1](target)` and, at the start of a line, a definition `[1]: target` are none; a marker
# in brackets of its own that is a link, `[[1]](target)`, is one.
MARKER = re.compile(
    rf"\[\[\^?({_LIST})\]\]\([^()\s]{{0,300}}\)|(?!(?<![^\n])[ \t]*\[\^?\d{{1,3}}\]:)"
    rf"\\?[\[［【]{{1,2}}\s*\^?({_LIST})\s*{_PLACE}\\?[\]］】]{{1,2}}(?!\()"
)
_PART = re.compile(rf"({_NUMBER})(?:\s*([\-–—])\s*(?={_NUMBER}))?")
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_WIDEST_RANGE = 20


class Marker(NamedTuple):
    """One marker in a text: the source numbers it names and where it stands."""

    numbers: tuple[int, ...]
    start: int
    end: int


def _numbers(listed: str) -> tuple[int, ...]:
    found: list[int] = []
    open_range: int | None = None
    for match in _PART.finditer(listed):
        number = int(match.group(1))
        if open_range is not None and open_range < number <= open_range + _WIDEST_RANGE:
            found.extend(range(open_range + 1, number + 1))
        else:
            found.append(number)
        open_range = number if match.group(2) else None
    return tuple(dict.fromkeys(found))


def find_markers(text: str) -> list[Marker]:
    """Return the markers of the text in order; those inside code spans are text, not markers.

    A marker may be glued to a word in prose (``modes[1]``); in code it may not.
    """
    if "[" not in text and "［" not in text and "【" not in text:
        return []
    code = [match.span() for match in _CODE_SPAN.finditer(text)] if "`" in text else []
    found = []
    for match in MARKER.finditer(text):
        if any(start <= match.start() < end for start, end in code):
            continue
        found.append(Marker(_numbers(match[1] or match[2]), match.start(), match.end()))
    return found
