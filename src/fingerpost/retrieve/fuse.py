"""Merging ranked lists: by weighted scores where they compare, by reciprocal rank elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_CONSTANT = 60


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
    known = vector[~np.isnan(vector)]
    least = float(known.min()) if len(known) else 0.0
    return weight * lexical + (1 - weight) * np.nan_to_num(vector, nan=least)


def order(scores: NDArray[np.float64], tie: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return row numbers, best score first; equal scores by ``tie``, ascending."""
    return np.lexsort((tie, -scores)).astype(np.int64)


def reciprocal_rank(
    lists: Iterable[Sequence[str]], *, constant: int = RANK_CONSTANT
) -> list[tuple[str, float]]:
    """Return (id, score) over all lists, best first, ties by id.

    Each list adds ``1 / (constant + place)`` for the first time that it names an id (Cormack,
    Clarke and Büttcher, 2009). The order of the lists does not matter. A larger constant
    makes the first places count less against the later ones.

    Raises:
        ValueError: ``constant`` is below 0.
    """
    if constant < 0:
        raise ValueError(f"constant is {constant}, allowed is 0 or more")
    parts: dict[str, list[float]] = {}
    for ranking in lists:
        for place, item in enumerate(dict.fromkeys(ranking), 1):
            parts.setdefault(item, []).append(1 / (constant + place))
    # Sorted before summing: a sum of floats depends on its order.
    scores = {item: sum(sorted(values)) for item, values in parts.items()}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
