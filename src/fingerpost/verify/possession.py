"""What a claim says that something has: all of it must stand in the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fingerpost.verify.words import Word

# All that the claim says is that there is such a thing.
_HAS = re.compile(
    r"\bha(?:s|ve)\s+(?:an?|(?:its|their)\s+own)\s+"
    r"(?P<thing>[^\W_][\w'’-]*(?: [\w'’-]+){0,4})\s*[.!]?\s*$",
    re.IGNORECASE,
)


def thing_missing(claim: str, missing: Iterable[Word]) -> str:
    """Return what the claim ends in saying that something has, if a word of it is missing.

    Args:
        claim: Its text.
        missing: Its content words that the evidence does not have.
    """
    match = _HAS.search(claim)
    if match is None:
        return ""
    start, end = match.span("thing")
    return match["thing"] if any(start <= word.start < end for word in missing) else ""
