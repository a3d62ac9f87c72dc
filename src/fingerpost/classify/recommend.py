"""Capabilities of an engine that only lists them, recommended by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fingerpost.text.analyse import analyse, query_tokens
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.plan import Capability, CapabilityRecommendation

_MOST = 5
_LEAST = 0.2


def recommend(
    result: ClassificationResult,
    question: str,
    capabilities: Sequence[Capability],
    excluded: Sequence[str] = (),
) -> ClassificationResult:
    """Return the classification with up to five recommendations, best first.

    The confidence of one is the share of the question's telling words that its id and summary
    hold; below 0.2 nothing is recommended.

    Args:
        result: Of a classifier without a model.
        question: Made to stand alone.
        capabilities: What there is.
        excluded: Ids that must not be recommended, with or without their kind.
    """
    asked = set(query_tokens(question))
    if not asked:
        return result
    found = []
    for item in capabilities:
        shared = asked.intersection(analyse(f"{item.id} {item.summary}"))
        share = len(shared) / len(asked)
        if share >= _LEAST and not item.is_among(excluded):
            found.append((share, item, sorted(shared)))
    best = sorted(found, key=lambda entry: (-entry[0], entry[1].full_id))[:_MOST]
    return replace(
        result,
        recommendations=tuple(
            CapabilityRecommendation(
                kind=item.kind,
                id=item.id,
                reasoning=f"shares the words {', '.join(shared)}",
                confidence=share,
                priority=place,
            )
            for place, (share, item, shared) in enumerate(best, start=1)
        ),
    )
