"""A model's reply to a classification. Reading it never raises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from fingerpost.text.hints import research_hints
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.plan import Capability, CapabilityRecommendation, ExecutionPlan

_NUMBER = re.compile(r"\s*[Tt]?(?:ier)?\s*([0-9])\s*")
_NAMES: Final = {"trivial": 0, "lookup": 1, "multi-source": 2, "multi_source": 2, "research": 3}
_MAX_TEXT = 500
_MAX_ITEMS = 20
_MAX_HYDE = 5
_MAX_DEPTH = 3
_UNSTATED = 0.5

CLASSIFICATION_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "thinking": {"type": "string"},
        "tier": {"type": "integer", "enum": [0, 1, 2, 3]},
        "strategy": {"type": "string", "enum": ["none", "simple", "moderate", "complex"]},
        "confidence": {"type": "number"},
        "internal_knowledge_sufficient": {"type": "boolean"},
        "suggested_sources": {"type": "array", "items": {"type": "string"}},
        "tools_needed": {"type": "array", "items": {"type": "string"}},
    },
    "required": [
        "thinking", "tier", "strategy", "confidence", "internal_knowledge_sufficient",
        "suggested_sources", "tools_needed",
    ],
    "additionalProperties": False,
}  # fmt: skip
"""JSON schema of a classification."""


def read_classification(
    value: object, *, tool_names: Sequence[str] = ()
) -> ClassificationResult | None:
    """Return the classification in a JSON value, ``None`` when it names no tier.

    Accepts a list that holds it. A tier may be a number, ``"T2"`` or its name; anything else,
    7 included, is no tier. What is unknown is dropped, what is too much is cut; a strategy
    weaker than its tier is raised to it; a missing confidence is 0.5.
    """
    reply = _object(value)
    tier = None if reply is None else _tier(reply.get("tier"))
    if reply is None or tier is None:
        return None
    strategy = _strategy(reply.get("strategy"), tier)
    return ClassificationResult(
        tier=tier,
        strategy=strategy,
        confidence=number(reply.get("confidence"), low=0.0, high=1.0, default=_UNSTATED),
        reasoning=_text(reply.get("thinking")) or f"The model chose {tier.label}.",
        internal_knowledge_sufficient=reply.get("internal_knowledge_sufficient") is True
        and tier is Tier.TRIVIAL,
        suggested_sources=research_hints(_names(reply.get("suggested_sources"))),
        tools_needed=tuple(
            name for name in _names(reply.get("tools_needed")) if name in set(tool_names)
        ),
        decided_by=DecidedBy.LLM,
    )


def read_plan(value: object) -> ExecutionPlan | None:
    """Return the plan in a JSON value, ``None`` when it holds none; numbers are clamped."""
    reply = _object(value)
    plan = reply.get("plan") if reply is not None else None
    if not isinstance(plan, dict):
        return None
    sources = _object(plan.get("sources")) or {}

    def on(name: str, *, default: bool = False) -> bool:
        chosen = sources.get(name, default)
        return chosen if isinstance(chosen, bool) else default

    layers = plan.get("raptor_layers")
    return ExecutionPlan(
        vector=on("vector", default=True),
        bm25=on("bm25", default=True),
        graph=on("graph"),
        raptor=on("raptor"),
        memory=on("memory"),
        multimodal=on("multimodal"),
        hyde_hypotheses=_count(plan.get("hyde_hypotheses"), _MAX_HYDE),
        memory_types=_names(plan.get("memory_types")),
        modalities=_names(plan.get("modalities")),
        prefer_recent=plan.get("prefer_recent") is True,
        graph_depth=_count(plan.get("graph_depth"), _MAX_DEPTH),
        raptor_layers=tuple(
            dict.fromkeys(
                item
                for item in (layers if isinstance(layers, list) else [])[:_MAX_ITEMS]
                if isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= _MAX_ITEMS
            )
        ),
        deep_research=plan.get("deep_research") is True,
    )


def read_recommendations(
    value: object, offered: Sequence[Capability]
) -> tuple[CapabilityRecommendation, ...]:
    """Return the recommendations in a JSON value, by priority; only of what was offered."""
    reply = _object(value)
    given = reply.get("recommendations") if reply is not None else None
    known = {name: item for item in offered for name in (item.full_id, item.id)}
    found: dict[str, CapabilityRecommendation] = {}
    for entry in given[:_MAX_ITEMS] if isinstance(given, list) else ():
        name = entry.get("id") if isinstance(entry, dict) else None
        capability = known.get(name) if isinstance(name, str) else None
        if capability is None or capability.full_id in found:
            continue
        found[capability.full_id] = CapabilityRecommendation(
            kind=capability.kind,
            id=capability.id,
            reasoning=_text(entry.get("reasoning")),
            confidence=number(entry.get("confidence"), low=0.0, high=1.0, default=_UNSTATED),
            priority=max(1, _count(entry.get("priority"), _MAX_ITEMS)),
        )
    return tuple(sorted(found.values(), key=lambda item: item.priority))


def number(value: object, *, low: float, high: float, default: float) -> float:
    """Return a finite number clamped to its range; text that is one counts; else the default."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return default
    return min(high, max(low, read)) if math.isfinite(read) else default


def _object(value: object) -> dict[str, object] | None:
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    return value if isinstance(value, dict) else None


def _tier(value: object) -> Tier | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = int(match.group(1)) if match else _NAMES.get(value.strip().casefold())
    return Tier(value) if isinstance(value, int) and 0 <= value <= max(Tier) else None


def _strategy(value: object, tier: Tier) -> Strategy:
    least = Strategy.for_tier(tier)
    try:
        wanted = Strategy(value.strip().casefold()) if isinstance(value, str) else least
    except ValueError:
        wanted = least
    return wanted if wanted.rank >= least.rank else least


def _names(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else ()
    texts = (item.strip()[:_MAX_TEXT] for item in items[:_MAX_ITEMS] if isinstance(item, str))
    return tuple(dict.fromkeys(text for text in texts if text))


def _text(value: object) -> str:
    return " ".join(value.split())[:_MAX_TEXT] if isinstance(value, str) else ""


def _count(value: object, most: int) -> int:
    return int(number(value, low=0, high=most, default=0))
