"""Another fingerpost index as a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fingerpost.types.document import whole_text
from fingerpost.types.evidence import Evidence, Hit
from fingerpost.types.source import Passage


class _Searchable(Protocol):
    """What a `QueryRouter` can do."""

    async def retrieve(self, query: str, **request: Any) -> Evidence: ...


class IndexRetriever:
    """A `Retriever` over the index of an open `QueryRouter`.

    Whoever opened the router closes it. A passage's metadata hold ``path``, ``source``,
    ``line_start`` and ``line_end``.

    Args:
        router: The router; it classifies and searches as for its own questions.
        request: Arguments of each of its searches, such as ``filters`` or ``tier``.
    """

    def __init__(self, router: _Searchable, **request: Any) -> None:
        self._router = router
        self._request = request

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return the best hits as passages. See `Retriever`."""
        found = await self._router.retrieve(query, **{**self._request, "top_k": top_k})
        return [_passage(hit) for hit in found.hits[:top_k]]


def _passage(hit: Hit) -> Passage:
    chunk, document = hit.chunk, hit.document
    return Passage(
        text=whole_text(chunk, document.format),
        uri=document.uri,
        title=document.title,
        heading=" > ".join(chunk.heading_path),
        score=hit.score,
        metadata={
            "path": document.path,
            "source": document.source,
            "line_start": chunk.line_start,
            "line_end": chunk.line_end,
        },
    )
