"""What a quantity is told for: per minute, an hour, pro Woche."""

from __future__ import annotations

import re

from fingerpost.verify.quantity_words import quantity_words
from fingerpost.verify.words import fold

_PER = re.compile(
    r"(?<=[^\W\d_] )(?:per|an?|each|every|pro|par|por)\s+([^\W\d_]+)|(?<=\w)/([a-z]+)\b",
    re.IGNORECASE,
)


def rates(text: str) -> dict[float, str]:
    """Return seconds → as written for each time that something is told for."""
    units = quantity_words().units
    found: dict[float, str] = {}
    for match in _PER.finditer(text):
        dimension, seconds = units.get(fold(match[1] or match[2]), ("", 0.0))
        if dimension == "time":
            found.setdefault(seconds, match[0].strip())
    return found
