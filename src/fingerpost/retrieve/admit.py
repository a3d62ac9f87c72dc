"""What a host's hook gives back, held against the index: nothing foreign is ever cited."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Final

from fingerpost.stores.base import Reader, StoredChunk
from fingerpost.stores.filters import document_filter, language_passes
from fingerpost.types.document import Chunk, Document
from fingerpost.types.evidence import Hit, MatchType
from fingerpost.types.query import Filters

_NUMBER: Final = (Real, type(None))
_ALLOWED: Final[dict[str, type | tuple[type, ...]]] = {
    "chunk": Chunk, "document": Document, "note": str, "sub_query": str, "copies": tuple,
    "lexical_rank": _NUMBER, "lexical_score": _NUMBER, "vector_rank": _NUMBER,
    "vector_score": _NUMBER, "fused_rank": _NUMBER, "fused_score": _NUMBER,
}  # fmt: skip
"""What each field of a hit may be; score and leg are looked at apart."""


def checked(given: object) -> list[Hit]:
    """Return what a hook gave as a list of hits, each of one chunk, their scores from 0 to 1.

    Raises:
        TypeError: It is anything else than a sequence of hits, or a field of one is of a type
            that nothing after this could read.
        ValueError: A number is not finite, or a leg has no such name.
    """
    if not isinstance(given, Sequence) or not all(isinstance(item, Hit) for item in given):
        raise TypeError(f"expected a sequence of Hit, got {type(given).__name__}")
    return [_sound(hit) for hit in given]


def _sound(hit: Hit) -> Hit:
    for name, allowed in _ALLOWED.items():
        value = getattr(hit, name)
        if not isinstance(value, allowed):
            raise TypeError(f"the {name} of a hit is of the type {type(value).__name__}")
        if isinstance(value, Real) and not math.isfinite(value):
            raise ValueError(f"the {name} of a hit is {value!r}")
    if not all(isinstance(path, str) for path in hit.copies):
        raise TypeError("the copies of a hit are no paths")
    leg = MatchType(hit.match_type)
    return replace(hit, score=_bounded(hit.score), match_type=leg, n_chunks=1)


def admitted_hits(reader: Reader, filters: Filters, hits: Sequence[Hit]) -> tuple[list[Hit], int]:
    """Return the hits that the index knows and the filters let pass, and how many are unknown.

    Chunk and document of each are the index's own, whatever the hook made of them. A hit that
    a filter keeps out is none of the unknown ones: hooks are not told of filters.
    """
    places = reader.keys_of_documents(list(dict.fromkeys(hit.document.id for hit in hits)))
    keys = [_key(hit, places.get(hit.document.id, ())) for hit in hits]
    wanted = list(dict.fromkeys(key for key in keys if key is not None))
    stored = {one.key: one for one in reader.chunks(wanted)}
    passes = _passing(filters)
    known: list[tuple[Hit, StoredChunk]] = []
    for hit, key in zip(hits, keys, strict=True):
        own = None if key is None else stored.get(key)
        if own is not None and own.chunk.id == hit.chunk.id:
            known.append((hit, own))
    kept = [
        replace(hit, chunk=own.chunk, document=own.document) for hit, own in known if passes(own)
    ]
    return kept, len(hits) - len(known)


def offered_hits(offered: Sequence[Hit], given: Sequence[Hit]) -> tuple[list[Hit], int]:
    """Return those of the given hits that were offered, and how many were not.

    Only order, score and note are taken from what was given.
    """
    own = {hit.chunk.id: hit for hit in offered}
    kept = [
        replace(own[hit.chunk.id], score=hit.score, note=hit.note)
        for hit in given
        if hit.chunk.id in own
    ]
    return kept, len(given) - len(kept)


def unknown_reason(n_unknown: int, n_given: int) -> str:
    """Return what to say about hits that were dropped."""
    return f"{n_unknown} of {n_given} hits are not in the index"


def _bounded(score: object) -> float:
    if not isinstance(score, Real) or not math.isfinite(score):
        raise ValueError(f"a score must be a finite number, got {score!r}")
    return min(1.0, max(0.0, float(score)))


def _key(hit: Hit, keys: Sequence[int]) -> int | None:
    place = hit.chunk.ordinal
    return keys[place] if 0 <= place < len(keys) else None


def _passing(filters: Filters) -> Callable[[StoredChunk], bool]:
    """Return what tells whether a chunk passes the filters."""
    of_document = document_filter(filters)
    wanted = frozenset(code.casefold() for code in filters.languages)

    def passes(stored: StoredChunk) -> bool:
        if of_document is not None and not of_document(stored.document):
            return False
        own, whole = stored.chunk.language, stored.document.language
        return not wanted or language_passes(wanted, own, whole)

    return passes
