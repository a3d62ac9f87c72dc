"""A question about a name that the corpus does not know, and one that names a section."""

from fingerpost.generate import should_abstain
from fingerpost.types import AbstentionReason, Chunk, Document, Evidence, Hit, Span

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


def test_a_heading_that_is_one_word_of_many_is_no_answer():
    evidence = _evidence("Run the installer.", "Install", {"coffe", "machin", "kitchen"}, 0.1)
    assert should_abstain("How do I install a coffee machine in the kitchen?", evidence) is not None
