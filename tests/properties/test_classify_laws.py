"""Laws of classification that hold for every text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.classify import LocalClassifier, apply_policy, rewrite_follow_up
from fingerpost.classify.smalltalk import smalltalk_share
from fingerpost.classify.words import words_of
from fingerpost.types.decision import ClassificationResult, Strategy, Tier
from fingerpost.types.query import Turn

CLASSIFIER = LocalClassifier()
# What sets two things side by side, where "the two" stood.
JOINS = ("and", "und", "et", "y", "e", "и", "en")
anything = st.text(st.characters(), max_size=200)
results = st.builds(
    ClassificationResult,
    tier=st.sampled_from(list(Tier)),
    strategy=st.sampled_from(list(Strategy)),
    confidence=st.floats(0, 1),
    reasoning=st.just("x"),
)


@settings(max_examples=150, deadline=None)
@given(anything, st.integers(0, 3), st.floats(0, 1))
def test_any_text_gets_an_honest_result(text: str, cap: int, threshold: float) -> None:
    result = CLASSIFIER.classify(text, max_tier=cap, confidence_threshold=threshold)
    assert result.tier <= cap
    assert abs(sum(result.scores.values()) - 1) < 1e-3
    assert 0 <= result.confidence <= 1
    assert result.strategy.rank >= Strategy.for_tier(result.tier).rank
    assert result == CLASSIFIER.classify(text, max_tier=cap, confidence_threshold=threshold)


@given(results, st.floats(0, 1), st.integers(0, 3), st.sampled_from([None, *Strategy]))
def test_policy_applied_twice_is_policy_applied_once(
    result: ClassificationResult, threshold: float, cap: int, forced: Strategy | None
) -> None:
    once = apply_policy(result, confidence_threshold=threshold, max_tier=cap, force_strategy=forced)
    assert once.tier <= cap
    assert once.strategy.rank >= once.tier
    assert once.tier - result.tier <= 1
    if once.escalated_from is not None:
        again = apply_policy(
            once, confidence_threshold=threshold, max_tier=cap, force_strategy=forced
        )
        assert again == once


@settings(max_examples=150, deadline=None)
@given(anything, st.lists(anything, max_size=4))
def test_a_rewrite_holds_only_words_of_the_conversation(text: str, said: list[str]) -> None:
    history = [Turn("user", line) for line in said]
    rewritten = rewrite_follow_up(text, history)
    if rewritten is not None:
        known = " ".join(words_of(" ".join([text, *said, *JOINS])))
        assert all(word in known for word in words_of(rewritten))


@given(anything)
def test_the_share_of_small_talk_is_a_share(text: str) -> None:
    assert 0 <= smalltalk_share(words_of(text)) <= 1
