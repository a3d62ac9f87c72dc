"""Questions that set two things side by side."""

from __future__ import annotations

import re
from functools import lru_cache

from fingerpost.classify.smalltalk import after_greeting
from fingerpost.classify.words import read_packaged


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return the forms of a comparison."""
    return tuple(
        re.compile(entry, re.IGNORECASE) for entry in read_packaged("comparison.json")["patterns"]
    )


def compares(text: str) -> bool:
    """Return whether the text asks to compare two things, or when to use which."""
    bare = after_greeting(text).lstrip("¿¡ ")
    return any(pattern.search(bare) for pattern in _patterns())
