"""Questions that got no answer, as the pages that are missing."""

from fingerpost.gaps.missing import MissingPage, MissingPages, Since, missing_pages
from fingerpost.gaps.read import KeptGaps, read_gaps
from fingerpost.gaps.recheck import Rechecked, recheck

__all__ = [
    "KeptGaps", "MissingPage", "MissingPages", "Rechecked", "Since", "missing_pages", "read_gaps",
    "recheck",
]  # fmt: skip
