from __future__ import annotations

import numpy as np
import pytest

from fingerpost.generate import extract_answer
from fingerpost.types import AbstentionReason, GenerationMode, Tier

_INSTALL = """\
## Install

Helm can be installed with a script. The script is maintained by the project.

1. Download your desired version.
2. Unpack the archive.
3. Move the binary to your path.

Coffee is served in the kitchen.
"""
_LIMITS = """\
Each route has a limit. The router keeps 1000 entries in the cache by default. It drops the oldest first.
Cats sleep all day.
"""
_ERRORS = """\
| Code | Meaning |
|------|---------|
| E401 | The token is missing |
| E404 | The page does not exist |
"""


def _marked(answer) -> None:
    assert answer.citations
    for citation in answer.citations:
        assert answer.text[citation.span.start : citation.span.end] == citation.marker
        assert citation.marker == f"[{citation.source_index}]"
        assert 1 <= citation.source_index <= len(answer.cited_chunk_ids)
        assert citation.quote is not None


def test_the_sentence_that_answers_is_quoted_not_the_chunk(hit, evidence) -> None:
    answer = extract_answer(
        "How many entries does the router keep in the cache?", evidence(hit(_LIMITS))
    )
    assert "The router keeps 1000 entries in the cache by default [1]." in answer.text
    assert "Cats" not in answer.text
    assert answer.mode is GenerationMode.EXTRACTIVE
    _marked(answer)


def test_quotes_cut_the_words_out_of_the_document(hit, evidence) -> None:
    answer = extract_answer(
        "How many entries does the router keep?", evidence(hit(_LIMITS, start=100))
    )
    quoted = [("x" * 100 + _LIMITS)[c.quote.start : c.quote.end] for c in answer.citations]
    assert "The router keeps 1000 entries in the cache by default." in quoted


def test_how_questions_get_the_whole_procedure_in_order(hit, evidence) -> None:
    page = hit(_INSTALL, headings=("Install",))
    answer = extract_answer("How do I install the binary and unpack the archive?", evidence(page))
    places = [answer.text.index(f"{n}. ") for n in (1, 2, 3)]
    assert places == sorted(places)
    assert "Coffee" not in answer.text
    _marked(answer)


def test_an_error_code_finds_its_row(hit, evidence) -> None:
    answer = extract_answer("What does E404 mean?", evidence(hit(_ERRORS)))
    assert "Code: E404; Meaning: The page does not exist [1]" in answer.text
    assert "E401" not in answer.text


def test_code_comes_with_its_introduction_and_verbatim(hit, evidence) -> None:
    text = (
        "To add a chart repository, run:\n\n```sh\nhelm repo add [1] ~x\n```\n\nBirds fly south.\n"
    )
    answer = extract_answer("How do I add a chart repository?", evidence(hit(text)))
    assert "To add a chart repository, run: [1]" in answer.text
    assert answer.text.endswith("```sh\nhelm repo add [1] ~x\n```")
    (citation,) = answer.citations
    quoted = text[citation.quote.start : citation.quote.end]
    assert quoted == "To add a chart repository, run:\n\n```sh\nhelm repo add [1] ~x"


def test_code_without_its_introduction_has_a_marker_of_its_own(hit, evidence) -> None:
    text = (
        "Helm can add a chart repository.\n\n"
        f"{'Many other words stand here. ' * 3}Here is how {'so ' * 200}it goes:\n\n"
        "```sh\nhelm add chart repository\n```\n"
    )
    found = evidence(hit(text))
    answer = extract_answer("How do I add a chart repository with helm?", found, max_tokens=60)
    assert answer.text == (
        "Helm can add a chart repository [1].\n\n```sh\nhelm add chart repository\n```\n[1]"
    )
    assert [text[c.quote.start : c.quote.end] for c in answer.citations] == [
        "Helm can add a chart repository.",
        "helm add chart repository",
    ]


def test_a_sentence_that_leans_back_brings_the_one_before(hit, evidence) -> None:
    text = "The guardrail filters output. It blocks secrets and personal names at once."
    answer = extract_answer("What blocks secrets and personal names?", evidence(hit(text)))
    assert answer.text.startswith("The guardrail filters output [1].")


def test_markers_are_one_to_one_with_chunks_of_equally_named_files(hit, evidence) -> None:
    hits = [
        hit(f"The {word} mode keeps {n} entries in memory.", path=path, chunk_id=f"c{n}")
        for n, (word, path) in enumerate(
            [("red", "a/x.md"), ("green", "b/x.md"), ("blue", "c.md"), ("grey", "a/x.md")], start=1
        )
    ]  # fmt: skip
    answer = extract_answer(
        "How many entries does the grey mode keep in memory?", evidence(*hits), max_units=1
    )
    assert answer.cited_chunk_ids == ("c4",)
    assert answer.text == "The grey mode keeps 4 entries in memory [1]."


def test_foreign_markers_of_documents_are_no_markers(hit, evidence) -> None:
    answer = extract_answer(
        "Where was the treaty signed?", evidence(hit("The treaty was signed in Rome [7]."))
    )
    assert answer.text == "The treaty was signed in Rome (7) [1]."


def test_a_fence_inside_code_does_not_end_it(hit, evidence) -> None:
    text = "Write a fence so:\n\n````md\n```\nfence\n```\n````\n"
    answer = extract_answer("How do I write a fence?", evidence(hit(text)))
    assert answer.text.endswith("[1]\n\n````md\n```\nfence\n```\n````")


def test_the_same_statement_is_quoted_once(hit, evidence) -> None:
    same = "The router keeps 1000 entries in the cache."
    answer = extract_answer(
        "How many entries does the router keep?",
        evidence(hit(same, path="a.md"), hit(same, path="b.md")),
    )
    assert answer.text.count("1000") == 1


def test_parts_of_a_research_answer_stand_under_their_question(hit, evidence) -> None:
    found = evidence(
        hit("Helm installs charts into a cluster.", path="a.md", sub_query="What does Helm install?"),
        hit("Tiller was removed because it had too many rights.", path="b.md", sub_query="Why was Tiller removed?"),
        sub_queries=("What does Helm install?", "Why was Tiller removed?", "Who wrote zzqx?"),
        uncovered=("Who wrote zzqx?",),
    )  # fmt: skip
    answer = extract_answer(
        "What does Helm install and why was Tiller removed?", found, tier=Tier.RESEARCH
    )
    assert answer.text == (
        "### What does Helm install?\n\nHelm installs charts into a cluster [1].\n\n"
        "### Why was Tiller removed?\n\nTiller was removed because it had too many rights [2].\n\n"
        "### Nothing found: Who wrote zzqx?"
    )
    _marked(answer)


def test_several_sources_are_joined_for_a_multi_source_question(hit, evidence) -> None:
    found = evidence(
        hit("Red mode limits the cache to 10 entries.", path="a.md"),
        hit("Green mode limits the cache to 90 entries.", path="b.md"),
    )
    answer = extract_answer(
        "How do red mode and green mode limit the cache?", found, tier=Tier.MULTI_SOURCE
    )
    assert len(answer.cited_chunk_ids) == 2


def test_the_budget_holds(hit, evidence) -> None:
    text = " ".join(
        f"Cache rule {n} says that the cache keeps entry number {n}." for n in range(60)
    )
    short = extract_answer(
        "Which cache rule keeps entry?", evidence(hit(text)), max_tokens=30, max_units=20
    )
    assert 0 < len(short.citations) <= 2


@pytest.mark.parametrize(
    "question", ["", " ", '"', "*", "NEAR(", "\x00", "\ud800", "\u202eabc", "a" * 100_000]
)
def test_hostile_questions_never_raise(hit, evidence, question) -> None:
    assert extract_answer(question, evidence(hit(_LIMITS))).text


def test_no_hit_is_an_abstention(evidence) -> None:
    answer = extract_answer("What is Helm?", evidence())
    assert answer.abstention is AbstentionReason.NO_DOCUMENT_MATCHES
    assert answer.mode is GenerationMode.ABSTAINED


def test_a_near_tie_is_settled_by_two_vectors_at_most(hit, evidence) -> None:
    asked: list[list[str]] = []

    def embed(texts):
        asked.append(list(texts))
        return np.array([[1.0, 0.0] if "blue" in text else [0.0, 1.0] for text in texts])

    text = "The colour of the sky is grey. The colour of the sky is blue."
    answer = extract_answer(
        "What is the colour of the sky?", evidence(hit(text)), max_units=1, embed=embed,
        question_vector=np.array([1.0, 0.0]),
    )  # fmt: skip
    assert answer.text == "The colour of the sky is blue [1]."
    assert [len(texts) for texts in asked] == [2]


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("路由器缓存保留多少条目？", "猫整天睡觉。路由器的缓存默认保留1000个条目。", "路由器的缓存默认保留1000个条目[1]。"),
        ("キャッシュは何件保持しますか？", "猫は寝ます。キャッシュは1000件を保持します。", "キャッシュは1000件を保持します[1]。"),
        ("Wie viele Einträge behält der Cache?", "Katzen schlafen. Der Cache behält 1000 Einträge.", "Der Cache behält 1000 Einträge [1]."),
    ],
)  # fmt: skip
def test_other_languages_are_answered_in_their_own_words(
    hit, evidence, question, text, wanted
) -> None:
    assert wanted in extract_answer(question, evidence(hit(text)), max_units=1).text
