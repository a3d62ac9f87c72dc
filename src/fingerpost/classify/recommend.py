"""Capabilities that may help with a question, by the words they share with it."""

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
    left_out = {name.rpartition(":")[2] for name in excluded}
    asked = set(query_tokens(question))
    if not asked:
        return result
    found = []
    for item in capabilities:
        shared = asked.intersection(analyse(f"{item.id} {item.summary}"))
        share = len(shared) / len(asked)
        if share >= _LEAST and item.id not in left_out:
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
