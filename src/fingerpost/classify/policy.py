"""What follows from a classification: escalation, caps and forced values. Pure."""

from __future__ import annotations

from dataclasses import replace

from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier

_TOP = int(max(Tier))


def apply_policy(
    result: ClassificationResult,
    *,
    confidence_threshold: float = 0.7,
    max_tier: int = _TOP,
    force_strategy: Strategy | None = None,
    forced_tier: int | None = None,
) -> ClassificationResult:
    """Return ``result`` with the tier and strategy that will run.

    In this order: a forced tier ends the matter, not even ``max_tier`` lowers it. Otherwise a
    tier whose confidence lies below the threshold goes up by one; then ``max_tier`` caps it. A
    strategy weaker than its tier is raised to it; a forced strategy replaces a weaker or a
    stronger one but is itself raised to the tier. What was raised before is not raised again,
    nor is a fallback or a forced result: its confidence says nothing of the question.

    Args:
        result: What a classifier returned.
        confidence_threshold: 0 to 1; 0 never escalates.
        max_tier: 0 to 3.
        force_strategy: Strategy from the configuration, ``None`` for the classifier's own.
        forced_tier: Tier that the caller asked for, 0 to 3, ``None`` for the classifier's own.
    """
    if forced_tier is not None:
        tier = Tier(forced_tier)
        return replace(
            result,
            tier=tier,
            strategy=_strategy(force_strategy or Strategy.for_tier(tier), tier),
            confidence=1.0,
            reasoning=f"{tier.label} was asked for.",
            internal_knowledge_sufficient=tier is Tier.TRIVIAL,
            decided_by=DecidedBy.FORCED,
            escalated_from=None,
        )
    raised_from = result.escalated_from
    tier = result.tier
    unsure = result.confidence < confidence_threshold
    settled = result.decided_by in {DecidedBy.FORCED, DecidedBy.FALLBACK}
    if raised_from is None and unsure and not settled:
        raised_from, tier = tier, Tier(min(tier + 1, _TOP))
    tier = Tier(min(tier, max_tier))
    if raised_from is not None and tier <= raised_from:
        raised_from = None
    # A tier that was lowered takes its own strategy with it, or the cap would cap nothing.
    wanted = result.strategy if tier >= result.tier else Strategy.for_tier(tier)
    return replace(
        result,
        tier=tier,
        strategy=_strategy(force_strategy or wanted, tier),
        internal_knowledge_sufficient=tier is Tier.TRIVIAL,
        escalated_from=raised_from,
        threshold=confidence_threshold,
    )


def fallback_classification(
    reason: str, default_strategy: Strategy = Strategy.SIMPLE
) -> ClassificationResult:
    """Return what stands in for a classification that failed: T1, confidence 0.

    `apply_policy` caps it but does not escalate it: the caller records the failure already, as
    ``classify-fallback``.
    """
    return ClassificationResult(
        tier=Tier.LOOKUP,
        strategy=_strategy(default_strategy, Tier.LOOKUP),
        confidence=0.0,
        reasoning=f"Classification failed ({reason}); a plain lookup is the safe choice.",
        decided_by=DecidedBy.FALLBACK,
    )


def _strategy(wanted: Strategy, tier: Tier) -> Strategy:
    """Return ``wanted``, or the weakest that the tier allows when that is stronger."""
    least = Strategy.for_tier(tier)
    return wanted if wanted.rank >= least.rank else least
