"""Which sources have changed on disk since they were indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from fingerpost.types.answer import SourceCitation
from fingerpost.types.document import Document
from fingerpost.types.evidence import Hit

MOST_FILES: Final = 16
"""Documents that are compared for one result; of the rest it is not known."""


def compared(
    sources: Sequence[SourceCitation],
    hits: Sequence[Hit],
    is_stale: Callable[[Document], bool | None],
) -> tuple[SourceCitation, ...]:
    """Return the sources with ``stale`` set as of now.

    Args:
        sources: Of a result, new or kept.
        hits: That they were made from.
        is_stale: Compares a document with its file; blocks for a moment.
    """
    named = list(dict.fromkeys(source.document_id for source in sources))[:MOST_FILES]
    documents = {hit.document.id: hit.document for hit in hits}
    found = {name: is_stale(documents[name]) for name in named if name in documents}
    flags = [found.get(source.document_id) for source in sources]
    return tuple(
        source if source.stale is flag else replace(source, stale=flag)
        for source, flag in zip(sources, flags, strict=True)
    )
