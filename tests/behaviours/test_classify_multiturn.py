"""Field note 19: a conversation of five turns, routed on the rewritten question alone."""

from __future__ import annotations

from fingerpost.classify import LocalClassifier, rewrite_follow_up
from fingerpost.types.decision import ClassificationResult, Tier
from fingerpost.types.query import Turn

FIRST = "Compare the leave policies of both offices and analyze the risks for new employees."
HISTORY = [
    Turn("user", FIRST),
    Turn("assistant", "They differ in three points. Shall I compare and analyze the costs too?"),
    Turn("user", "what about part time?"),
    Turn("assistant", "The same. Shall I compare the effects on retention and analyze trends?"),
]


def route(text: str, history: list[Turn]) -> ClassificationResult:
    alone = rewrite_follow_up(text, history) or text
    return LocalClassifier().classify(alone, history=history)


def test_yes_after_a_complex_plan_is_as_much_work_as_the_plan() -> None:
    assert route("yes, do it", HISTORY).tier is Tier.RESEARCH


def test_a_follow_up_about_another_group_keeps_the_work_of_its_topic() -> None:
    assert route("and for contractors?", HISTORY).tier >= Tier.MULTI_SOURCE


def test_the_first_question_asked_again_routes_as_on_the_first_turn() -> None:
    assert route(FIRST, HISTORY) == route(FIRST, [])


def test_an_unrelated_lookup_is_not_drawn_up_by_the_conversation() -> None:
    text = "When was the Eiffel Tower opened?"
    assert route(text, HISTORY) == route(text, [])


def test_thanks_at_the_end_needs_no_retrieval() -> None:
    assert route("thanks a lot!", HISTORY).tier is Tier.TRIVIAL
