from __future__ import annotations

import pytest

from fingerpost.generate import abstain, cite_sources, extract_answer
from fingerpost.types import AbstentionReason, Answer, GenerationMode

_ONE = "Helm keeps its cache in a folder. Helm writes 12 files there."
_TWO = "Cats sleep all day in the sun."


def test_each_marker_has_exactly_one_source_and_unused_hits_have_none(hit, evidence) -> None:
    found = evidence(
        hit(_TWO, path="cats.md"), hit(_ONE, path="helm.md", headings=("Guide", "Cache"), score=0.7)
    )
    answer = extract_answer("How many files does Helm write?", found)
    (source,) = cite_sources(answer, found)
    assert (source.index, source.path, source.cited) == (1, "helm.md", True)
    assert (source.heading, source.heading_path) == ("Cache", ("Guide", "Cache"))
    assert source.id == answer.cited_chunk_ids[0]
    assert source.snippet.startswith("Helm")


def test_an_abstention_lists_the_nearest_hits_uncited(hit, evidence) -> None:
    found = evidence(hit(_ONE, path="a.md", score=3.0), hit(_TWO, path="b.md", score=-1.0))
    sources = cite_sources(abstain(AbstentionReason.EVIDENCE_TOO_WEAK, "q"), found)
    assert [(s.index, s.path, s.cited, s.relevance_score) for s in sources] == [
        (1, "a.md", False, 1.0),
        (2, "b.md", False, 0.0),
    ]


def test_a_chunk_outside_the_evidence_is_refused(hit, evidence) -> None:
    answer = Answer("x [1]", GenerationMode.MODEL, cited_chunk_ids=("gone",))
    with pytest.raises(ValueError, match="gone"):
        cite_sources(answer, evidence(hit(_ONE)))


@pytest.mark.parametrize(
    ("path", "headings", "url"),
    [
        (
            "guide/install.md",
            ("Install", "From Script"),
            "https://d.example/guide/install#from-script",
        ),
        ("guide/index.mdx", (), "https://d.example/guide"),
        ("a b/ü.md", (), "https://d.example/a%20b/%C3%BC"),
        ("README.md", (), "https://d.example/"),
    ],
)
def test_published_addresses_follow_path_and_heading(hit, evidence, path, headings, url) -> None:
    found = evidence(hit(_ONE, path=path, headings=headings))
    (source,) = cite_sources(
        abstain(AbstentionReason.EVIDENCE_TOO_WEAK, "q"), found, docs_url="https://d.example/"
    )
    assert source.url == url


def test_names_and_snippets_cannot_steer_a_terminal(hit, evidence) -> None:
    found = evidence(
        hit("\x1b[31m![x](https://evil.example) text", path="a\u202e.md", title="T\x1b[0m\nx")
    )
    (source,) = cite_sources(abstain(AbstentionReason.EVIDENCE_TOO_WEAK, "q"), found)
    assert (source.path, source.title, source.snippet) == ("a.md", "T x", "text")


def test_snippets_are_short_and_cut_at_words(hit, evidence) -> None:
    found = evidence(hit("word " * 500))
    (source,) = cite_sources(abstain(AbstentionReason.EVIDENCE_TOO_WEAK, "q"), found)
    assert len(source.snippet) <= 300
    assert source.snippet.endswith("word…")
