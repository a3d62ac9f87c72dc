"""How a question was classified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from fingerpost.types.plan import CapabilityRecommendation, ExecutionPlan

if TYPE_CHECKING:  # which needs this module
    from fingerpost.types.routing import SourceRouting


class Tier(IntEnum):
    """How much work a question deserves."""

    TRIVIAL = 0
    LOOKUP = 1
    MULTI_SOURCE = 2
    RESEARCH = 3

    @property
    def label(self) -> str:
        """Return ``T0`` to ``T3``."""
        return f"T{self.value}"


class Strategy(StrEnum):
    """How retrieval is run; ordered like the tiers, weakest first."""

    NONE = "none"
    SIMPLE = "simple"
    MODERATE = "moderate"
    COMPLEX = "complex"

    @classmethod
    def for_tier(cls, tier: int) -> Strategy:
        """Return the weakest strategy that the tier allows."""
        return tuple(cls)[tier]

    @property
    def rank(self) -> int:
        """Return 0 to 3."""
        return tuple(type(self)).index(self)


class DecidedBy(StrEnum):
    """Which part of the product chose the tier (``strategy:select`` events carry it)."""

    LLM = "llm"
    HEURISTIC = "heuristic"
    LOCAL = "local"
    DECISION = "decision"
    FORCED = "forced"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class ClassificationResult:
    """Tier and strategy of one question, and why.

    Attributes:
        tier: After escalation and caps.
        strategy: Never weaker than ``Strategy.for_tier(tier)``.
        confidence: Calibrated probability that the tier before escalation is right, 0 to 1;
            0 when classification failed.
        reasoning: For people: which signals spoke for the tier.
        internal_knowledge_sufficient: Nothing has to be retrieved.
        suggested_sources: Normalised source hints, may be empty.
        tools_needed: Names from ``available_tools`` only.
        decided_by: Who chose.
        scores: Probability of each tier by label (``T0`` … ``T3``), before escalation.
        signals: Named features that spoke loudest, with their signed weight.
        escalated_from: Tier before escalation, ``None`` when it was not raised.
        threshold: Confidence below which the tier goes up, ``None`` before the policy ran.
        plan: What a plan-aware model proposed, ``None`` without one.
        recommendations: Capabilities that may help, by priority.
        prompt: Name and hash of the prompt that was used, empty without a model.
        routing: Which sources were chosen, what was asked of the decision model and with what
            probability it said yes; ``None`` without described sources. Its ``retrievers`` are
            left out: they are no values.
    """

    tier: Tier
    strategy: Strategy
    confidence: float
    reasoning: str
    internal_knowledge_sufficient: bool = False
    suggested_sources: tuple[str, ...] = ()
    tools_needed: tuple[str, ...] = ()
    decided_by: DecidedBy = DecidedBy.LOCAL
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)
    signals: tuple[tuple[str, float], ...] = ()
    escalated_from: Tier | None = None
    threshold: float | None = None
    plan: ExecutionPlan | None = None
    recommendations: tuple[CapabilityRecommendation, ...] = ()
    prompt: str = ""
    routing: SourceRouting | None = None
