"""Groups of vectors that point the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 8


def clusters(vectors: NDArray[np.float32], size: int) -> list[list[int]]:
    """Return the rows in groups of about ``size``, each row in one group, by spherical k-means.

    The same vectors always give the same groups. Groups are in the order of their first rows,
    rows ascending.

    Args:
        vectors: Shape (n, dimension), unit length; a row of zeros joins the first group.
        size: Mean size of a group, >= 1.
    """
    n_groups = -(-len(vectors) // size)
    if n_groups <= 1:
        return [list(range(len(vectors)))] if len(vectors) else []
    centres = vectors[_apart(vectors, n_groups)]
    owner = np.zeros(len(vectors), np.int64)
    for _ in range(_ROUNDS):
        nearest = np.argmax(vectors @ centres.T, axis=1)
        if (nearest == owner).all():
            break
        owner = nearest
        sums = np.zeros_like(centres)
        np.add.at(sums, owner, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), centres)
    groups: dict[int, list[int]] = {}
    for row, group in enumerate(owner.tolist()):
        groups.setdefault(group, []).append(row)
    return list(groups.values())


def _apart(vectors: NDArray[np.float32], n_groups: int) -> list[int]:
    """Return rows that stand far from each other, the first row first."""
    chosen = [0]
    nearest = np.vecdot(vectors, vectors[0])
    while len(chosen) < n_groups:
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, np.vecdot(vectors, vectors[chosen[-1]]))
    return chosen
