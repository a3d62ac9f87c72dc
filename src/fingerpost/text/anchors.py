"""Anchors: what a link says after ``#`` for a heading."""

from __future__ import annotations

import re
from typing import Final

_DROPPED: Final = re.compile(r"[^\w\- ]")


def anchor_of(heading: str) -> str:
    """Return the anchor that most sites make of a heading; an anchor is its own."""
    return _DROPPED.sub("", heading.casefold()).strip().replace(" ", "-")
