"""Escalation, caps and forced values."""

from __future__ import annotations

import pytest

from fingerpost.classify import apply_policy, fallback_classification
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier


def result(tier: int, confidence: float, strategy: Strategy | None = None) -> ClassificationResult:
    return ClassificationResult(
        tier=Tier(tier),
        strategy=strategy or Strategy.for_tier(tier),
        confidence=confidence,
        reasoning="because",
    )


def test_a_tier_below_the_threshold_goes_up_by_one() -> None:
    raised = apply_policy(result(1, 0.69), confidence_threshold=0.7)
    assert (raised.tier, raised.escalated_from) == (Tier.MULTI_SOURCE, Tier.LOOKUP)
    assert raised.strategy is Strategy.MODERATE


def test_a_tier_at_the_threshold_stays() -> None:
    kept = apply_policy(result(1, 0.7), confidence_threshold=0.7)
    assert (kept.tier, kept.escalated_from) == (Tier.LOOKUP, None)


def test_the_top_tier_is_not_raised() -> None:
    kept = apply_policy(result(3, 0.1))
    assert (kept.tier, kept.escalated_from) == (Tier.RESEARCH, None)


def test_the_cap_holds_after_escalation() -> None:
    capped = apply_policy(result(1, 0.2), max_tier=1)
    assert (capped.tier, capped.strategy, capped.escalated_from) == (
        Tier.LOOKUP,
        Strategy.SIMPLE,
        None,
    )


def test_a_capped_tier_takes_its_strategy_down_with_it() -> None:
    capped = apply_policy(result(3, 0.9), max_tier=1)
    assert (capped.tier, capped.strategy) == (Tier.LOOKUP, Strategy.SIMPLE)


def test_a_strategy_weaker_than_its_tier_is_raised_and_a_stronger_one_kept() -> None:
    assert apply_policy(result(2, 0.9, Strategy.SIMPLE)).strategy is Strategy.MODERATE
    assert apply_policy(result(1, 0.9, Strategy.COMPLEX)).strategy is Strategy.COMPLEX


def test_a_forced_strategy_is_never_weaker_than_the_tier() -> None:
    assert apply_policy(result(3, 0.9), force_strategy=Strategy.SIMPLE).strategy is Strategy.COMPLEX
    assert (
        apply_policy(result(1, 0.9), force_strategy=Strategy.COMPLEX).strategy is Strategy.COMPLEX
    )


@pytest.mark.parametrize("tier", [0, 1, 2, 3])
def test_a_forced_tier_is_taken_as_it_is(tier: int) -> None:
    forced = apply_policy(result(1, 0.1), forced_tier=tier, max_tier=0)
    assert (forced.tier, forced.decided_by) == (Tier(tier), DecidedBy.FORCED)
    assert forced.strategy is Strategy.for_tier(tier)
    assert forced.internal_knowledge_sufficient is (tier == 0)


def test_a_doubtful_t0_is_looked_up_after_all() -> None:
    raised = apply_policy(result(0, 0.5))
    assert (raised.tier, raised.internal_knowledge_sufficient) == (Tier.LOOKUP, False)


def test_a_failed_classification_is_a_lookup_without_confidence() -> None:
    failed = fallback_classification("timeout", Strategy.MODERATE)
    assert (failed.tier, failed.strategy) == (Tier.LOOKUP, Strategy.MODERATE)
    assert (failed.confidence, failed.decided_by) == (0.0, DecidedBy.FALLBACK)
    assert "timeout" in failed.reasoning


def test_a_failed_classification_is_not_escalated() -> None:
    failed = apply_policy(fallback_classification("timeout"))
    assert (failed.tier, failed.escalated_from) == (Tier.LOOKUP, None)


def test_a_failed_classification_never_falls_back_to_no_retrieval() -> None:
    assert fallback_classification("x", Strategy.NONE).strategy is Strategy.SIMPLE
