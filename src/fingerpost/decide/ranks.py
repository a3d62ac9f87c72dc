"""Merging ranked lists whose scores do not compare, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

RANK_CONSTANT: Final = 60


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
