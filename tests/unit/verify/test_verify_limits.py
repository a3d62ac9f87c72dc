"""What no text can do to the verifier: take its time, or raise."""

import time

import pytest

from fingerpost.types import Verdict
from fingerpost.verify import CitationVerifier, extract_claims, judge_pair

CLAIM = "The cache holds 512 entries"
SOURCE = "The cache holds 256 entries."
MOST_S = 2.0
REPEATED = (
    "[1]", "[1](x) ", "10 MB ", "1 ", "5 to 10 ", "10..20 ", "&#110;", "<!-- ", "<!-- --> ", "`x ",
    "two ", "1 January 2020 ", "more than ", "foo_bar ", "- ", "|", "\n|---|\n", "\x1b]", "9",
    "tausend", "not ", "a/", "**", "Name ",
)  # fmt: skip


@pytest.mark.parametrize("token", REPEATED)
def test_what_is_repeated_ten_thousand_times_is_checked_in_linear_time(token):
    verifier = CitationVerifier()
    many = token * 10_000 + "x"
    verifier.verify_sync(CLAIM, [SOURCE])
    for answer, source in ((f"{CLAIM} {many}", SOURCE), (CLAIM, f"{SOURCE} {many}")):
        started = time.process_time()
        verifier.verify_sync(answer, [source])
        assert time.process_time() - started < MOST_S
    started = time.process_time()
    verifier.verify_sync(f"{CLAIM} {many}", [f"{SOURCE} {many}"])
    assert time.process_time() - started < MOST_S


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The cache is " + "very " * 900 + "large.", "longer than 4,000 characters"),
        ("The ports are " + ", ".join(str(n) for n in range(70)), "more than 64 quantities"),
        ("It sets " + ", ".join(f"key_{n}" for n in range(70)), "more than 64 identifiers"),
    ],
)
def test_a_claim_that_says_too_much_at_once_is_not_checked_and_says_why(claim, reason):
    found = CitationVerifier().verify_sync(claim, [claim])
    assert [(one.verdict, one.reasons) for one in found.claims] == [
        (Verdict.NOT_CHECKED, (reason,))
    ]


def test_a_statement_deep_in_a_sentence_without_end_is_found():
    source = "and so on " * 2_000 + "while the cache holds 256 entries " + "and so on " * 2_000
    found = CitationVerifier().verify_sync("The cache holds 512 entries.", [source])
    assert found.claims[0].verdict is Verdict.CONTRADICTED
    span = found.claims[0].source_span
    assert "the cache holds 256 entries" in source[span.start : span.end]
    assert span.end - span.start <= 2_000


def test_numbers_of_any_length_are_compared_by_what_they_begin_with():
    one, other = "1" * 400, "2" * 400
    verifier = CitationVerifier()
    assert verifier.verify_sync(f"It holds {one} rows.", [f"It holds {one} rows in all."])
    found = verifier.verify_sync(f"The table holds {one} rows.", [f"The table holds {other} rows."])
    assert found.claims[0].verdict is Verdict.CONTRADICTED


def test_what_time_leaves_unread_of_a_long_answer_is_one_claim_that_is_not_checked():
    lines = [f"The cache number {n} holds {n} entries." for n in range(2_000)]
    answer = "\n\n".join(lines)
    found = CitationVerifier().verify_sync(answer, [SOURCE], time_limit_s=-1.0)
    assert found.not_checked_count == found.total_claims < len(lines)
    rest = found.claims[-1].span
    assert answer[rest.start : rest.end].endswith(lines[-1])
    assert found.supported_count == 0


def test_a_paragraph_that_never_ends_gives_each_of_its_sentences_once():
    sentence = "The cache holds 512 entries of one kind. "
    claims = extract_claims(sentence * 2_000)
    assert [claim.text for claim in claims] == [sentence.strip()] * 2_000


def test_a_number_word_of_any_length_is_read():
    word = "tausend" * 1_500
    assert judge_pair(f"Es sind {word} Zeilen.", "Es sind neun Zeilen.").p_supported >= 0.0
