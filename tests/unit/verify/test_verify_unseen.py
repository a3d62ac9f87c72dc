"""What no reader sees does not count; where nothing is shared nothing can be said."""

import time

import pytest

from fingerpost.types import Verdict
from fingerpost.verify import CitationVerifier, SourceText, judge_pair

MARKED = {
    "a terminal escape": "port is \x1b[5m9090\x1b[0m",
    "a title escape": "port \x1b]0;name\x07is 9090",
    "control characters": "port\x00 is 90\x0890",
    "direction marks": "port is \u202e\u20669090\u2069",
    "zero-width blanks": "po\u200brt is 90\u200b90",
    "a soft hyphen": "po\u00adrt is 9090",
}


@pytest.mark.parametrize("source", MARKED.values(), ids=MARKED)
def test_unseen_characters_in_a_source_change_no_verdict_and_spans_stay_right(source):
    text = f"\u200bFirst line.\n{source} here.\n"
    given = SourceText(text, 1, "a.md")
    one = CitationVerifier().verify_sync(
        ["The first line, and port is 9090", "port is 9090"], [given]
    )
    verdict = one.claims[1]
    assert verdict.verdict is Verdict.SUPPORTED
    span = verdict.source_span
    assert text[span.start : span.end] == verdict.source_snippet
    assert verdict.source_snippet.startswith("p")
    assert verdict.source_snippet.endswith("90")
    assert verdict.source_line == 2


@pytest.mark.parametrize("claim", MARKED.values(), ids=MARKED)
def test_unseen_characters_in_a_claim_change_no_verdict(claim):
    found = CitationVerifier().verify_sync([claim], ["The port is 9090 here."])
    assert found.claims[0].verdict is Verdict.SUPPORTED
    assert judge_pair(claim, "The port is 9090 here.").verdict is Verdict.SUPPORTED


def test_a_number_that_differs_is_still_found_behind_escapes():
    found = CitationVerifier().verify_sync(
        ["The pool has 8 workers."], ["The pool has \x1b[5m6\x1b[0m workers."]
    )
    assert found.claims[0].verdict is Verdict.CONTRADICTED


SAYS = "The cache holds 256 entries. The export is enabled by default."


@pytest.mark.parametrize(
    "claim",
    [
        "The cache holds 256<!-- -->0 entries.",
        "The export is not<!-- --> enabled by default.",
        "The export is never<!----> enabled by default.",
        "The export is no<!-- a\nb -->t enabled by default.",
        "The export is n\u043et enabled by default.",
        "The export is no\u0336t enabled by default.",
        "The export is ne\u0301ver enabled by default.",
        "The export is &#110;ot enabled by default.",
        "The export is &#x6e;ot&nbsp;enabled by default.",
        "The cache holds &#50;560 entries.",
        "\x1b]The cache holds 999 entries.",
        "\x1b]The cache holds 999 entries.\nIt is a cache.\x07",
    ],
)
def test_what_a_reader_sees_of_a_claim_is_judged(claim):
    found = CitationVerifier().verify_sync(claim, [SAYS])
    assert found.claims[0].verdict is Verdict.CONTRADICTED
    assert found.overall_grounded is False
    assert judge_pair(claim.partition("\nIt")[0], SAYS).verdict is Verdict.CONTRADICTED


def test_what_stands_only_in_a_comment_is_no_claim():
    answer = "<!-- The cache holds 999 entries. -->\nThe cache holds 256 entries.\n<!-- open"
    claims = CitationVerifier().verify_sync(answer, [SAYS]).claims
    assert claims[0].claim.startswith("The cache holds 256 entries.")
    assert answer[claims[0].span.start :].startswith("The cache holds 256")
    assert not any("999" in claim.claim for claim in claims)


def test_references_and_comments_of_a_source_are_read_and_its_spans_stay():
    source = "&quot;Safe&quot; mode <!-- once 4 -->uses 8&nbsp;thr&#101;ads &amp;&#32;locks&#46;"
    found = CitationVerifier().verify_sync(["Safe mode uses 8 threads & locks"], [source])
    span = found.claims[0].source_span
    assert found.claims[0].verdict is Verdict.SUPPORTED
    assert source[span.start : span.end] == found.claims[0].source_snippet
    assert found.claims[0].source_snippet.endswith(("locks", "locks&#46;"))


def test_a_place_that_begins_and_ends_with_a_reference_holds_both():
    source = "It rains. &#83;afe mode uses 8 thread&#115;"
    found = CitationVerifier().verify_sync(["Safe mode uses 8 threads"], [source])
    assert found.claims[0].source_snippet == "&#83;afe mode uses 8 thread&#115;"


def test_a_comment_inside_a_word_parts_nothing():
    claims = CitationVerifier().verify_sync("The cache holds 256<!-- a\nb -->0 entries.", [SAYS])
    assert claims.claims[0].claim == "The cache holds 2560 entries."


def test_words_of_another_alphabet_stay_what_they_are():
    found = CitationVerifier().verify_sync(
        ["Кэш хранит 256 записей."], ["Кэш хранит 256 записей на диске."]
    )
    assert found.claims[0].verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Bob owns the cache.", "The weather is sunny."),
        ("The cache is large.", "It rains in Paris today."),
        ("Le cache est grand.", "Il pleut à Paris."),
        ("Der Speicher ist voll.", "Die Sonne scheint heute."),
    ],
)
def test_a_claim_that_shares_no_word_with_its_source_is_unverifiable(claim, source):
    found = CitationVerifier().verify_sync([claim], [source])
    assert found.claims[0].verdict is Verdict.UNVERIFIABLE
    assert judge_pair(claim, source).verdict is Verdict.UNVERIFIABLE


def test_an_exact_quote_of_its_cited_source_costs_a_fraction_of_a_millisecond():
    lines = [
        f"Setting number {n} of the cache is kept in the file config{n}.toml." for n in range(60)
    ]
    source = SourceText("\n".join(lines), 1, "a.md")
    verifier = CitationVerifier()
    spent = []
    for _ in range(3):
        started = time.process_time()
        found = verifier.verify_sync(lines, [source])
        spent.append(time.process_time() - started)
    assert found.supported_count == len(lines)
    assert min(spent) / len(lines) < 0.0006  # twice what it may take, for a busy machine
