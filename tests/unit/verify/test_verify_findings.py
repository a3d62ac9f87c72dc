"""Wrong citation, missing citation and lack of support are three findings; scores of citing."""

import time

import pytest

from fingerpost.types.answer import CitedSource, Verdict
from fingerpost.verify import CitationVerifier, SourceText, citation_scores

MODES = "The default mode is safe. Fast mode uses eight threads."
PORTS = "The admin port is 9443. Logs are kept for ten days."
SOURCES = [MODES, PORTS]


def only(answer, sources=SOURCES):
    (claim,) = CitationVerifier().verify_sync(answer, sources).claims
    return claim


@pytest.mark.parametrize(
    ("answer", "verdict", "wrong", "cited"),
    [
        ("The default mode is safe [1].", "supported", False, {1: "supported"}),
        ("The default mode is safe [2].", "supported", True, {2: "unverifiable"}),
        ("The default mode is safe [1][2].", "supported", False, {1: "supported", 2: "unverifiable"}),
        ("The default mode is safe [1][7].", "supported", True, {1: "supported", 7: None}),
        ("The default mode is safe [7].", "supported", True, {7: None}),
        ("Fast mode uses nine threads [1].", "contradicted", False, {1: "contradicted"}),
        ("Fast mode uses nine threads [2].", "contradicted", False, {2: "unverifiable"}),
        ("Penguins huddle in storms [1].", "unverifiable", False, {1: "unverifiable"}),
        ("Penguins huddle in storms [7].", "unverifiable", True, {7: None}),
    ],
)  # fmt: skip
def test_the_verdict_and_each_citation_are_told_apart(answer, verdict, wrong, cited):
    claim = only(answer)
    assert (claim.verdict, claim.wrong_citation, claim.missing_citation) == (verdict, wrong, False)
    assert claim.cited == tuple(
        CitedSource(number, None if said is None else Verdict(said))
        for number, said in cited.items()
    )


def test_each_finding_is_counted_for_itself():
    found = CitationVerifier().verify_sync(
        "The default mode is safe [1]. The admin port is 9443 [1]. Fast mode uses eight threads. "
        "Fast mode uses nine threads [7].",
        SOURCES,
    )
    assert (found.total_claims, found.supported_count, found.contradicted_count) == (4, 3, 1)
    assert (found.wrong_citation_count, found.missing_citation_count) == (2, 1)
    assert found.citation_precision == pytest.approx(1 / 3)
    assert found.citation_recall == pytest.approx(1 / 4)


def test_an_answer_without_markers_has_no_scores_of_citing():
    found = CitationVerifier().verify_sync(MODES, SOURCES)
    assert (found.citation_precision, found.citation_recall) == (None, None)
    assert found.missing_citation_count == 0


def test_two_sources_may_bear_a_claim_out_together():
    halves = ["The cache holds 256 entries.", "The cache expires after 90 seconds."]
    claim = "The cache holds 256 entries and expires after 90 seconds"
    together = only(f"{claim} [1][2].", halves)
    alone = only(f"{claim} [1].", halves)
    assert together.verdict is Verdict.SUPPORTED
    assert "together" in together.reasons[0]
    assert not together.wrong_citation
    assert alone.verdict is not Verdict.SUPPORTED
    assert citation_scores([together]) == (1.0, 1.0)


def test_several_texts_may_bear_one_number():
    parts = [SourceText(PORTS, 1, "page.md"), SourceText(MODES, 1, "page.md", line_start=9)]
    claim = only("The default mode is safe [1].", parts)
    assert (claim.verdict, claim.wrong_citation, claim.source_ref) == (
        "supported",
        False,
        "page.md:9",
    )
    assert claim.cited == (CitedSource(1, Verdict.SUPPORTED),)


def test_what_was_not_checked_counts_for_no_score():
    ticks = iter([0.0, 0.0])
    verifier = CitationVerifier(clock=lambda: next(ticks, 9.0))
    answer = "The default mode is safe [1]. The admin port is 9443 [7]."
    found = verifier.verify_sync(answer, SOURCES, time_limit_s=1.0)
    assert [claim.verdict for claim in found.claims] == [Verdict.SUPPORTED, Verdict.NOT_CHECKED]
    assert (found.citation_precision, found.citation_recall) == (1.0, 1.0)
    assert (found.not_checked_count, found.supported_ratio) == (1, 0.5)
    assert found.claims[1].wrong_citation


def test_no_time_at_all_checks_nothing_and_supports_nothing():
    found = CitationVerifier().verify_sync(MODES, SOURCES, time_limit_s=-1.0)
    assert found.not_checked_count == found.total_claims == 2
    assert found.supported_ratio == 0.0


def test_the_time_of_a_call_goes_before_that_of_the_verifier():
    late = CitationVerifier(time_limit_s=-1.0)
    assert late.verify_sync(MODES, SOURCES, time_limit_s=60.0).supported_count == 2
    assert late.verify_sync(MODES, SOURCES).not_checked_count == 2


def test_fifteen_hundred_claims_against_a_long_source_take_seconds():
    parts = [
        f"Section {n} explains how queue q{n} drains worker w{n} before rotation {n * 7} starts.\n"
        for n in range(1_500)
    ]
    source = "".join(parts)
    answer = "".join(parts).replace("explains", "tells") + "Fast mode uses nine threads.\n"
    began = time.process_time()
    found = CitationVerifier().verify_sync(answer, [source + MODES])
    assert time.process_time() - began < 8
    assert found.total_claims == 1_501
    assert found.claims[-1].verdict is Verdict.CONTRADICTED


def test_where_a_link_leads_is_not_what_a_claim_says():
    claim = only("Safe is the mode of [a new server](https://docs.example.org/9/modes.md).",
                 ["Safe is the mode of [a new server](../8/other.md) until it is changed."])  # fmt: skip
    assert claim.verdict is Verdict.SUPPORTED
    assert claim.claim.endswith("(https://docs.example.org/9/modes.md).")


def test_a_source_that_is_not_cited_decides_only_when_it_says_more_clearly_what_is_so():
    sources = ["The cache holds 256 entries.", "Penguins huddle in winter storms."]
    assert only("The cache is fast [1].", sources).verdict is Verdict.WEAK
    assert only("The cache is fast [2].", sources).verdict is Verdict.UNVERIFIABLE
    claim = only("The cache holds 512 entries [2].", sources)
    assert (claim.verdict, claim.source_index) == (Verdict.CONTRADICTED, 1)
