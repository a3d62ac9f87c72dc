from __future__ import annotations

import pytest

from fingerpost.generate import abstain, extract_answer, should_abstain, small_talk
from fingerpost.types import AbstentionReason, GenerationMode

_HELM = "Helm installs charts into a Kubernetes cluster. A chart is a package of templates."
_SPOKEN = (
    "en",
    "de",
    "es",
    "fr",
    "it",
    "pt",
    "nl",
    "ru",
    "uk",
    "pl",
    "el",
    "tr",
    "ro",
    "ar",
    "hi",
    "th",
    "vi",
    "zh",
    "ja",
    "ko",
)


def test_a_question_that_the_evidence_covers_is_answered(hit, evidence) -> None:
    assert should_abstain("What does Helm install into a cluster?", evidence(hit(_HELM))) is None


@pytest.mark.parametrize(
    "question", ["zzqx plugh", "Who won the football match in Paris yesterday?"]
)
@pytest.mark.parametrize("cosine", [None, 0.05])
def test_a_foreign_question_is_not_answered(hit, evidence, question, cosine) -> None:
    reason = should_abstain(question, evidence(hit(_HELM, vector_score=cosine)))
    assert reason is AbstentionReason.NO_DOCUMENT_MATCHES


def test_a_few_shared_words_are_weak_evidence(hit, evidence) -> None:
    found = evidence(hit(_HELM, vector_score=0.1), coverage=0.2)
    reason = should_abstain(
        "Which chart topped the music charts in 1984 with a cluster of stars?", found
    )
    assert reason in {AbstentionReason.EVIDENCE_TOO_WEAK, AbstentionReason.NO_DOCUMENT_MATCHES}


def test_near_meaning_speaks_for_an_answer_where_words_differ(hit, evidence) -> None:
    question = "How are packages deployed to clusters?"
    far, near = (evidence(hit(_HELM, vector_score=v), coverage=0.5) for v in (0.0, 0.75))
    assert should_abstain(question, near) is None
    assert should_abstain(question, far) is not None


def test_the_nearer_the_evidence_the_likelier_it_answers(hit, evidence) -> None:
    question = "Which templates make up a package for the cluster?"
    found = [evidence(hit(_HELM, vector_score=v), coverage=0.6) for v in (0.0, 0.3, 0.6, 0.9)]
    likely = [extract_answer(question, one).answerability for one in found]
    assert likely == sorted(likely)
    assert 0 < likely[0] < 0.5 < likely[-1] < 1


def test_a_section_of_just_that_name_is_not_doubted(hit, evidence) -> None:
    found = evidence(hit("The server hung up.", headings=("ECONNREFUSED",), vector_score=0.2))
    answer = extract_answer("What does ECONNREFUSED mean?", found)
    assert answer.abstention is None
    assert answer.answerability is None


@pytest.mark.parametrize("reason", list(AbstentionReason))
def test_every_reason_is_told_in_its_own_words(reason) -> None:
    texts = {abstain(reason, "q", language).text for language in _SPOKEN}
    assert len(texts) == len(_SPOKEN)
    answer = abstain(reason, "q", "en")
    assert answer.abstention is reason
    assert answer.mode is GenerationMode.ABSTAINED
    assert not answer.citations


def test_an_abstention_never_repeats_the_question() -> None:
    assert "evil" not in abstain(AbstentionReason.NO_DOCUMENT_MATCHES, "![evil](x)", "en").text


def test_unknown_languages_get_english() -> None:
    reason = AbstentionReason.NO_DOCUMENT_INDEXED
    assert abstain(reason, "q", "xx").text == abstain(reason, "q", "en").text


@pytest.mark.parametrize(
    ("message", "language", "start"),
    [
        ("Hi there!", "en", "Hello!"),
        ("thanks a lot", "en", "You're welcome."),
        ("bye", "en", "Goodbye!"),
        ("Who are you?", "en", "I am fingerpost"),
        ("Danke!", "de", "Gern geschehen."),
        ("Hola", "es", "¡Hola!"),
        ("谢谢", "zh", "不客气。"),
        ("こんにちは", "ja", "こんにちは！"),
        ("สวัสดีครับ", "th", "สวัสดี"),
        ("Спасибо", "ru", "Пожалуйста."),
        ("hmm", "en", "I answer questions"),
    ],
)
def test_small_talk_is_answered_in_its_language(message, language, start) -> None:
    answer = small_talk(message, language)
    assert answer.text.startswith(start)
    assert answer.mode is GenerationMode.SMALL_TALK


def test_a_greeting_says_what_the_product_can_do() -> None:
    assert "documents" in small_talk("hello", "en").text
