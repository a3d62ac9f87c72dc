"""Classification by a decision model: one choice among the tiers."""

from __future__ import annotations

from typing import Final

from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.question import AnswerStatus, Choice, DecisionAnswer

TIER_QUESTION: Final = Choice(
    "tier",
    "How much of a body of documentation has to be read to answer the question?",
    {
        "T0": "None of it: a greeting, thanks or small talk",
        "T1": "One passage: a single fact, setting, command, definition or step",
        "T2": "A few passages that must be joined: a procedure with conditions, how two parts "
        "work together, a cause spread over pages",
        "T3": "Much of it: a comparison, an overview, or several independent questions",
    },
)
"""Asked in the same call as the questions about the sources."""


def classification_of(answer: DecisionAnswer | None, model: str) -> ClassificationResult | None:
    """Return the tier that a decision model chose, ``None`` when it did not choose.

    Args:
        answer: To `TIER_QUESTION`, checked; without probabilities the confidence is 0, so that
            the tier goes up by one.
        model: Provider and model that answered.
    """
    if answer is None or answer.status is not AnswerStatus.ANSWERED or not answer.label:
        return None
    tier = Tier(tuple(TIER_QUESTION.options).index(answer.label))
    told = ", ".join(f"{label} {share:.2f}" for label, share in answer.probabilities.items())
    return ClassificationResult(
        tier=tier,
        strategy=Strategy.for_tier(tier),
        confidence=answer.probabilities.get(answer.label, 0.0),
        reasoning=f"{model} chose {tier.label} ({told or 'without probabilities'}).",
        internal_knowledge_sufficient=tier is Tier.TRIVIAL,
        decided_by=DecidedBy.DECISION,
        scores=dict(answer.probabilities),
    )
