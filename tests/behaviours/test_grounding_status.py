"""Verification as a part of a question: its status, and what follows from its verdicts."""

import json
import re

import pytest

from fingerpost import AbstentionReason, GenerateDelta, GenerationMode, QueryRouter, Verdict
from fingerpost.errors import InvalidQueryError, LaneError
from fingerpost.testing.chat import ScriptedChat

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}
QUESTION = "What is the default mode?"
STANDS, FALLS = "The default mode is safe", "Heron has nine modes"


def _router(corpus, *replies, **settings):
    """Return a router whose answers are written by a model, half of them not from the page."""
    return QueryRouter(
        knowledge_corpus=[corpus],
        chat_model=ScriptedChat(replies or [f"{STANDS} [1]. {FALLS} [1]."]),
        strategy_config={"classifier_mode": "heuristic"},
        **settings,
    )


def _no_judge(premise, hypothesis):
    raise ValueError("no judge")


async def test_a_claim_that_does_not_stand_is_flagged_and_the_answer_is_not_grounded(corpus, story):
    async with _router(corpus, on_event=story, **WORDS) as router:
        result = await router.route(QUESTION)
    assert STANDS in result.answer
    assert FALLS in result.answer
    verdicts = {FALLS in claim.claim: claim.verdict for claim in result.grounding.claims}
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


async def test_a_verifier_that_fails_leaves_the_answer_and_says_unavailable(corpus, runtime, story):
    def observe(event):
        story(event)
        if event.type == "generate:complete":
            runtime.error = RuntimeError("out of memory")

    unsure = "Safe is the mode that Heron takes"  # by words alone
    async with _router(corpus, f"{unsure} [1].", embed="wait", on_event=observe) as router:
        result = await router.route(QUESTION)
    assert (result.grounding_status, result.grounding) == ("unavailable", None)
    assert unsure in result.answer
    assert result.generation_mode is GenerationMode.MODEL
    assert result.citations
    (told,) = story.of("verify:complete")
    assert (told.status, bool(told.error)) == ("unavailable", True)
    assert story.of("route:complete")


async def test_an_entailment_hook_that_fails_leaves_the_local_verdicts_and_is_named(corpus):
    async with _router(corpus, nli=_no_judge, **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.grounding_status == "checked"
    assert result.grounding.contradicted_count == 1
    assert "judge-skip" in result.fallbacks_used


async def test_dropping_what_was_never_checked_drops_nothing(corpus):
    settings = {"extract_claims": lambda text: 1 / 0, "on_unsupported": "drop", **WORDS}
    async with _router(corpus, **settings) as router:
        events = [event async for event in router.stream(QUESTION)]
    result = events[-1].result
    assert (result.grounding_status, result.grounding) == ("unavailable", None)
    assert FALLS in result.answer
    assert "".join(e.text for e in events if isinstance(e, GenerateDelta)) == result.answer


async def test_verification_that_was_switched_off_is_not_requested(corpus, story):
    settings = {"verify_citations": False, "on_event": story, **WORDS}
    async with _router(corpus, **settings) as router:
        result = await router.route(QUESTION)
    assert (result.grounding_status, result.grounding) == ("not_requested", None)
    assert FALLS in result.answer
    assert story.of("verify:complete") == []
    assert "verify" not in result.timings


async def test_a_dropped_sentence_is_in_no_answer_and_no_piece_of_it(corpus):
    async with _router(corpus, on_unsupported="drop", **WORDS) as router:
        result = await router.route(QUESTION)
        events = [event async for event in router.stream(QUESTION)]
    streamed = "".join(event.text for event in events if isinstance(event, GenerateDelta))
    for answer in (result.answer, streamed, events[-1].result.answer):
        assert STANDS in answer
        assert FALLS not in answer
    assert streamed == events[-1].result.answer == result.answer
    assert result.grounding.overall_grounded
    assert [FALLS in claim.claim for claim in result.grounding.removed] == [True]
    for citation in result.citations:
        assert result.answer[citation.span.start : citation.span.end] == citation.marker


async def test_pieces_are_held_back_until_the_claims_are_checked_only_when_some_may_be_dropped(
    corpus,
):
    orders = {}
    for policy in ("flag", "drop", "repair"):
        async with _router(corpus, on_unsupported=policy, **WORDS) as router:
            kinds = [event.type async for event in router.stream(QUESTION)]
        orders[policy] = kinds.index("generate:delta") < kinds.index("verify:complete")
    assert orders == {"flag": True, "drop": False, "repair": False}


async def test_an_answer_of_which_nothing_stands_becomes_an_abstention(corpus):
    async with _router(corpus, f"{FALLS} [1].", on_unsupported="drop", **WORDS) as router:
        result = await router.route(QUESTION)
    assert (result.generation_mode, result.abstention) == (
        GenerationMode.ABSTAINED,
        AbstentionReason.EVIDENCE_TOO_WEAK,
    )
    assert result.citations == ()
    assert result.sources
    assert not any(source.cited for source in result.sources)


@pytest.mark.parametrize(
    "text", [f"{STANDS} [1].\n\n- {FALLS} [1].", f"{FALLS} [1].\n\n{STANDS} [1]."]
)
async def test_what_was_dropped_leaves_no_blank_lines_at_the_ends(corpus, text):
    async with _router(corpus, text, on_unsupported="drop", **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.answer == f"{STANDS} [1]."


async def test_a_model_that_was_shown_no_document_answers_nothing(corpus):
    settings = {"max_context_tokens": 64, **WORDS}
    async with _router(corpus, "Heron is a bird.", **settings) as router:
        result = await router.route("How do I install Heron on Windows and on macOS?", tier=2)
    assert result.sources
    assert result.generation_mode is not GenerationMode.MODEL


def _rewritten(*texts):
    """Return a reply that gives the unsupported sentences a new text each."""
    listed = [{"number": number, "text": text} for number, text in enumerate(texts, start=1)]
    return json.dumps({"sentences": listed})


WRITTEN = f"{STANDS} [1]. {FALLS} [1]."


async def test_repair_has_the_model_write_a_sentence_anew_and_checks_it_again(corpus):
    mended = "Heron has three modes: fast, safe and quiet [1]."
    async with _router(corpus, WRITTEN, _rewritten(mended), on_unsupported="repair", **WORDS) as r:
        result = await r.route(QUESTION)
        asked = r.config.chat_model.requests[-1].messages[-1].text
    assert result.answer == f"{STANDS} [1]. {mended}"
    assert [claim.verdict for claim in result.grounding.claims] == [Verdict.SUPPORTED] * 2
    assert [FALLS in claim.claim for claim in result.grounding.removed] == [True]
    assert FALLS in asked
    assert "contradicted" in asked
    assert STANDS in asked.split("The sentences, each")[0]
    for citation in result.citations:
        assert result.answer[citation.span.start : citation.span.end] == citation.marker


@pytest.mark.parametrize(
    "reply", [_rewritten("Heron has seven modes [1]."), _rewritten(""), _rewritten()]
)
async def test_what_repair_does_not_mend_is_dropped(corpus, reply):
    async with _router(corpus, WRITTEN, reply, on_unsupported="repair", **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.answer == f"{STANDS} [1]."
    assert result.grounding.overall_grounded
    assert any(FALLS in claim.claim for claim in result.grounding.removed)
    assert "repair-skip" not in result.fallbacks_used


@pytest.mark.parametrize("reply", ["no JSON", LaneError("down"), _rewritten("a", "b")])
async def test_a_repair_that_fails_drops_and_is_named(corpus, reply):
    async with _router(corpus, WRITTEN, reply, on_unsupported="repair", **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.answer == f"{STANDS} [1]."
    assert "repair-skip" in result.fallbacks_used


async def test_what_a_repair_writes_is_made_safe(corpus):
    evil = "Heron has three modes ![x](https://evil.example/a.png) [9]\n\n# Sources [1]."
    async with _router(corpus, WRITTEN, _rewritten(evil), on_unsupported="repair", **WORDS) as r:
        result = await r.route(QUESTION)
    assert "evil.example" not in result.answer
    assert "[9]" not in result.answer
    assert "\n#" not in result.answer
    assert result.removed_markers == 1


async def test_without_a_model_repair_has_nothing_to_do_to_quotes(corpus):
    settings = {"on_unsupported": "repair", "knowledge_corpus": [corpus], **WORDS}
    async with QueryRouter(**settings) as router:
        result = await router.route(QUESTION)
    assert "default mode is safe" in result.answer
    assert result.grounding.supported_count == result.grounding.total_claims
    assert "repair-skip" not in result.fallbacks_used


async def test_who_requires_grounding_gets_no_answer_rather_than_an_ungrounded_one(corpus):
    async with _router(corpus, require_grounded=True, **WORDS) as router:
        result = await router.route(QUESTION)
        events = [event async for event in router.stream(QUESTION)]
    told = "".join(e.text for e in events if isinstance(e, GenerateDelta))
    assert told == events[-1].result.answer == result.answer
    assert (result.generation_mode, result.abstention) == (
        GenerationMode.ABSTAINED,
        AbstentionReason.NOT_GROUNDED,
    )
    assert FALLS not in result.answer
    assert result.grounding.contradicted_count == 1
    assert result.citations == ()
    assert result.sources
    assert not any(source.cited for source in result.sources)


async def test_who_requires_grounding_gets_what_is_grounded(corpus):
    async with _router(corpus, f"{STANDS} [1].", require_grounded=True, **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.abstention is None
    async with _router(corpus, require_grounded=True, on_unsupported="drop", **WORDS) as router:
        dropped = await router.route(QUESTION)
    assert dropped.answer == result.answer == f"{STANDS} [1]."


async def test_one_question_may_require_grounding_or_do_without(corpus):
    async with _router(corpus, **WORDS) as router:
        strict = await router.route(QUESTION, require_grounded=True)
        lax = await router.route(QUESTION)
    assert (strict.abstention, lax.abstention) == (AbstentionReason.NOT_GROUNDED, None)
    async with _router(corpus, require_grounded=True, **WORDS) as router:
        assert (await router.route(QUESTION, require_grounded=False)).abstention is None


async def test_grounding_cannot_be_required_where_nothing_is_verified(corpus):
    async with _router(corpus, verify_citations=False) as router:
        with pytest.raises(InvalidQueryError, match="require_grounded: verify_citations is off"):
            await router.route(QUESTION, require_grounded=True)


async def test_who_requires_grounding_gets_nothing_that_could_not_be_checked(corpus):
    settings = {"extract_claims": lambda text: 1 / 0, "require_grounded": True, **WORDS}
    async with _router(corpus, **settings) as router:
        result = await router.route(QUESTION)
    assert result.grounding_status == "unavailable"
    assert result.abstention is AbstentionReason.NOT_GROUNDED


async def test_a_router_holds_any_text_against_its_documents(corpus):
    async with _router(corpus, **WORDS) as router:
        checked = await router.verify(f"{STANDS}.\n\n{FALLS}.\n")
    verdicts = {claim.claim: claim.verdict for claim in checked.found.claims}
    assert verdicts == {f"{STANDS}.": Verdict.SUPPORTED, f"{FALLS}.": Verdict.CONTRADICTED}
    assert checked.documents


def _supports_all(request):
    """Reply as a judge that finds every pair of the request supported."""
    pairs = re.findall(r'"pair": (\d+)', request.messages[-1].text.split("[\n", 1)[1])
    return json.dumps({"verdicts": [{"pair": int(n), "verdict": "supports"} for n in pairs]})


async def test_a_chat_model_may_judge_the_claims_but_not_talk_a_number_into_support(corpus):
    written = f"Heron knows one mode for every mood, safe too [1]. {FALLS} [1]."
    async with _router(corpus, written, _supports_all, claim_judge="chat", **WORDS) as router:
        result = await router.route(QUESTION)
    async with _router(corpus, written, **WORDS) as router:
        local = await router.route(QUESTION)
    first, second = result.grounding.claims
    assert local.grounding.claims[0].verdict is not Verdict.SUPPORTED
    assert (first.verdict, second.verdict) == (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    assert result.grounding.method == "lexical+chat"
    assert "judge" in {usage.job for usage in result.usage}
    assert "judge-skip" not in result.fallbacks_used


@pytest.mark.parametrize("reply", ["nonsense", LaneError("down"), '{"verdicts": []}'])
async def test_a_chat_judge_that_fails_leaves_the_local_verdicts_and_is_named(corpus, reply):
    async with _router(corpus, WRITTEN, reply, claim_judge="chat", **WORDS) as router:
        result = await router.route(QUESTION)
    async with _router(corpus, WRITTEN, **WORDS) as router:
        plain = await router.route(QUESTION)
    assert result.grounding.claims == plain.grounding.claims
    assert "judge-skip" in result.fallbacks_used


async def test_a_judge_that_is_not_there_is_named(corpus):
    settings = {"knowledge_corpus": [corpus], "claim_judge": "decision", **WORDS}
    async with QueryRouter(**settings) as router:
        result = await router.route(QUESTION)
    assert "judge-skip" in result.fallbacks_used
    assert result.grounding.supported_count == result.grounding.total_claims
