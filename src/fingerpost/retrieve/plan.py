"""What an execution plan becomes under a policy and a tier."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from fingerpost.types.decision import Tier
from fingerpost.types.plan import ExecutionPlan


class Policy(StrEnum):
    """How much a plan may cost, the least first."""

    FAST = "fast"
    BALANCED = "balanced"
    MAX_RECALL = "max-recall"

    @property
    def higher(self) -> Policy | None:
        """Return the next policy up, ``None`` at the top."""
        every = tuple(type(self))
        place = every.index(self) + 1
        return every[place] if place < len(every) else None


def plan_for(tier: Tier) -> ExecutionPlan:
    """Return the plan of a question for which no classifier proposed one."""
    return ExecutionPlan(
        graph=tier >= Tier.MULTI_SOURCE,
        raptor=tier >= Tier.RESEARCH,
        hyde_hypotheses=int(tier == Tier.MULTI_SOURCE),
        graph_depth=int(tier >= Tier.MULTI_SOURCE),
        deep_research=tier >= Tier.RESEARCH,
    )


def under(policy: Policy, plan: ExecutionPlan) -> ExecutionPlan:
    """Return the plan as the policy runs it.

    ``fast`` searches by words and vectors alone. ``balanced`` runs what was planned, one link
    far and with one hypothesis at most. ``max-recall`` asks every source there is, three links
    far, with three hypotheses.
    """
    if policy is Policy.FAST:
        return ExecutionPlan(vector=plan.vector, bm25=plan.bm25, prefer_recent=plan.prefer_recent)
    if policy is Policy.BALANCED:
        return replace(
            plan,
            graph_depth=min(plan.graph_depth, 1),
            hyde_hypotheses=min(plan.hyde_hypotheses, 1),
        )
    return replace(
        plan,
        vector=True,
        bm25=True,
        graph=True,
        raptor=True,
        memory=True,
        multimodal=True,
        graph_depth=3,
        hyde_hypotheses=max(plan.hyde_hypotheses, 3),
    )
