"""Characters that no reader sees: escapes, control, direction and zero-width ones."""

from __future__ import annotations

import re

from fingerpost.verify.shown import Shown

_UNSEEN = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[@-Z\\-_])?"
    "|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)


def without_unseen(text: str) -> str:
    """Return the text as it looks, for comparison."""
    return _UNSEEN.sub("", text)


def seen(text: str) -> Shown | None:
    """Return what is seen of a source and where it stands; ``None`` when that is all of it."""
    if _UNSEEN.search(text) is None:
        return None
    pieces: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    at = length = 0
    for start, end in [*(match.span() for match in _UNSEEN.finditer(text)), (len(text),) * 2]:
        if start > at:
            pieces.append(text[at:start])
            starts.append(length)
            places.append(at)
            length += start - at
        at = end
    return Shown("".join(pieces), tuple(starts), tuple(places))
