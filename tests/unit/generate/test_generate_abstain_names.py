"""A question about a name that the corpus does not know, and one that names a section."""

from dataclasses import replace

from fingerpost.generate import extract_answer, should_abstain
from fingerpost.types import AbstentionReason, Chunk, Document, Evidence, Hit, Span, Tier

_DOCUMENT = Document("d", "a.md", "docs", "file:///a.md", "Heron", "0")


def _evidence(text, heading, unknown=(), coverage=0.4):
    chunk = Chunk("c", "d", 0, text, Span(0, len(text)), ("Heron", heading), 1, 3, search_text=text)
    return Evidence(
        (Hit(chunk, _DOCUMENT, 0.8, lexical_rank=1, lexical_score=3.0),),
        coverage=coverage,
        unknown_terms=frozenset(unknown),
    )


def test_a_name_that_stands_nowhere_is_not_answered_from_its_neighbours():
    evidence = _evidence(
        "Heron runs on Linux and on macOS.", "Platforms", {"dwave", "wave", "quantum"}
    )
    question = "Does quantum computing run on D-Wave machines?"
    assert should_abstain(question, evidence) in (
        AbstentionReason.EVIDENCE_TOO_WEAK,
        AbstentionReason.NO_DOCUMENT_MATCHES,
    )


def test_a_question_that_is_little_more_than_a_heading_is_answered_from_its_section():
    evidence = _evidence("The server is not running. Start it again.", "ECONNREFUSED")
    assert should_abstain("What does ECONNREFUSED mean?", evidence) is None


def _near(text, heading, cosine, **about):
    evidence = _evidence(text, heading, **about)
    hit = replace(evidence.hits[0], vector_rank=1, vector_score=cosine)
    other = _evidence("The pumps work at night.", "Pumps").hits[0]
    return replace(evidence, hits=(hit, other))


def test_how_a_thing_works_is_answered_from_what_is_said_of_it_without_that_word():
    text = "A filter restricts a question to some of the documents."
    evidence = _near(text, "Search only some of your documents", 0.29, coverage=0.7)
    assert should_abstain("How do filters work?", evidence) is None
    assert should_abstain("How does a filter work?", evidence) is None


def test_how_an_unknown_thing_works_is_not_answered_however_near_the_nearest_is():
    for coverage in (0.0, 0.2):
        about = {"unknown": {"hat"}, "coverage": coverage}
        evidence = _near("A hook is a function that works in a stage.", "Hooks", 0.6, **about)
        assert should_abstain("How do hats work?", evidence) is not None


def test_a_heading_that_is_one_word_of_many_is_no_answer():
    evidence = _evidence("Run the installer.", "Install", {"coffe", "machin", "kitchen"}, 0.1)
    assert should_abstain("How do I install a coffee machine in the kitchen?", evidence) is not None


_TWO = "What does ECONNREFUSED mean? And how do I bake sourdough bread?"
_PARTS = ("What does ECONNREFUSED mean", "And how do I bake sourdough bread")


def _two_parts():
    unknown = {"bake", "sourdough", "bread"}
    evidence = _evidence("The server is not running.", "ECONNREFUSED", unknown, 0.2)
    assert should_abstain(_TWO, evidence) is not None
    return replace(evidence, sub_queries=_PARTS)


def test_the_part_that_is_covered_is_answered_and_the_weak_one_is_named():
    answer = extract_answer(_TWO, _two_parts(), tier=Tier.RESEARCH)
    assert should_abstain(_TWO, _two_parts()) is None
    assert answer.text == (f"The server is not running [1].\n\n### Nothing found: {_PARTS[1]}")
    assert answer.uncovered == _PARTS[1:]


def test_a_question_of_which_no_part_is_covered_is_not_answered():
    other = replace(_two_parts(), sub_queries=("How do I bake bread", "And sourdough pizza"))
    covered_by_nothing = replace(_two_parts(), uncovered=_PARTS)
    one_usual_word = replace(_two_parts(), sub_queries=("How is it running", _PARTS[1]))
    for evidence in (other, covered_by_nothing, one_usual_word):
        assert should_abstain(_TWO, evidence) is not None
        assert extract_answer(_TWO, evidence, tier=Tier.RESEARCH).abstention is not None


def test_a_part_is_not_judged_by_what_is_near_to_another():
    found = _evidence("The server is not running.", "Errors", {"bake", "bread"}, 0.2).hits[0]
    parts = ("Which errors has the server", "How do I bake bread")
    near, far = (
        replace(found, vector_score=cosine, sub_query=part)
        for cosine, part in zip((0.9, 0.1), parts, strict=True)
    )
    evidence = Evidence((near, far), sub_queries=parts, unknown_terms=frozenset({"bake", "bread"}))
    answer = extract_answer("Which errors? How do I bake bread?", evidence, tier=Tier.RESEARCH)
    assert answer.uncovered == parts[1:]
    assert answer.abstention is None
