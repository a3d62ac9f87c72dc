"""Vectors as a provider tells them, checked one by one. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vector", "in_order", "unit_vector"]

Vector = NDArray[np.float32]


def in_order(told: Sequence[tuple[object, object]], n: int) -> list[object] | None:
    """Return the vectors by index, ``None`` when the indexes are not just 0 to ``n`` - 1."""
    by_index = {index: vector for index, vector in told if type(index) is int}
    if len(told) != n or sorted(by_index) != list(range(n)):
        return None
    return [by_index[index] for index in range(n)]


def unit_vector(told: object) -> Vector | str:
    """Return a vector at unit length, or what is wrong with it."""
    if not isinstance(told, list) or not all(type(x) in {int, float} for x in told):
        return "is no list of numbers"
    if not told:
        return "is empty"
    try:
        vector = np.array(told, dtype=np.float64)
    except OverflowError:
        return "holds a number beyond all bounds"
    if not np.isfinite(vector).all():
        return "holds a number that is not finite"
    longest = float(np.abs(vector).max())
    if longest == 0.0:
        return "is zero in all dimensions"
    vector /= longest  # so that squares neither vanish nor overflow
    return (vector / np.linalg.norm(vector)).astype(np.float32)
