"""A first cheap lexical look at the index, for the classifier."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.retrieve.hybrid import searchable_text
from fingerpost.retrieve.question import ask
from fingerpost.stores.base import Reader, StoredChunk
from fingerpost.types.evidence import FirstLook
from fingerpost.types.query import Filters

_LOOKED_AT = 10


def first_look(reader: Reader, text: str, filters: Filters) -> FirstLook:
    """Return what one lexical search says about a question. Runs no model.

    All zeros when the question has no content term, or none of them is in the index.
    """
    question = ask(reader, text)
    if not question.n_known:
        return FirstLook(0.0, 0.0, 0.0, 0, 0.0, 0.0)
    within = reader.select(filters) if filters else None
    found = reader.search_words(question.words(), _LOOKED_AT, within)
    scores = dict(found)
    chunks = reader.chunks([key for key, _ in found])
    texts = [searchable_text(stored) for stored in chunks]
    return FirstLook(
        coverage=question.coverage(texts[:1]),
        pooled_coverage=question.coverage(texts),
        known_terms=question.n_known / len(question.rarity),
        n_documents=len({stored.document.id for stored in chunks}),
        score_gap=_gap(chunks, scores),
        score_decay=found[-1][1] / found[0][1] if len(found) == _LOOKED_AT else 0.0,
    )


def _gap(chunks: Sequence[StoredChunk], scores: dict[int, float]) -> float:
    best: dict[str, float] = {}
    for stored in chunks:
        best.setdefault(stored.document.id, scores[stored.key])
    ordered = sorted(best.values(), reverse=True)
    if not ordered:
        return 0.0
    if len(ordered) == 1:
        return 1.0
    return (ordered[0] - ordered[1]) / ordered[0]
