"""Laws of verification that hold for any text."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fingerpost.types.answer import Verdict
from fingerpost.verify import (
    CitationVerifier,
    OnUnsupported,
    apply_policy,
    extract_claims,
    judge_pair,
)
from fingerpost.verify.blocks import prose_blocks
from fingerpost.verify.markers import find_markers
from fingerpost.verify.unseen import JOINER, as_read

PIECES = st.sampled_from(
    [
        "The cache lives for 2 hours", "Helm uses four modes", "It never restarts", " [1]", "[2, 3]",
        ". ", "! ", "? ", "。", "\n", "\n\n", "- ", "* ", "| a | b |", "|---|---|", "```", "~~~", "`x[1]`",
        "# ", "===", "v2.10 ", "1,000 ", "3.5 % ", "12 March 2024 ", "--no-force ", "не ", "四つ", "\x00",
        "\ud800", "é", "【1】", "［２］", "[[", "]]", "$5", "99999999999999999999 ", "²", "٣", "Dr. ", "…",
        "[^1]", "[^1]: a.md", "【1†L3】", "<b>", "</b>", "<p>", "<li>", "<br>", "> ", ">> ", "\r\n",
    ]
)  # fmt: skip
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=14).map("".join))

UNRELATED = (
    "Penguins huddle in winter storms.\nWhales sing to each other over long distances.",
    "Pour the batter into a buttered tin and bake until golden.",
    "Der Wal ist ein Säugetier. Pinguine brüten im Winter.",
)
ANSWER = (
    "The cache lives for 3 hours [1]. The daemon restarts after an update [1]. "
    "Compression is disabled by default. Uploads may be up to 512 MB. Guests own a boat."
)
SOURCES = (
    "The cache lives for two hours. Compression is enabled by default.",
    "After an update the daemon restarts. Uploads are limited to 512 MB in size.",
)


@settings(max_examples=150, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=3))
def test_any_answer_and_sources_give_verdicts_and_never_raise(answer, sources):
    found = CitationVerifier().verify_sync(answer, sources)
    assert 0 <= found.supported_ratio <= 1
    for claim in found.claims:
        assert 0 <= claim.confidence <= 1
        if claim.source_span is not None:
            text = sources[claim.source_index - 1]
            assert text[claim.source_span.start : claim.source_span.end] == claim.source_snippet
            assert claim.source_line >= 1


@settings(max_examples=200, deadline=None)
@given(TEXT)
@example(".` 0`[0]`0")
def test_claims_are_disjoint_in_order_and_their_spans_hold_their_words(answer):
    end = 0
    for claim in extract_claims(answer):
        assert end <= claim.span.start < claim.span.end <= len(answer)
        end = claim.span.end
        assert "".join(claim.text.split()) == _bare(answer, claim.span)


def _bare(answer, span):
    """The span without blanks and without the markers of the whole answer.

    Whether ``[0]`` is a marker or code is decided by the backticks before it, so a part of the
    answer alone cannot tell.
    """
    answer = as_read(answer)
    assert len(answer) >= span.end
    kept = list(answer.replace(JOINER, " "))
    for block, _ in prose_blocks(answer):
        for marker in find_markers(answer[block.start : block.end]):
            start, end = marker.start + block.start, marker.end + block.start
            kept[start:end] = " " * (end - start)
    return "".join("".join(kept[span.start : span.end]).split())


STATEMENTS = (
    "The cache lives for 2 hours.", "Helm v2.10 uses 3.5 GB, e.g. at night.", "Er startet am 3. Mai neu.",
    "服务器有四个节点。", "サーバーは毎日再起動します。", "يعمل الخادم على أربع عقد.", "सर्वर चार नोड पर चलता है।",
    "“Quoted words stay whole.”", "Run `a. b` to start it!", "Он работает, напр. ночью.", "Le serveur a 4 nœuds !",
)  # fmt: skip
NO_CLAIMS = (
    "# A heading",
    "```\nThe code is no claim.\n```",
    "What is next?",
    "| a | b |\n|---|---|",
    "---",
    "**Notes**",
)
LAYOUTS = ("{}", "- {}", "1. {}", "> {}", "- {} [1]", "| {} | x |")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(LAYOUTS), st.sampled_from(STATEMENTS)),
            st.sampled_from(NO_CLAIMS),
        ),
        max_size=8,
    )
)
def test_every_statement_is_a_claim_once_and_nothing_else_is(parts):
    told = [part if isinstance(part, str) else part[0].format(part[1]) for part in parts]
    claims = extract_claims("\n\n".join(told))
    stated = [part[1] for part in parts if not isinstance(part, str)]
    assert [claim.text.removesuffix(" | x") for claim in claims] == stated


@settings(max_examples=60, deadline=None)
@given(TEXT, TEXT)
def test_judging_a_pair_never_raises_and_gives_probabilities(claim, source):
    said = judge_pair(claim, source)
    assert 0 <= said.p_supported <= 1
    assert 0 <= said.p_contradicted <= 1


@settings(max_examples=60, deadline=None)
@given(TEXT, st.sampled_from(list(OnUnsupported)))
def test_the_policy_only_takes_away(answer, policy):
    found = CitationVerifier().verify_sync(answer, ["Helm uses four modes."])
    text, dropped = apply_policy(answer, found, policy)
    at = 0
    for mark in text:
        at = answer.index(mark, at) + 1
    assert bool(dropped) == (text != answer)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(UNRELATED), max_size=4), st.integers(0, 2))
def test_unrelated_sources_change_no_verdict(added, place):
    plain = CitationVerifier().verify_sync(_unmarked(), SOURCES)
    mixed = [*SOURCES[:place], *added, *SOURCES[place:]]
    more = CitationVerifier().verify_sync(_unmarked(), mixed)
    assert [c.verdict for c in more.claims] == [c.verdict for c in plain.claims]
    assert {c.verdict for c in plain.claims} >= {Verdict.SUPPORTED, Verdict.CONTRADICTED}


@settings(max_examples=20, deadline=None)
@given(st.permutations([*SOURCES, *UNRELATED]))
def test_the_order_of_sources_changes_no_verdict(order):
    verifier = CitationVerifier()
    straight = verifier.verify_sync(_unmarked(), [*SOURCES, *UNRELATED])
    other = verifier.verify_sync(_unmarked(), order)
    assert [(c.verdict, c.confidence, c.source_snippet) for c in other.claims] == [
        (c.verdict, c.confidence, c.source_snippet) for c in straight.claims
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(SOURCES), max_size=3))
def test_a_source_that_is_given_again_changes_no_verdict(again):
    plain = CitationVerifier().verify_sync(_unmarked(), SOURCES)
    more = CitationVerifier().verify_sync(_unmarked(), [*SOURCES, *again])
    assert [(c.verdict, c.confidence, c.source_snippet) for c in more.claims] == [
        (c.verdict, c.confidence, c.source_snippet) for c in plain.claims
    ]


BLANKS = st.text(" \t\r\n", max_size=6)


@settings(max_examples=60, deadline=None)
@given(BLANKS, BLANKS)
@example("\r\n", " ")
def test_blanks_at_the_end_of_an_answer_and_its_sources_change_no_verdict(after, following):
    plain = CitationVerifier().verify_sync(ANSWER, SOURCES)
    padded = [source + following for source in SOURCES]
    more = CitationVerifier().verify_sync(ANSWER + after, padded)
    assert [(c.claim, c.verdict, c.confidence) for c in more.claims] == [
        (c.claim, c.verdict, c.confidence) for c in plain.claims
    ]


@settings(max_examples=150, deadline=None)
@given(TEXT)
def test_every_span_of_a_verdict_cuts_its_claim_from_the_answer(answer):
    found = CitationVerifier().verify_sync(answer, ["Helm uses four modes."])
    for claim in found.claims:
        assert 0 <= claim.span.start < claim.span.end <= len(answer)
        cut = answer[claim.span.start : claim.span.end]
        assert cut == cut.strip()


def _unmarked():
    return ANSWER.replace(" [1]", "")


@settings(max_examples=100, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=3), st.lists(st.floats(0, 1), min_size=3, max_size=3))
@example(ANSWER, list(SOURCES), [0.1, 0.4, 0.9])
def test_a_higher_threshold_supports_no_further_claim(answer, sources, levels):
    low, middle, high = sorted(levels)

    def claims(verdict, supported_at, unverifiable_below):
        verifier = CitationVerifier(
            supported_at=supported_at, unverifiable_below=unverifiable_below
        )
        found = verifier.verify_sync(answer, sources)
        return {at for at, claim in enumerate(found.claims) if claim.verdict is verdict}

    assert claims(Verdict.SUPPORTED, high, low) <= claims(Verdict.SUPPORTED, middle, low)
    assert claims(Verdict.SUPPORTED, high, low) == claims(Verdict.SUPPORTED, high, middle)
    assert claims(Verdict.UNVERIFIABLE, high, low) <= claims(Verdict.UNVERIFIABLE, high, middle)
