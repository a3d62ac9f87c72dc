"""Which questions ask for an overview, and of what, in each language that has cues."""

import json
from pathlib import Path

import pytest

from fingerpost.retrieve.overview import overview_subject

ASKED = json.loads(
    (Path(__file__).parents[2] / "data" / "overview_questions.json").read_text("utf-8")
)
LANGUAGES = sorted(ASKED)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_documents_are_about_asks_of_all(language):
    asked = ASKED[language]["all"]
    assert {text: overview_subject(text) for text in asked} == dict.fromkeys(asked, "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_overview_of_something_names_it(language):
    asked = dict(ASKED[language]["some"])
    assert {text: overview_subject(text) for text in asked} == asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_that_only_sounds_like_one_is_none(language):
    asked = ASKED[language]["none"]
    assert {text: overview_subject(text) for text in asked} == dict.fromkeys(asked)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What topics does it cover?", ""),
        ("Summarize everything", ""),
        ("How do I write a summary?", None),
        ("What is the default mode?", None),
        ("What does error E77 mean?", None),
        ("What is the retry error about?", None),
        ("", None),
        ("?", None),
    ],
)
def test_what_an_overview_is_asked_of(text, subject):
    assert overview_subject(text) == subject


def test_a_long_question_is_no_overview():
    assert overview_subject("what " + "the about " * 20_000) is None
