"""Scores for chunks that no leg returned, on the scale of the fused score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.retrieve.fuse import convex, covering
from fingerpost.retrieve.hybrid import HybridResult, searchable_text
from fingerpost.retrieve.legs import cosines
from fingerpost.retrieve.question import Question, token_list
from fingerpost.stores.base import Reader, StoredChunk

if TYPE_CHECKING:
    from numpy.typing import NDArray

_K1, _B = 1.2, 0.75
_MEAN_LENGTH = 150.0  # tokens of a usual chunk


def lexical_share(question: Question, tokens: Sequence[str]) -> float:
    """Return BM25 over the score of a perfect match, 0 to 1.

    Args:
        question: Holds each token's weight and rarity.
        tokens: Of the chunk, in order.
    """
    counts = Counter(t for t in tokens if t in question.rarity)
    norm = _K1 * (1 - _B + _B * len(tokens) / _MEAN_LENGTH)
    score = sum(
        question.tokens[t] * question.rarity[t] * n * (_K1 + 1) / (n + norm)
        for t, n in counts.items()
    )
    return score / question.ideal


def score_chunks(
    reader: Reader, found: HybridResult, stored: Sequence[StoredChunk]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (fused scores, cosines) of chunks that need not be among the candidates.

    Cosines are ``nan`` for chunks without a vector and when the vector leg did not run.
    """
    question, query = found.question, found.legs.query_vector
    texts = [searchable_text(one) for one in stored]
    scores = np.array([lexical_share(question, token_list(text)) for text in texts])
    near = np.full(len(stored), np.nan)
    if query is not None and stored:
        near = cosines(reader, query, [one.key for one in stored])
        scores = convex(scores, near, 0.5 if found.weight is None else found.weight)
    shares = [question.coverage([text]) for text in texts]
    held = [
        question.in_language(covering(float(score), share), one.chunk.language)
        for score, share, one in zip(scores, shares, stored, strict=True)
    ]
    return np.array(held), near
