"""Graph expansion: what stands beside, is linked with, or bears the heading of a good hit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.legs import cosines
from fingerpost.retrieve.score import score_chunks
from fingerpost.stores.base import Reader, Selection, WordQuery
from fingerpost.text.analyse import query_tokens
from fingerpost.types.evidence import Hit, MatchType

_SEEDS = 5
_LINKED = 3
_PER_DOCUMENT = 2
_SCANNED = 60
_SAME_HEADING = 10
_HEADING_WEIGHT = 3.0
_ADMITTED = 1000
MOST_ADDED = 40


def expand(
    reader: Reader,
    found: HybridResult,
    seeds: Sequence[Hit],
    within: Selection | None = None,
) -> list[Hit]:
    """Return up to 40 chunks around the seeds that are not among them, best first.

    Args:
        reader: The index.
        found: The search that the seeds came from; its weight scores the new chunks.
        seeds: Best first; the first five are expanded.
        within: What the filters allow; nothing else is returned.
    """
    reasons = _neighbours(reader, seeds[:_SEEDS])
    for key, reason in _linked(reader, found, seeds[:_SEEDS]).items():
        reasons.setdefault(key, reason)
    for key, reason in _same_heading(reader, seeds[:_SEEDS], within).items():
        reasons.setdefault(key, reason)
    if within is not None:
        allowed = admitted(reader, found, within)
        reasons = {key: reason for key, reason in reasons.items() if key in allowed}
    known = {hit.chunk.id for hit in seeds}
    stored = [c for c in reader.chunks(list(reasons)) if c.chunk.id not in known]
    scores, cosines = score_chunks(reader, found, stored)
    hits = [
        Hit(
            chunk=one.chunk,
            document=one.document,
            score=min(1.0, max(0.0, float(score))),
            match_type=MatchType.GRAPH,
            vector_score=None if np.isnan(cosine) else float(cosine),
            note=reasons[one.key],
        )
        for one, score, cosine in zip(stored, scores, cosines, strict=True)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.id))[:MOST_ADDED]


def _neighbours(reader: Reader, seeds: Sequence[Hit]) -> dict[int, str]:
    """Return the chunks before and after each seed in its document, with the reason."""
    places = reader.keys_of_documents(list(dict.fromkeys(s.document.id for s in seeds)))
    found: dict[int, str] = {}
    for seed in seeds:
        keys = places.get(seed.document.id, [])
        for ordinal in (seed.chunk.ordinal - 1, seed.chunk.ordinal + 1):
            if 0 <= ordinal < len(keys):
                lines = f"{seed.document.path}:{seed.chunk.line_start}"
                found.setdefault(keys[ordinal], f"beside {lines}")
    return found


def _linked(reader: Reader, found: HybridResult, seeds: Sequence[Hit]) -> dict[int, str]:
    """Return the chunks nearest to the question of each document linked with a seed's."""
    by_id = {seed.document.id: seed.document.path for seed in reversed(seeds)}
    links = reader.linked_documents(list(by_id))
    origin: dict[str, str] = {}
    for document, path in by_id.items():
        for other in links.get(document, [])[:_LINKED]:
            if other not in by_id:
                origin.setdefault(other, path)
    keys = reader.keys_of_documents(list(origin))
    nearest = _nearest(reader, found, keys)
    return {key: f"linked with {origin[doc]}" for doc, some in nearest.items() for key in some}


def _nearest(
    reader: Reader, found: HybridResult, keys: dict[str, list[int]]
) -> dict[str, list[int]]:
    """Return up to two keys for each document: by vector, else the first ones."""
    query = found.legs.query_vector
    scanned = {document: some[:_SCANNED] for document, some in keys.items()}
    if query is None:
        return {document: some[:_PER_DOCUMENT] for document, some in scanned.items()}
    flat = [key for some in scanned.values() for key in some]
    near = np.nan_to_num(cosines(reader, query, flat))  # without a vector: as far as unrelated
    cosine = dict(zip(flat, near.tolist(), strict=True))
    return {
        document: sorted(some, key=lambda key: (-cosine[key], key))[:_PER_DOCUMENT]
        for document, some in scanned.items()
    }


def _same_heading(reader: Reader, seeds: Sequence[Hit], within: Selection | None) -> dict[int, str]:
    """Return chunks elsewhere whose headings share words with those of the seeds."""
    tokens: dict[str, float] = {}
    for seed in seeds:
        if seed.chunk.heading_path:
            tokens.update(query_tokens(seed.chunk.heading_path[-1]))
    if not tokens:
        return {}
    query = WordQuery(dict(list(tokens.items())[:64]), trail_weight=_HEADING_WEIGHT)
    found = reader.search_words(query, _SAME_HEADING, within)
    return {key: "under an overlapping heading" for key, _ in found}


def admitted(reader: Reader, found: HybridResult, within: Selection) -> set[int]:
    """Return the keys that pass the filters, as far as the question reaches."""
    allowed = set(found.legs.keys.tolist())
    if found.question.tokens:
        words = reader.search_words(found.question.words(), _ADMITTED, within)
        allowed.update(key for key, _ in words)
    if found.legs.query_vector is not None:
        near = reader.search_vectors(found.legs.query_vector, _ADMITTED, within)
        allowed.update(key for key, _ in near)
    return allowed
