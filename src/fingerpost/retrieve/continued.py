"""What a hit stops short of: the list, table or code that its last line leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fingerpost.stores.base import Reader
from fingerpost.text.unfinished import is_unfinished
from fingerpost.types.evidence import Hit
from fingerpost.types.query import Filters

_FURTHEST = 3


def continued(reader: Reader, hits: Sequence[Hit], filters: Filters) -> list[Hit]:
    """Return the next chunks of hits that stop unfinished, in the order of the hits.

    A chunk goes on in the next one of its document under the same heading, up to three chunks
    further; it has the score and the leg of its hit.

    Args:
        reader: The index.
        hits: That pass the filters.
        filters: Documents pass as their hits do; a chunk in another language than its hit is
            left out where languages are filtered.
    """
    going = [(hit, hit) for hit in hits if is_unfinished(hit.chunk.text)]
    documents = list(dict.fromkeys(hit.document.id for hit, _ in going))
    places = reader.keys_of_documents(documents) if documents else {}
    found: dict[str, list[Hit]] = {}
    for _ in range(_FURTHEST):
        keys = {last.chunk.id: _next(places.get(last.document.id, []), last) for _, last in going}
        wanted = [key for key in keys.values() if key is not None]
        stored = {one.key: one for one in reader.chunks(wanted)} if wanted else {}
        further = []
        for hit, last in going:
            one = stored.get(keys[last.chunk.id] or 0)
            if one is None or one.chunk.heading_path != hit.chunk.heading_path:
                continue
            if filters.languages and one.chunk.language != hit.chunk.language:
                continue
            after = replace(_unranked(hit), chunk=one.chunk, document=one.document)
            found.setdefault(hit.chunk.id, []).append(after)
            if is_unfinished(one.chunk.text):
                further.append((hit, after))
        going = further
    return [after for some in found.values() for after in some]


def _next(keys: Sequence[int], last: Hit) -> int | None:
    place = last.chunk.ordinal + 1
    return keys[place] if place < len(keys) else None


def _unranked(hit: Hit) -> Hit:
    return replace(
        hit,
        lexical_rank=None,
        lexical_score=None,
        vector_rank=None,
        vector_score=None,
        fused_rank=None,
        fused_score=None,
        note=f"goes on from {hit.document.path}:{hit.chunk.line_start}",
    )
