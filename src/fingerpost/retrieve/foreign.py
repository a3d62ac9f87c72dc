"""Passages of the host's own retrievers, beside the hits of the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from fingerpost.errors import LaneError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.retrieve.dates import dates_told
from fingerpost.retrieve.fuse import RANK_CONSTANT, reciprocal_rank
from fingerpost.retrieve.hybrid import coverage_of, searchable_text
from fingerpost.retrieve.question import Question, ask, token_set
from fingerpost.retrieve.research_notes import FOUND, Notes
from fingerpost.stores.base import Reader
from fingerpost.text.language import detect_language
from fingerpost.types.document import Chunk, Document, Span
from fingerpost.types.evidence import Evidence, Hit, MatchType, PartEvidence
from fingerpost.types.ids import chunk_id, digest, document_id
from fingerpost.types.source import Passage

MAX_CHARS: Final = 8_000
"""Characters of a passage that are read."""
FORMAT: Final = "passage"
_PLACES: Final = frozenset({"", "http", "https", "file"})


def joined(
    reader: Reader,
    evidence: Evidence,
    found: Mapping[str, Sequence[Passage]],
    text: str,
    k: int,
    embedder: EmbeddingModel | None,
) -> Evidence:
    """Return the evidence with the passages among its hits, fused by reciprocal rank (k = 60).

    Args:
        reader: The index, which knows how rare each word is.
        evidence: What the index gave, best first; may be empty.
        found: Name of a source → its passages, best first.
        text: The question.
        k: How many hits are kept.
        embedder: Compares question and passages, as the index's vectors are compared; ``None``
            or one that fails compares words alone.
    """
    lists = [hits_of(name, passages) for name, passages in found.items()]
    foreign = _with_cosines([hit for hits in lists for hit in hits], text, embedder)
    if not foreign:
        return evidence
    by_id = {hit.chunk.id: hit for hit in (*evidence.hits, *foreign)}
    ranking = reciprocal_rank(
        [[hit.chunk.id for hit in hits] for hits in (evidence.hits, *lists) if hits]
    )
    best = len(lists) + 1
    kept = []
    for place, (name, score) in enumerate(ranking[:k], 1):
        hit = by_id[name]
        share = min(1.0, score * (RANK_CONSTANT + 1))
        own = hit.score if hit.match_type is not MatchType.SOURCE else share
        kept.append(replace(hit, score=own, fused_rank=place, fused_score=share / best))
    question, notes = ask(reader, text), Notes(reader, kept)
    return replace(
        evidence,
        hits=tuple(kept),
        candidates=(*kept, *(c for c in evidence.candidates if c.chunk.id not in set(by_id))),
        coverage=coverage_of(question, kept),
        unknown_terms=still_unknown(question, kept),
        parts=tuple(_with_foreign(part, kept, notes) for part in evidence.parts),
        uncovered=tuple(part for part in evidence.uncovered if notes.coverage(part) < FOUND),
    )


def _with_foreign(part: PartEvidence, kept: Sequence[Hit], notes: Notes) -> PartEvidence:
    """Return what is kept for a part: of its own hits, and of foreign ones that say enough."""
    own = {hit.chunk.id for hit in part.hits}
    hits = tuple(
        hit
        for hit in kept
        if hit.chunk.id in own
        or (hit.match_type is MatchType.SOURCE and notes.coverage(part.question, [hit]) >= FOUND)
    )
    return replace(part, hits=hits)


def still_unknown(question: Question, hits: Sequence[Hit]) -> frozenset[str]:
    """Return the terms of a question that neither the index nor a foreign hit knows.

    Versions that the hits are of are known.
    """
    foreign = (hit for hit in hits if hit.match_type is MatchType.SOURCE)
    unknown = question.beside(hit.document for hit in hits).unknown
    return unknown.difference(*(token_set(searchable_text(hit)) for hit in foreign))


def usable_passages(given: object, most: int) -> list[Passage]:
    """Return the passages with text among the first ``most`` things that a retriever gave.

    Raises:
        TypeError: It gave something else, or nothing usable where it gave anything.
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TypeError(f"expected a sequence of Passage, got {type(given).__name__}")
    passages = [item for item in given[:most] if _is_usable(item)]
    if given and not passages:
        raise TypeError("none of what it gave is a Passage with text")
    return passages


def hits_of(source: str, passages: Sequence[Passage]) -> list[Hit]:
    """Return passages as hits, best first, each once; scores fall with their place.

    Args:
        source: Name of the source that they come from.
        passages: Best first, none blank.
    """
    hits: dict[str, Hit] = {}
    for place, passage in enumerate(passages, 1):
        hit = _hit(source, passage, place)
        hits.setdefault(hit.chunk.id, hit)
    return list(hits.values())


def _is_usable(item: object) -> bool:
    if not isinstance(item, Passage):
        return False
    texts = (item.text, item.uri, item.title, item.heading)
    return all(isinstance(text, str) for text in texts) and bool(item.text.strip())


def _hit(source: str, passage: Passage, place: int) -> Hit:
    text = passage.text[:MAX_CHARS]
    uri = passage.uri if _may_be_shown(passage.uri) else ""
    path = uri or passage.title or f"{source}/{digest(text, size=4)}"
    document = Document(
        id=document_id(source, path),
        path=path,
        source=source,
        uri=uri,
        title=passage.title or source,
        content_hash=digest(text, size=32),
        format=FORMAT,
        language=detect_language(text),
        metadata=dates_told(passage.metadata),
    )
    heading = (passage.heading,) if passage.heading else ()
    chunk = Chunk(
        id=chunk_id(document.id, heading, text),
        document_id=document.id,
        ordinal=0,
        text=text,
        span=Span(0, len(text)),
        heading_path=heading,
        line_start=1,
        line_end=1 + text.rstrip("\n").count("\n"),
        language=document.language,
        search_text=text,
    )
    return Hit(
        chunk, document, 1 / place, MatchType.SOURCE, note=f"place {place} of the source {source!r}"
    )


def _may_be_shown(uri: str) -> bool:
    """Return whether an address is a place and no program: a web page, a file, a relative path."""
    try:
        return urlsplit(uri.strip()).scheme in _PLACES
    except ValueError:
        return False


def _with_cosines(hits: list[Hit], text: str, embedder: EmbeddingModel | None) -> list[Hit]:
    if embedder is None or not hits:
        return hits
    try:
        vectors = embedder.embed([text, *(searchable_text(hit) for hit in hits)])
    except LaneError:
        return hits
    return [
        replace(hit, vector_score=float(vectors[0] @ vector))
        for hit, vector in zip(hits, vectors[1:], strict=True)
    ]
