"""Field notes 17 and R28: whatever a model replies, a classification or nothing comes of it."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.classify.reply import read_classification, read_plan, read_recommendations
from fingerpost.lanes.structured import read_json
from fingerpost.types.decision import Strategy, Tier
from fingerpost.types.plan import Capability, ExecutionPlan

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
FIELDS = ("thinking", "tier", "strategy", "confidence", "suggested_sources", "tools_needed")


@pytest.mark.parametrize(
    ("reply", "tier"),
    [
        ("```json\n[]\n```", None),
        ('Output: {"tier": 1}', 1),
        ('<think>hm</think>{"tier": 3}', 3),
        ('{"tier": 2,}', 2),
        ('{"tier": "T2"}', 2),
        ('{"tier": "tier 1"}', 1),
        ('{"tier": "research"}', 3),
        ('{"tier": 2.0}', 2),
        ('{"tier": 7}', None),
        ('{"tier": -1}', None),
        ('{"tier": true}', None),
        ('{"tier": null}', None),
        ('[{"tier": 1}]', 1),
        ('{"thinking": "a", "tier": 2, "strat', 2),
        ("I would say tier two.", None),
    ],
)
def test_a_tier_is_read_or_nothing_is(reply, tier):
    found = read_classification(read_json(reply))
    assert (None if found is None else int(found.tier)) == tier


def test_a_strategy_may_be_stronger_than_its_tier_and_never_weaker():
    def strategy(tier, named):
        return read_classification({"tier": tier, "strategy": named}).strategy

    assert strategy(1, "complex") is Strategy.COMPLEX
    assert strategy(3, "simple") is Strategy.COMPLEX
    assert strategy(2, "unheard of") is Strategy.MODERATE
    assert strategy(2, None) is Strategy.MODERATE


def test_what_is_unknown_is_dropped_and_what_is_too_much_is_cut():
    found = read_classification(
        {
            "tier": 1,
            "confidence": 17,
            "thinking": "word " * 1000,
            "suggested_sources": ["Documentation", "web", "web", "the moon", 3],
            "tools_needed": ["search", "rm -rf", "search"],
            "internal_knowledge_sufficient": True,
        },
        tool_names=["search", "fetch"],
    )
    assert found.confidence == 1
    assert len(found.reasoning) <= 500
    assert found.suggested_sources == ("docs", "web")
    assert found.tools_needed == ("search",)
    assert not found.internal_knowledge_sufficient


@pytest.mark.parametrize("value", ["high", None, float("nan"), float("inf"), True, [1], "1e999"])
def test_a_confidence_that_is_none_counts_as_half(value):
    assert read_classification({"tier": 1, "confidence": value}).confidence == 0.5


@given(st.dictionaries(st.sampled_from(FIELDS), ANY_JSON) | ANY_JSON)
def test_every_value_gives_a_classification_within_its_bounds_or_none(value):
    found = read_classification(value, tool_names=["a"])
    if found is not None:
        assert found.tier in Tier
        assert found.strategy.rank >= found.tier
        assert 0 <= found.confidence <= 1
        assert set(found.suggested_sources) <= {"web", "docs", "media"}
        assert set(found.tools_needed) <= {"a"}


def test_five_thousand_mutated_replies_give_a_tier_or_none():
    whole = json.dumps(
        {"thinking": "one fact", "tier": 2, "strategy": "moderate", "confidence": 0.8}
    )
    rng = random.Random(28)
    read = 0
    for _ in range(5000):
        signs = list(whole)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(signs))
            signs[at] = rng.choice(["", chr(rng.randrange(1, 0xD7FF)), '"', "{", "]", "\0", "é"])
        text = "".join(signs)[: rng.randrange(1, len(whole) + 5)]
        found = read_classification(read_json(text))
        read += found is not None
        assert found is None or found.tier in Tier
    assert 500 < read < 5000


@given(ANY_JSON)
def test_every_value_gives_a_plan_within_its_bounds_or_none(value):
    plan = read_plan({"plan": value})
    if plan is not None:
        assert 0 <= plan.hyde_hypotheses <= 5
        assert 0 <= plan.graph_depth <= 3


def test_a_plan_is_read_field_by_field():
    told = {
        "sources": {"vector": True, "bm25": False, "graph": True, "raptor": "yes"},
        "hyde_hypotheses": 9,
        "graph_depth": 2,
        "raptor_layers": [0, 1, 1, "x"],
        "prefer_recent": True,
        "memory_types": ["episodic", 4],
    }
    assert read_plan({"plan": told}) == ExecutionPlan(
        vector=True,
        bm25=False,
        graph=True,
        hyde_hypotheses=5,
        graph_depth=2,
        raptor_layers=(0, 1),
        prefer_recent=True,
        memory_types=("episodic",),
    )


def test_only_what_was_offered_is_recommended_once_and_by_priority():
    offered = [Capability("tool", "grep", "searches files"), Capability("skill", "review")]
    told = [
        {"id": "skill:review", "reasoning": "x", "confidence": 0.4, "priority": 2},
        {"id": "grep", "confidence": "2", "priority": 1},
        {"id": "tool:grep", "priority": 1},
        {"id": "tool:format-disk", "priority": 1},
        "nonsense",
    ]
    found = read_recommendations({"recommendations": told}, offered)
    assert [(item.kind, item.id, item.confidence) for item in found] == [
        ("tool", "grep", 1.0),
        ("skill", "review", 0.4),
    ]
