"""Merging ranked lists: by weighted scores where they compare, by reciprocal rank elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fingerpost.decide.ranks import RANK_CONSTANT, reciprocal_rank
from fingerpost.retrieve.weights import weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RANK_CONSTANT", "convex", "covering", "order", "reciprocal_rank"]


def convex(
    lexical: NDArray[np.float64], vector: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """Return ``weight * lexical + (1 - weight) * vector`` by row.

    Args:
        lexical: Share of the score that a perfect match would have, 0 to about 1.
        vector: Cosine; ``nan`` where unknown takes the least known cosine (0 with none), so
            that a chunk without a vector is neither lost nor favoured.
        weight: Of the lexical leg, 0 to 1.
    """
    unknown = np.isnan(vector)
    known = vector[~unknown]
    least = float(known.min()) if len(known) else 0.0
    return weight * lexical + (1 - weight) * np.where(unknown, least, vector)


def covering(score: float, share: float) -> float:
    """Return a fused score drawn towards the share of the question that a chunk holds.

    BM25 lets one rare word outweigh two others, and a vector sees none of them; what holds more
    of the question is the better of two alike.

    Args:
        score: Fused, 0 to about 1.
        share: As `Question.coverage` gives it, 0 to 1.
    """
    weight = weights().coverage
    return (score + weight * share) / (1 + weight)


def order(scores: NDArray[np.float64], tie: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return row numbers, best score first; equal scores by ``tie``, ascending."""
    return np.lexsort((tie, -scores)).astype(np.int64)
