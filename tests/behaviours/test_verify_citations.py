"""What the verifier tells its callers."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from fingerpost.errors import VerificationError
from fingerpost.types.answer import Verdict
from fingerpost.verify import CitationVerifier, Entailment, SourceText, judge_pair

CHALLENGE = Path(__file__).parent.parent / "data" / "verify" / "challenge.jsonl"
FACTS = "The scheduler keeps four replicas of every shard. Snapshots are taken every night."


def true_context(n_chars):
    """Distinct true sentences, at least so many characters of them."""
    parts, number = [], 0
    while sum(map(len, parts)) < n_chars:
        number += 1
        parts.append(
            f"Section {number} explains how queue q{number} drains worker w{number} before "
            f"rotation number {number * 7} starts.\n"
        )
    return parts


def test_three_lines_are_enough_and_grounding_can_be_false():
    found = CitationVerifier().verify_sync("Helm uses 3 modes [1].", ["Helm uses four modes."])
    assert not found.overall_grounded
    assert found.contradicted_count == 1
    assert found.claims[0].reasons == ("number 3 ≠ four",)


def test_no_claims_are_grounded():
    found = CitationVerifier().verify_sync("Hello! What is next?", ["Anything."])
    assert (found.overall_grounded, found.supported_ratio, found.total_claims) == (True, 1.0, 0)


def test_a_verbatim_quote_is_supported_with_high_confidence():
    found = CitationVerifier().verify_sync(f"{FACTS} [1]", [FACTS])
    assert [claim.verdict for claim in found.claims] == [Verdict.SUPPORTED] * 2
    assert all(claim.confidence >= 0.95 for claim in found.claims)
    assert found.supported_ratio == 1.0


def test_a_false_sentence_after_forty_kilobytes_of_true_context_is_flagged():
    context = "".join(true_context(40_000))
    assert len(context) >= 40_000
    found = CitationVerifier().verify_sync(
        "Queue q9 drains worker w9 before rotation number 64 starts. The scheduler keeps three "
        "replicas of every shard.",
        [context + FACTS],
    )
    assert [claim.verdict for claim in found.claims] == [Verdict.CONTRADICTED] * 2


def test_the_last_false_sentence_of_a_long_true_answer_is_flagged():
    parts = true_context(9_000)
    answer = "".join(parts) + "The scheduler keeps three replicas of every shard."
    assert len(answer.split()) > 900
    found = CitationVerifier().verify_sync(answer, ["".join(parts) + FACTS])
    assert [claim.verdict for claim in found.claims[:-1]] == [Verdict.SUPPORTED] * len(parts)
    assert found.claims[-1].verdict is Verdict.CONTRADICTED


def test_a_wrong_citation_is_supported_and_reported():
    found = CitationVerifier().verify_sync(
        "Snapshots are taken every night [2].", [FACTS, "Logs rotate weekly."]
    )
    (claim,) = found.claims
    assert (claim.verdict, claim.wrong_citation, claim.source_index) == (Verdict.SUPPORTED, True, 1)


def test_a_marker_that_names_no_source_is_a_wrong_citation():
    (claim,) = (
        CitationVerifier().verify_sync("Snapshots are taken every night [7].", [FACTS]).claims
    )
    assert claim.wrong_citation


def test_the_cited_source_decides_when_two_support_the_claim():
    found = CitationVerifier().verify_sync("Snapshots are taken every night [2].", [FACTS, FACTS])
    assert found.claims[0].source_index == 2
    assert not found.claims[0].wrong_citation


def test_a_claim_without_a_marker_among_cited_ones_lacks_a_citation():
    found = CitationVerifier().verify_sync(
        "Snapshots are taken every night [1]. The scheduler keeps four replicas of every shard.",
        [FACTS],
    )
    assert [claim.missing_citation for claim in found.claims] == [False, True]


def test_the_place_in_the_source_is_exact():
    text = "# Storage\n\nSnapshots are taken\nevery night.\n"
    found = CitationVerifier().verify_sync(
        "Snapshots are taken every night.", [SourceText(text, 1, "docs/a.md", line_start=12)]
    )
    (claim,) = found.claims
    assert claim.source_ref == "docs/a.md:14-15"
    assert claim.source_line == 14
    assert text[claim.source_span.start : claim.source_span.end] == claim.source_snippet


def test_a_caller_may_list_claims_or_bring_an_extractor():
    listed = CitationVerifier().verify_sync(["Snapshots are taken every night."], [FACTS])
    assert listed.claims[0].span is None
    brought = CitationVerifier(extract_claims=lambda text: text.split("; "))
    found = brought.verify_sync("Snapshots are taken every night; logs are blue", [FACTS])
    assert [claim.claim for claim in found.claims] == [
        "Snapshots are taken every night",
        "logs are blue",
    ]


def test_what_is_past_the_size_limit_is_not_checked_and_never_supported():
    verifier = CitationVerifier(max_source_chars=60)
    found = verifier.verify_sync(
        "Snapshots are taken every night. The scheduler keeps four replicas of every shard.",
        [FACTS],
    )
    assert [claim.verdict for claim in found.claims] == [Verdict.NOT_CHECKED, Verdict.SUPPORTED]


def test_what_is_past_the_time_limit_is_not_checked():
    ticks = iter([0.0, 0.0, 9.0, 9.0])
    verifier = CitationVerifier(time_limit_s=1.0, clock=lambda: next(ticks))
    found = verifier.verify_sync(FACTS, [FACTS])
    assert [claim.verdict for claim in found.claims] == [Verdict.SUPPORTED, Verdict.NOT_CHECKED]


def test_without_sources_nothing_is_verifiable():
    found = CitationVerifier().verify_sync("Snapshots are taken every night.", [])
    assert found.unverifiable_count == 1


class CountingEmbedder:
    """Counts texts; every vector is the same."""

    name, revision, dimension, max_tokens = "test/same", "1", 4, 256
    languages = frozenset({"en"})

    def __init__(self):
        self.n_texts = 0

    def embed(self, texts):
        self.n_texts += len(texts)
        return np.tile(np.float32([1, 0, 0, 0]), (len(texts), 1))

    def count_tokens(self, text):
        return len(text.split())


def test_a_verbatim_quote_needs_no_embedding():
    embedder = CountingEmbedder()
    found = CitationVerifier(embedder=embedder).verify_sync(FACTS, [FACTS])
    assert embedder.n_texts == 0
    assert found.method == "lexical"


def test_no_more_sentences_are_embedded_than_allowed():
    embedder = CountingEmbedder()
    verifier = CitationVerifier(embedder=embedder, max_embedded_sentences=7)
    answer = " ".join(f"Copies of shard s{n} are perhaps moved nightly." for n in range(20))
    found = verifier.verify_sync(answer, [FACTS])
    assert 0 < embedder.n_texts <= 7
    assert found.method == "lexical+embedding"
    assert found.total_claims == 20


def test_an_entailment_hook_decides_what_words_leave_open():
    asked = []

    def hook(premise, hypothesis):
        asked.append((premise, hypothesis))
        return Entailment(0.9, 0.05, 0.05)

    verifier = CitationVerifier(nli=hook)
    found = verifier.verify_sync("Copies of a shard are kept fourfold.", [FACTS])
    assert asked[0][1] == "Copies of a shard are kept fourfold."
    assert found.claims[0].verdict is Verdict.SUPPORTED


def test_a_judge_is_asked_about_a_claim_that_shares_no_word_with_a_short_source():
    verifier = CitationVerifier(nli=lambda premise, hypothesis: Entailment(0.9, 0.05, 0.05))
    found = verifier.verify_sync("Jede Nacht entsteht ein Abbild.", [FACTS])
    assert (
        CitationVerifier().verify_sync("Jede Nacht entsteht ein Abbild.", [FACTS]).claims[0].verdict
        is not Verdict.SUPPORTED
    )
    (claim,) = found.claims
    assert (claim.verdict, claim.source_index, claim.source_snippet) == ("supported", 1, FACTS)


def test_no_hook_talks_a_wrong_number_into_support():
    verifier = CitationVerifier(nli=lambda premise, hypothesis: Entailment(0.9, 0.05, 0.05))
    found = verifier.verify_sync("The scheduler keeps three replicas of every shard.", [FACTS])
    assert found.contradicted_count == 1


async def _contradicts(premise, hypothesis):
    return Entailment(0.05, 0.05, 0.9)


@pytest.mark.anyio
async def test_an_asynchronous_hook_works_in_verify():
    found = await CitationVerifier(nli=_contradicts).verify("Shards of the moon.", [FACTS])
    assert found.contradicted_count == 1


@pytest.mark.anyio
async def test_verify_and_its_blocking_twin_agree():
    answer = "The scheduler keeps 4 replicas of every shard [1]. Snapshots are rare [1]."
    assert await CitationVerifier().verify(answer, [FACTS]) == CitationVerifier().verify_sync(
        answer, [FACTS]
    )


def test_an_asynchronous_hook_works_where_nothing_waits():
    found = CitationVerifier(nli=_contradicts).verify_sync("Shards of the moon.", [FACTS])
    assert found.contradicted_count == 1


def _fails(premise, hypothesis):
    raise RuntimeError("no model")


@pytest.mark.parametrize("hook", [_fails, lambda premise, hypothesis: "yes"])
def test_a_failing_hook_leaves_the_verdicts_of_the_local_judge_and_is_named(hook):
    claims = ["Copies of a shard are kept fourfold.", "The scheduler keeps 3 replicas of a shard."]
    found = CitationVerifier(nli=hook).verify_sync(claims, [FACTS])
    plain = CitationVerifier().verify_sync(claims, [FACTS])
    assert (found.claims, found.method) == (plain.claims, plain.method)
    assert (found.fallbacks, plain.fallbacks) == (("judge:nli:VerificationError",), ())


@pytest.mark.parametrize("extract", [lambda text: 1 / 0, lambda text: [text, 7], lambda text: None])
def test_a_failing_claim_extractor_is_one_typed_error(extract):
    with pytest.raises(VerificationError, match="claim extractor failed"):
        CitationVerifier(extract_claims=extract).verify_sync("Shards of the moon.", [FACTS])


@pytest.mark.anyio
async def test_claim_extractors_may_be_plain_or_asynchronous():
    async def waits(text):
        return text.split("; ")

    answer = "Snapshots are taken every night; logs are blue"
    verifiers = [CitationVerifier(extract_claims=hook) for hook in (waits, lambda t: t.split("; "))]
    first, second = [await verifier.verify(answer, [FACTS]) for verifier in verifiers]
    assert first == second
    assert first.total_claims == 2
    assert verifiers[0].verify_sync(answer, [FACTS]) == first


@pytest.mark.parametrize("with_model", [False, True])
def test_thresholds_move_verdicts_but_neither_quotes_nor_contradictions(with_model):
    claims = [
        "Snapshots are taken every night.",
        "The nightly snapshots keep for long.",
        "They are kept for sixty days.",
    ]
    source = "Snapshots are taken every night. They are kept for thirty days."
    model = CountingEmbedder() if with_model else None

    def verdicts(**thresholds):
        verifier = CitationVerifier(embedder=model, **thresholds)
        return [claim.verdict.value for claim in verifier.verify_sync(claims, [source]).claims]

    lenient = verdicts(supported_at=0.0)
    strict = verdicts(supported_at=1.0, unverifiable_below=1.0)
    middle = verdicts(supported_at=1.0, unverifiable_below=0.0)
    assert [found[0] for found in (lenient, strict, middle)] == ["supported"] * 3
    assert [found[1] for found in (lenient, strict, middle)] == [
        "supported",
        "unverifiable",
        "weak",
    ]
    assert [found[2] for found in (lenient, strict, middle)] == ["contradicted"] * 3
    assert verdicts(supported_at=0.5, unverifiable_below=0.3) == verdicts()


@pytest.mark.parametrize(
    "given",
    [
        {"supported_at": 1.1},
        {"supported_at": float("nan")},
        {"unverifiable_below": -0.1},
        {"supported_at": 0.4, "unverifiable_below": 0.5},
    ],
)
def test_thresholds_outside_their_range_are_refused(given):
    with pytest.raises(ValueError, match="allowed is 0 <= unverifiable_below <= supported_at <= 1"):
        CitationVerifier(**given)


@pytest.mark.anyio
@pytest.mark.parametrize("time_limits", [{"hook_time_limit_s": 0.05}, {"time_limit_s": 0.2}])
async def test_a_hook_that_hangs_is_left_behind(time_limits):
    ended = threading.Event()
    verifier = CitationVerifier(nli=lambda *_: ended.wait(60), **time_limits)
    try:
        waited = await verifier.verify("Shards of the moon.", [FACTS])
        blocked = verifier.verify_sync("Shards of the moon.", [FACTS])
    finally:
        ended.set()
    assert waited == blocked
    assert waited.fallbacks[0].startswith("judge:nli:")
    assert waited.claims[0].verdict is not Verdict.NOT_CHECKED


def test_the_challenge_set_is_judged_right_at_least_ninety_five_times_in_a_hundred():
    rows = [json.loads(line) for line in CHALLENGE.read_text("utf-8").splitlines()]
    assert len(rows) >= 120
    right = {}
    for row in rows:
        said = judge_pair(row["claim"], row["source"]).verdict is Verdict.SUPPORTED
        right.setdefault(row["lang"], []).append(said == (row["label"] == "supported"))
    assert set(right) == {"en", "de", "fr", "es"}
    flat = [one for ones in right.values() for one in ones]
    assert sum(flat) / len(flat) >= 0.95
    assert all(sum(ones) / len(ones) >= 0.9 for ones in right.values())
