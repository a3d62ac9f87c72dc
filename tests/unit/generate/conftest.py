"""Evidence made by hand from small Markdown texts."""

from __future__ import annotations

import pytest

from fingerpost.types import Chunk, Document, Evidence, Hit, Span


def _hit(
    text: str,
    *,
    path: str = "docs/page.md",
    title: str = "Page",
    headings: tuple[str, ...] = (),
    score: float = 0.8,
    start: int = 0,
    prefix: str = "",
    markup: str = "markdown",
    sub_query: str = "",
    vector_score: float | None = None,
    chunk_id: str = "",
    language: str = "und",
) -> Hit:
    """Return a hit whose chunk begins at ``start`` of its document."""
    document = Document(f"d-{path}", path, "docs", f"file:///{path}", title, "", markup)
    chunk = Chunk(
        chunk_id or f"c-{path}-{start}-{abs(hash(text)) % 10**8}",
        document.id,
        0,
        text,
        Span(start, start + len(text)),
        headings,
        1,
        text.count("\n") + 1,
        language,
        prefix=prefix,
        search_text=text,
    )
    return Hit(chunk, document, score, sub_query=sub_query, vector_score=vector_score)


def _evidence(*hits: Hit, **more: object) -> Evidence:
    """Return evidence of the hits, best first."""
    return Evidence(hits, candidates=hits, **more)  # type: ignore[arg-type]


@pytest.fixture
def hit():
    """Return the maker of hits."""
    return _hit


@pytest.fixture
def evidence():
    """Return the maker of evidence."""
    return _evidence
