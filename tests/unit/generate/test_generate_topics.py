from __future__ import annotations

from dataclasses import replace

import pytest

from fingerpost.generate import extract_answer, should_abstain


def test_a_word_the_index_lacks_that_outweighs_the_rest_is_not_answered(hit, evidence) -> None:
    page = hit("Astro supports components of many kinds.", vector_score=0.59)
    found = evidence(page, coverage=0.31, unknown_terms=frozenset({"cobol"}))
    question = "Does Astro support COBOL components?"
    assert should_abstain(question, found) is not None
    assert should_abstain(question, replace(found, unknown_terms=frozenset())) is None


@pytest.mark.parametrize(("near", "answers"), [(0.19, False), (0.7, True)])
def test_words_that_stand_only_in_far_code_are_no_evidence(hit, evidence, near, answers) -> None:
    text = "A test case has an input:\n\n```js\nask('capital of France')\n```\n"
    found = evidence(hit(text, vector_score=near), coverage=1.0)
    assert (should_abstain("What is the capital of France?", found) is None) is answers


def test_a_definition_begins_with_the_first_sentence_of_the_subjects_page(hit, evidence) -> None:
    later = hit("HyDE is off by default.", title="HyDE", headings=("HyDE",), start=90)
    later = replace(later, chunk=replace(later.chunk, ordinal=1))
    first = hit("HyDE improves retrieval with a made-up answer.", title="HyDE", headings=("HyDE",))
    answer = extract_answer("what is HyDE?", evidence(later, first), max_units=1)
    assert answer.text == "HyDE improves retrieval with a made-up answer [1]."
