"""Graph expansion: chunks that a walk along the document graph from the best hits reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.legs import cosines
from fingerpost.retrieve.pagerank import RESTART, Walk, walk_from
from fingerpost.retrieve.score import score_chunks
from fingerpost.retrieve.weights import weights
from fingerpost.stores.base import EdgeKind, Reader, Selection, StoredChunk
from fingerpost.types.evidence import Hit, MatchType

MOST_ADDED = 40
_SEEDS = 5
SHARP = 1
_REACHED = 200
_LEAST = 1e-6
_SAID = {
    EdgeKind.BESIDE: "beside",
    EdgeKind.SECTION: "in one section with",
    EdgeKind.LINK: "linked with",
    EdgeKind.NAMED: "named with",
    EdgeKind.SHARED: "shares a name with",
}


def expand(
    reader: Reader,
    found: HybridResult,
    seeds: Sequence[Hit],
    within: Selection | None = None,
    *,
    depth: int = 2,
) -> list[Hit]:
    """Return the seeds and up to 40 chunks around them, best first.

    A chunk's score is its own for the question and a share of the best seed's, by how much of
    the walk comes to it; what the walk raises stays below the best seed.

    Args:
        reader: The index.
        found: The search that the seeds came from; its weight scores the new chunks.
        seeds: Best first, each chunk once; the walk starts at the first five.
        within: What the filters allow; the walk never leaves it.
        depth: Edges to follow.
    """
    keys = _keys(reader, seeds)
    first = {
        keys[hit.chunk.id]: max(hit.score, _LEAST) ** SHARP
        for hit in seeds[:_SEEDS]
        if hit.chunk.id in keys
    }
    if not first:
        return list(seeds)
    around = _Around(reader, within)
    walk = walk_from(first, around.edges, depth=depth)
    gains = _gains(walk, first, seeds[0].score)
    raised = [
        replace(hit, score=_score(hit.score, gains.get(keys.get(hit.chunk.id, 0), 0.0), seeds[0]))
        for hit in seeds
    ]
    stored = reader.chunks(_nearest(reader, found, gains, frozenset(keys.values())))
    scores, near = score_chunks(reader, found, stored)
    added = [
        Hit(
            chunk=one.chunk,
            document=one.document,
            score=_score(float(score), gains[one.key], seeds[0]),
            match_type=MatchType.GRAPH,
            vector_score=None if np.isnan(cosine) else float(cosine),
            note=note,
        )
        for one, score, cosine, note in zip(
            stored, scores, near, _notes(reader, stored, walk, around), strict=True
        )
    ]
    return sorted([*raised, *added], key=lambda hit: -hit.score)


@dataclass(slots=True)
class _Around:
    """The part of the graph that one expansion has looked at."""

    reader: Reader
    within: Selection | None
    kinds: dict[tuple[int, int], EdgeKind] = field(default_factory=dict)

    def edges(self, nodes: Sequence[int]) -> dict[int, dict[int, float]]:
        """Return weighted edges of some chunks."""
        weight = weights().edges
        found = self.reader.neighbours(nodes, self.within)
        for node, some in found.items():
            self.kinds.update({(node, one.key): one.kind for one in some})
        return {
            node: {one.key: weight[one.kind] / one.n_alike for one in some}
            for node, some in found.items()
        }


def _keys(reader: Reader, hits: Sequence[Hit]) -> dict[str, int]:
    """Return chunk id → key of hits that are in the index."""
    places = reader.keys_of_documents(list(dict.fromkeys(hit.document.id for hit in hits)))
    return {
        hit.chunk.id: places[hit.document.id][hit.chunk.ordinal]
        for hit in hits
        if hit.chunk.ordinal < len(places.get(hit.document.id, ()))
    }


def _gains(walk: Walk, first: Mapping[int, float], best: float) -> dict[int, float]:
    """Return key → what a chunk's score gains; most where all that the best seed passes ends."""
    most = (1 - RESTART) * max(first.values()) / sum(first.values())
    share = weights().graph * best
    return {key: share * min(1.0, mass / most) for key, mass in walk.arrived.items()}


def _score(own: float, gain: float, best: Hit) -> float:
    bounded = min(max(own, 0.0), 1.0)
    return max(bounded, min(bounded + gain, best.score - _LEAST))


def _nearest(
    reader: Reader, found: HybridResult, gains: Mapping[int, float], known: frozenset[int]
) -> list[int]:
    """Return up to 40 new keys that the walk reached: by gain and nearness to the question."""
    ranked = sorted((-gain, key) for key, gain in gains.items() if key not in known)
    reached = [key for _, key in ranked[:_REACHED]]
    query = found.legs.query_vector
    if query is None or len(reached) <= MOST_ADDED:
        return reached[:MOST_ADDED]
    near = np.nan_to_num(cosines(reader, query, reached))
    best = np.argsort(-(near + [gains[key] for key in reached]), kind="stable")[:MOST_ADDED]
    return [reached[place] for place in best.tolist()]


def _notes(reader: Reader, stored: Sequence[StoredChunk], walk: Walk, around: _Around) -> list[str]:
    """Return for each chunk what it was reached from, and by what."""
    origins = [walk.via[one.key] for one in stored]
    wanted = {one.key: one for one in reader.chunks(list(dict.fromkeys(origins)))}
    notes = []
    for one, origin in zip(stored, origins, strict=True):
        there = wanted[origin]
        said = _SAID[around.kinds[origin, one.key]]
        notes.append(f"{said} {there.document.path}:{there.chunk.line_start}")
    return notes
