"""What a reranker says of texts."""

from __future__ import annotations

from dataclasses import dataclass

from fingerpost.types.result import Usage


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well each text answers a query.

    Attributes:
        scores: One per text, in the order in which the texts were given, 0 to 1. Scores of
            different models, or of different queries, do not compare.
        usage: What the call took.
    """

    scores: tuple[float, ...]
    usage: tuple[Usage, ...] = ()
