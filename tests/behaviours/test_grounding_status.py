"""Verification as a part of a question: checked, not requested, unavailable; flag and drop."""

import json

import anyio
import pytest

from fingerpost import AbstentionReason, GenerateDelta, GenerationMode, QueryRouter, Verdict
from fingerpost.cli.main import main

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **settings)


async def test_a_claim_that_does_not_stand_is_flagged_and_the_answer_is_not_grounded(
    doubtful, story
):
    async with _router(doubtful.folder, on_event=story, **WORDS) as router:
        result = await router.route(doubtful.question)
    assert doubtful.stands in result.answer
    assert doubtful.falls in result.answer
    verdicts = {doubtful.falls in claim.claim: claim.verdict for claim in result.grounding.claims}
    assert verdicts == {False: Verdict.SUPPORTED, True: Verdict.CONTRADICTED}
    assert (result.grounding_status, result.grounding.overall_grounded) == ("checked", False)
    assert result.grounding.supported_ratio == 0.5
    (told,) = story.of("verify:complete")
    assert (told.status, told.n_claims, told.n_supported, told.n_contradicted) == (
        "checked",
        2,
        1,
        1,
    )


async def test_a_verifier_that_fails_leaves_the_answer_and_says_unavailable(
    doubtful, runtime, story
):
    """The model answers while something is looked for and fails once the answer is written."""

    def observe(event):
        story(event)
        if event.type == "generate:complete":
            runtime.error = RuntimeError("out of memory")

    async with _router(doubtful.folder, embed="wait", on_event=observe) as router:
        result = await router.route(doubtful.question)
    assert (result.grounding_status, result.grounding) == ("unavailable", None)
    assert doubtful.stands in result.answer
    assert result.generation_mode is GenerationMode.EXTRACTIVE
    assert result.citations
    (told,) = story.of("verify:complete")
    assert (told.status, bool(told.error)) == ("unavailable", True)
    assert story.of("route:complete")


async def test_dropping_what_was_never_checked_drops_nothing(doubtful, runtime):
    def observe(event):
        if event.type == "generate:complete":
            runtime.error = RuntimeError("out of memory")

    settings = {"embed": "wait", "on_event": observe, "on_unsupported": "drop"}
    async with _router(doubtful.folder, **settings) as router:
        events = [event async for event in router.stream(doubtful.question)]
    result = events[-1].result
    assert result.grounding_status == "unavailable"
    assert doubtful.falls in result.answer
    assert "".join(e.text for e in events if isinstance(e, GenerateDelta)) == result.answer


async def test_verification_that_was_switched_off_is_not_requested(doubtful, story):
    settings = {"verify_citations": False, "on_event": story, **WORDS}
    async with _router(doubtful.folder, **settings) as router:
        result = await router.route(doubtful.question)
    assert (result.grounding_status, result.grounding) == ("not_requested", None)
    assert doubtful.falls in result.answer
    assert story.of("verify:complete") == []
    assert "verify" not in result.timings


async def test_a_dropped_sentence_is_in_no_answer_and_no_piece_of_it(doubtful):
    async with _router(doubtful.folder, on_unsupported="drop", **WORDS) as router:
        result = await router.route(doubtful.question)
        events = [event async for event in router.stream(doubtful.question)]
    streamed = "".join(event.text for event in events if isinstance(event, GenerateDelta))
    for answer in (result.answer, streamed, events[-1].result.answer):
        assert doubtful.stands in answer
        assert doubtful.falls not in answer
    assert streamed == events[-1].result.answer == result.answer
    assert result.grounding.contradicted_count == 1
    for citation in result.citations:
        assert result.answer[citation.span.start : citation.span.end] == citation.marker


async def test_pieces_are_held_back_until_the_claims_are_checked_only_when_some_may_be_dropped(
    doubtful,
):
    orders = {}
    for policy in ("flag", "drop"):
        async with _router(doubtful.folder, on_unsupported=policy, **WORDS) as router:
            kinds = [event.type async for event in router.stream(doubtful.question)]
        orders[policy] = kinds.index("generate:delta") < kinds.index("verify:complete")
    assert orders == {"flag": True, "drop": False}


async def test_an_answer_of_which_nothing_stands_becomes_an_abstention(doubtful):
    async with _router(doubtful.folder, on_unsupported="drop", **WORDS) as router:
        result = await router.route("Knowledge graph sidecar Qdrant")
    assert (result.generation_mode, result.abstention) == (
        GenerationMode.ABSTAINED,
        AbstentionReason.EVIDENCE_TOO_WEAK,
    )
    assert result.citations == ()
    assert result.sources
    assert not any(source.cited for source in result.sources)


@pytest.mark.parametrize(
    ("flags", "code"), [(("--require-grounded",), 4), ((), 0), (("--json",), 0)]
)
def test_the_command_says_with_four_that_a_claim_does_not_stand(doubtful, capsys, flags, code):
    with pytest.raises(SystemExit) as ended:
        main(["ask", str(doubtful.folder), doubtful.question, "--embedder", "none", *flags])
    out = capsys.readouterr().out
    assert ended.value.code == code
    if "--json" in flags:
        found = json.loads(out)["grounding"]
        assert (found["overall_grounded"], found["claims"][1]["verdict"]) == (False, "contradicted")
    else:
        assert "✗ contradicted" in out
        assert "NOT grounded: 1 of 2 claims supported" in out


async def test_an_empty_index_no_match_and_a_narrow_filter_are_three_reasons(corpus):
    question = "What is the default mode?"
    async with _router(corpus, **WORDS) as router:
        filtered = await router.route(question, filters={"paths": "nowhere/**"})
        foreign = await router.route("zzqx plugh xyzzy?")
        for page in corpus.rglob("*.md"):
            await anyio.Path(page).unlink()
        summary = await router.refresh()
        empty = await router.route(question)
        empty_and_filtered = await router.route(question, filters={"paths": "guides/**"})
        stats = router.get_corpus_stats()
    assert filtered.abstention is AbstentionReason.FILTER_EXCLUDES_ALL
    assert foreign.abstention is AbstentionReason.NO_DOCUMENT_MATCHES
    for result in (empty, empty_and_filtered):
        assert result.abstention is AbstentionReason.NO_DOCUMENT_INDEXED
        assert (result.sources, result.vector_coverage) == ((), 0)
        assert result.generation_mode is GenerationMode.ABSTAINED
    assert (summary.n_removed, summary.n_documents, stats.chunk_count) == (4, 0, 0)


async def test_what_is_near_but_no_answer_is_too_weak_and_shows_the_nearest_places(corpus):
    async with _router(corpus, **WORDS) as router:
        result = await router.route("What does error E2000 mean?")
    assert result.abstention is AbstentionReason.EVIDENCE_TOO_WEAK
    assert result.sources
    assert not any(source.cited for source in result.sources)
    assert result.citations == ()
