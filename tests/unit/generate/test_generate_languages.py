from __future__ import annotations

import pytest

from fingerpost.generate import extract_answer
from fingerpost.types import Tier

_GERMAN = "Mitglieder der Gemeinschaft haben ein Apt-Paket für Ubuntu beigetragen.\n"
_SPANISH = "Los miembros de la comunidad han contribuido con un paquete Apt para Ubuntu.\n"
_ENGLISH = "Members of the community have contributed an Apt package for Ubuntu.\n"
_SAID = {"de": "Mitglieder", "es": "Los miembros", "en": "Members"}


def _translations(hit, *languages: str, **more: object):
    texts = {"de": _GERMAN, "es": _SPANISH, "en": _ENGLISH}
    return [
        hit(texts[code], path=f"{code}/install.md", language=code, **more) for code in languages
    ]


@pytest.mark.parametrize(
    ("question", "spoken"),
    [
        ("Wie kommt das Apt-Paket für Ubuntu zu den Nutzern?", "de"),
        ("¿Quién mantiene el paquete Apt para Ubuntu?", "es"),
        ("Who has contributed the Apt package for Ubuntu?", "en"),
    ],
)
@pytest.mark.parametrize("order", [("de", "es", "en"), ("en", "es", "de")])
def test_an_answer_does_not_go_from_one_translation_to_the_next(
    hit, evidence, question: str, spoken: str, order: tuple[str, ...]
) -> None:
    found = evidence(*_translations(hit, *order))
    answer = extract_answer(question, found, tier=Tier.MULTI_SOURCE)
    assert [code for code, words in _SAID.items() if words in answer.text] == [spoken]


def test_documents_in_another_language_alone_answer_in_it(hit, evidence) -> None:
    found = evidence(*_translations(hit, "en"))
    answer = extract_answer("Welches Apt-Paket für Ubuntu gibt es?", found)
    assert _SAID["en"] in answer.text


def test_a_chunk_whose_language_nobody_knows_may_answer_beside_others(hit, evidence) -> None:
    command = hit("Run `apt install heron` on Ubuntu.\n", path="apt.md", language="und")
    found = evidence(*_translations(hit, "en"), command)
    answer = extract_answer(
        "How do I install heron with apt on Ubuntu?", found, tier=Tier.MULTI_SOURCE
    )
    assert "apt install heron" in answer.text


def test_the_section_that_asks_the_question_answers_it(hit, evidence) -> None:
    other = hit(
        "A server island is an island that is rendered later, and islands like it wait.\n",
        path="server.md",
        headings=("Server islands",),
        score=0.8,
    )
    asked = hit(
        "In Heron, an island is a part of a page that is loaded by itself.\n",
        path="islands.md",
        headings=("Islands", "What is an island?"),
        score=0.7,
    )
    answer = extract_answer("What is an island?", evidence(other, asked), max_units=1)
    assert answer.text.startswith("In Heron, an island is a part of a page")
