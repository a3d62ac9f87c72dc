"""One hybrid search: words and vectors, fused with a weight that the question decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.retrieve.dedupe import Group, grouped, one_of_each
from fingerpost.retrieve.features import features
from fingerpost.retrieve.fuse import convex, covering, order
from fingerpost.retrieve.legs import Legs, run_legs
from fingerpost.retrieve.mention import raise_named
from fingerpost.retrieve.pack import spread
from fingerpost.retrieve.question import Question, ask
from fingerpost.retrieve.versions import asked_of, in_meant_version
from fingerpost.retrieve.weights import weights
from fingerpost.stores.base import Reader, Selection, StoredChunk
from fingerpost.types.evidence import Hit, MatchType
from fingerpost.types.query import Filters

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 2
_LEAST_READ = 20
_EXPLAINED = 200
_COVERING = 5


@dataclass(frozen=True, slots=True)
class HybridResult:
    """What one search found.

    Attributes:
        hits: Best first, near-duplicates collapsed, no chunk twice.
        candidates: Every candidate that was read for the hits, in fused order.
        question: The question with its tokens and their rarity.
        legs: All candidates of both legs as columns.
        weight: Of the lexical leg, 0 to 1; ``None`` when one leg ran.
        fallbacks: Fallback names in the order in which they fired.
        features: What decided the weight, by name; empty when one leg ran.
    """

    hits: tuple[Hit, ...]
    candidates: tuple[Hit, ...]
    question: Question
    legs: Legs
    weight: float | None
    fallbacks: tuple[str, ...]
    features: Mapping[str, float]

    @property
    def coverage(self) -> float:
        """Return the rarity-weighted share of the question's tokens that the best hits hold."""
        return coverage_of(self.question, self.hits)


def search(
    reader: Reader,
    text: str,
    *,
    embedder: EmbeddingModel | None,
    filters: Filters | None = None,
    k: int = 5,
    context: Sequence[str] = (),
    explain: bool = False,
) -> HybridResult:
    """Return the ``k`` best chunks for a question.

    Args:
        reader: The index.
        text: The question; blank finds nothing.
        embedder: The index's own model; ``None`` searches by words alone.
        filters: Hold on both legs.
        k: How many hits, >= 0.
        context: Earlier questions of the conversation, oldest first.
        explain: Read every candidate, not only those that the hits were chosen from.

    Raises:
        RetrievalError: No leg could run.
    """
    within = reader.select(filters) if filters else None
    question = ask(reader, text, context)
    return search_for(reader, question, embedder=embedder, within=within, k=k, explain=explain)


def search_for(
    reader: Reader,
    question: Question,
    *,
    embedder: EmbeddingModel | None,
    within: Selection | None,
    k: int,
    explain: bool = False,
) -> HybridResult:
    """Return the ``k`` best chunks for a question that is analysed already. See `search`."""
    legs = run_legs(reader, question, embedder=embedder, within=within)
    weight, named = _weight(question, legs, embedder)
    scores = fused_scores(question, legs, weight)
    ranking = order(scores, legs.keys)
    read: list[Hit] = []
    groups: list[Group] = []
    asked = asked_of(question.text)
    for block in _blocks(ranking, k):
        read += _hits(reader, question, legs, scores, block, first=len(read) + 1)
        groups = grouped(raise_named(_best_first(read), question.text), asked, question.text)
        if len(groups) > k:
            hits = one_of_each(groups, asked, question.text)
            if len(hits) > k:
                break
    else:
        hits = one_of_each(groups, asked, question.text)
    if explain:
        rest = ranking[len(read) : _EXPLAINED]
        read += _hits(reader, question, legs, scores, rest, first=len(read) + 1)
    kept = spread(hits, k)
    if within is None:  # what a filter leaves out is no version to look for
        kept = in_meant_version(reader, kept, asked)
    return HybridResult(
        hits=tuple(kept),
        candidates=tuple(read),
        question=question,
        legs=legs,
        weight=weight,
        fallbacks=legs.fallbacks,
        features=named,
    )


def fused_scores(question: Question, legs: Legs, weight: float | None) -> NDArray[np.float64]:
    """Return the fused score of each candidate; of the one leg that ran, when one did."""
    words = legs.lexical / question.ideal
    if legs.query_vector is None or not legs.n_vector:
        return words
    if weight is None:
        return convex(words, legs.vector, 0.0)
    return convex(words, legs.vector, weight)


def coverage_of(question: Question, hits: Sequence[Hit]) -> float:
    """Return the rarity-weighted share of the question's tokens that the first hits hold."""
    first = hits[:_COVERING]
    told = [searchable_text(hit) for hit in first]
    return question.beside(hit.document for hit in first).coverage(told)


def searchable_text(found: Hit | StoredChunk) -> str:
    """Return what is indexed of a chunk: title, headings and prose."""
    chunk = found.chunk
    head = " ".join((found.document.title, *chunk.heading_path))
    return f"{head}\n{chunk.search_text or chunk.text}"


def _weight(
    question: Question, legs: Legs, embedder: EmbeddingModel | None
) -> tuple[float | None, dict[str, float]]:
    if embedder is None or not legs.n_vector or not legs.n_lexical:
        return None, {}
    named = features(question, legs, embedder.languages)
    return weights().lexical(named), named


def _blocks(ranking: NDArray[np.int64], k: int) -> Iterator[NDArray[np.int64]]:
    """Yield the ranking in growing pieces, so that few chunks are read when few are needed."""
    start, size = 0, max(_BLOCK * k, _LEAST_READ)
    while start < len(ranking) and k > 0:
        yield ranking[start : start + size]
        start, size = start + size, size * 2


def _best_first(read: Sequence[Hit]) -> list[Hit]:
    return sorted(read, key=lambda hit: -hit.score)


def _hits(
    reader: Reader,
    question: Question,
    legs: Legs,
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
    *,
    first: int,
) -> list[Hit]:
    stored = {chunk.key: chunk for chunk in reader.chunks(legs.keys[rows].tolist())}
    hits = []
    for place, row in enumerate(rows.tolist(), first):
        chunk = stored.get(int(legs.keys[row]))
        if chunk is not None:
            fused = min(1.0, max(0.0, float(scores[row])))
            share = question.coverage([searchable_text(chunk)])
            score = question.in_language(covering(fused, share), chunk.chunk.language)
            hits.append(_hit(chunk, legs, row, score=score, fused=fused, place=place))
    return hits


def _hit(
    stored: StoredChunk, legs: Legs, row: int, *, score: float, fused: float, place: int
) -> Hit:
    words, vectors = int(legs.lexical_rank[row]), int(legs.vector_rank[row])
    cosine = float(legs.vector[row])
    by_words = words > 0 and (vectors == 0 or words <= vectors)
    return Hit(
        chunk=stored.chunk,
        document=stored.document,
        score=score,
        match_type=MatchType.KEYWORD if by_words else MatchType.VECTOR,
        lexical_rank=words or None,
        lexical_score=float(legs.lexical[row]) if words else None,
        vector_rank=vectors or None,
        vector_score=None if np.isnan(cosine) else cosine,
        fused_rank=place,
        fused_score=fused,
    )
