"""What a first search and the form of a comparison do to the tier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fingerpost.classify import LocalClassifier
from fingerpost.types.decision import Tier
from fingerpost.types.evidence import FirstLook

CLASSIFIER = LocalClassifier()
LEADING = FirstLook(1.0, 1.0, 1.0, 4, 0.7, 0.3)
SCATTERED = FirstLook(0.3, 1.0, 1.0, 10, 0.02, 0.8)
NOTHING = FirstLook(0.0, 0.0, 0.0, 0, 0.0, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "What does HTTP 456 mean?",
        "What is the default port?",
        "What does client:visible do?",
        "Which exit codes are there?",
        "Where is the config file stored?",
    ],
)
def test_a_lookup_that_one_passage_holds_is_not_raised(text: str) -> None:
    assert CLASSIFIER.classify(text, first_look=LEADING).tier is Tier.LOOKUP


@pytest.mark.parametrize(
    "text",
    [
        "Who is the mother of the director of the film The Long Road?",
        "Were Anna Bell and Carl Rowe born in the same country?",
    ],
)
def test_a_joined_question_stays_one_whatever_leads(text: str) -> None:
    for look in (LEADING, SCATTERED, NOTHING):
        assert CLASSIFIER.classify(text, first_look=look).tier >= Tier.MULTI_SOURCE


def test_a_wider_lead_speaks_for_a_lookup_and_more_spread_against_it() -> None:
    text = "How do I set the timeout of the client?"

    def lookup(look: FirstLook) -> float:
        return CLASSIFIER.classify(text, first_look=look).scores["T1"]

    leads = [lookup(replace(LEADING, score_gap=gap)) for gap in (0.0, 0.3, 0.6, 0.9)]
    spreads = [lookup(replace(SCATTERED, pooled_coverage=pool)) for pool in (0.3, 0.6, 0.9)]
    assert leads == sorted(leads)
    assert spreads == sorted(spreads, reverse=True)
    assert leads[0] < leads[-1]
    assert spreads[0] > spreads[-1]


def test_a_search_that_found_nothing_says_nothing() -> None:
    text = "How do I set the timeout of the client?"
    alone = CLASSIFIER.classify(text).scores
    assert CLASSIFIER.classify(text, first_look=NOTHING).scores == alone


def test_unknown_terms_say_nothing() -> None:
    text = "How do I set the timeout of the client?"
    known = CLASSIFIER.classify(text, first_look=LEADING).scores
    unknown = CLASSIFIER.classify(text, first_look=replace(LEADING, known_terms=0.2)).scores
    assert known == unknown


def test_chatter_that_one_passage_holds_is_looked_up_unless_it_is_pure_small_talk() -> None:
    text = "tell me something funny about you robots"
    assert CLASSIFIER.classify(text, confidence_threshold=0).tier is Tier.TRIVIAL
    held = CLASSIFIER.classify(text, first_look=replace(LEADING, coverage=0.6))
    assert held.tier is not Tier.TRIVIAL
    for greeting in ("hello there", "thanks a lot!", "Danke schön!"):
        assert CLASSIFIER.classify(greeting, first_look=LEADING).tier is Tier.TRIVIAL


@pytest.mark.parametrize(
    "text",
    [
        "Compare Redis and RabbitMQ",
        "Compare client:load and client:idle and tell me when to use each",
        "Please compare npm with pnpm.",
        "When should I use a Job or a CronJob?",
        "when do I use client:only instead of client:load?",
        "What is the difference between ~> and >=?",
        "What's the main difference between a chart and a release?",
        "How does helm upgrade differ from helm install?",
        "Was ist der Unterschied zwischen Chart und Release?",
        "Quelle est la différence entre Chart et Release ?",
        "¿Cuál es la diferencia entre chart y release?",
        "chart和release的区别是什么？",
    ],
)
@pytest.mark.parametrize("look", [None, LEADING, SCATTERED])
def test_whoever_compares_gets_at_least_two_sources(text: str, look: FirstLook | None) -> None:
    result = CLASSIFIER.classify(text, first_look=look, confidence_threshold=0)
    assert result.tier >= Tier.MULTI_SOURCE
    assert sum(result.scores.values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("text", ["What does Compare-Object do?", "When should I use a CronJob?"])
def test_a_name_like_a_comparison_is_none(text: str) -> None:
    assert CLASSIFIER.classify(text, first_look=LEADING, confidence_threshold=0).tier is Tier.LOOKUP
