"""Which model, how much of it, and how the tier that a model chose is held to the policy."""

import json

import pytest

from fingerpost import QueryRouter
from fingerpost.errors import ContextTooLongError, RequestTooLargeError
from fingerpost.testing import ScriptedChat

pytestmark = pytest.mark.anyio
QUESTION = "How do I change the mode of Heron, and which modes are there?"


def _saying(tier, confidence=0.9, **more):
    told = json.dumps({"tier": tier, "strategy": "simple", "confidence": confidence, **more})

    def say(request):
        return {
            "classify": told,
            "hyde": json.dumps({"passages": ["One.", "Two modes.", "Three modes there are."]}),
            "decompose": json.dumps({"questions": []}),
            "rewrite": json.dumps(
                {"standalone": "Compare the modes of Heron and their log levels"}
            ),
            "generate": "Heron has three modes [1].",
        }[request.job]

    return say


def _router(corpus, chat, **settings):
    given = {"embedding_provider": "none", **settings}
    return QueryRouter(knowledge_corpus=[corpus], chat_model=chat, **given)


@pytest.mark.parametrize(("tier", "deep"), [(1, False), (2, True), (3, True)])
async def test_the_deeper_tiers_have_a_model_and_a_limit_of_their_own(corpus, tier, deep):
    cheap, strong = ScriptedChat([_saying(tier)]), ScriptedChat([_saying(tier)], model="strong")
    settings = {"max_answer_tokens": 111, "max_answer_tokens_deep": 222, "temperature": 0.7}
    async with _router(corpus, cheap, chat_model_deep=strong, **settings) as router:
        result = await router.route(QUESTION)
    (asked,) = [r for r in (strong if deep else cheap).requests if r.job == "generate"]
    assert (asked.max_tokens, asked.temperature) == (222 if deep else 111, 0.7)
    assert not [r for r in (cheap if deep else strong).requests if r.job == "generate"]
    assert result.usage[-1].model == ("testing/strong" if deep else "testing/scripted")


async def test_a_tier_that_the_model_is_unsure_of_goes_up_by_one_and_no_further_than_the_cap(
    corpus,
):
    async with _router(corpus, ScriptedChat([_saying(1, 0.3)])) as router:
        raised = await router.route(QUESTION)
        capped = await router.route(QUESTION, max_tier=1)
    assert (raised.classification.tier, raised.classification.escalated_from) == (2, 1)
    assert "tier-escalation" in raised.fallbacks_used
    assert (capped.classification.tier, capped.classification.escalated_from) == (1, None)


async def test_only_tools_that_there_are_are_needed_and_the_model_is_shown_topics(corpus):
    chat = ScriptedChat([_saying(1, tools_needed=["search", "rm"])])
    async with _router(corpus, chat, available_tools=["search", "fetch"]) as router:
        result = await router.route(QUESTION)
    prompt = chat.requests[0].messages[0].text
    assert "- search" in prompt
    assert "- Modes" in prompt
    assert result.classification.tools_needed == ("search",)


@pytest.mark.parametrize("mode", ["local", "heuristic"])
async def test_a_mode_without_a_model_asks_none_to_classify_or_rewrite(corpus, mode):
    chat = ScriptedChat([_saying(1)])
    talk = [("user", "How do I install Heron on macOS?"), ("assistant", "With brew.")]
    async with _router(corpus, chat, strategy_config={"classifier_mode": mode}) as router:
        result = await router.route("and on Windows?", history=talk)
    assert {request.job for request in chat.requests} == {"generate"}
    assert result.classification.decided_by.value == "local"
    assert "Windows" in result.rewritten_query


async def test_a_classifier_that_is_only_a_model_falls_back_to_a_plain_lookup(corpus):
    chat = ScriptedChat([lambda r: "?" if r.job == "classify" else "Three modes [1]."])
    config = {"classifier_mode": "llm", "default_strategy": "moderate"}
    async with _router(corpus, chat, strategy_config=config) as router:
        result = await router.route(QUESTION)
    found = result.classification
    assert (found.tier, found.strategy.value, found.confidence) == (1, "moderate", 0.0)
    assert found.decided_by.value == "fallback"
    assert "classify-fallback" in result.fallbacks_used


@pytest.mark.parametrize("count", [1, 3])
async def test_so_many_hypotheses_are_asked_for_and_embedded(corpus, runtime, count):
    chat = ScriptedChat([_saying(2)])
    settings = {"embedding_provider": None, "embed": "wait", "hyde_hypotheses": count}
    async with _router(corpus, chat, verify_citations=False, **settings) as router:
        before = runtime.n_calls
        await router.route(QUESTION)
        embedded = runtime.n_calls - before
    (asked,) = [request for request in chat.requests if request.job == "hyde"]
    assert f"Write {count} short passages" in asked.messages[0].text
    assert embedded == 1 + count


@pytest.mark.parametrize(
    ("last", "alone"),
    [
        ("yes, do it", "Compare the modes of Heron and their log levels"),
        ("and for contractors?", "Compare the modes of Heron and their log levels"),
        ("How do I install Heron?", "How do I install Heron?"),
    ],
)
async def test_the_last_turn_of_a_conversation_is_routed_by_what_it_means(corpus, last, alone):
    """Field note 19: what repeats turn 1 is classified as it was on turn 1."""
    talk = [
        ("user", "How do I install Heron?"),
        ("assistant", "With pip."),
        ("user", "Which modes has it?"),
        ("assistant", "Fast, safe and quiet. Shall I compare them with their log levels?"),
    ]
    chat = ScriptedChat([_saying(3)])
    async with _router(corpus, chat, cache_results=False) as router:
        await router.classify("How do I install Heron?")
        await router.classify(last, history=talk)
    first, *_, asked = [r.messages[0].text for r in chat.requests if r.job == "classify"]
    assert f"====================\n{alone}\n====================" in asked
    assert first.endswith(asked[-400:]) == (alone == "How do I install Heron?")


@pytest.mark.parametrize("kind", [ContextTooLongError, RequestTooLargeError])
async def test_a_request_that_is_too_long_is_made_once_more_with_half_of_the_documents(
    corpus, kind
):
    for n in range(6):
        (corpus / f"pump{n}.md").write_text(f"# Pump {n}\n\n" + f"Pump {n} needs oil. " * 60)

    def say(request):
        if request.job == "classify":
            return json.dumps({"tier": 1, "strategy": "simple", "confidence": 0.9})
        if len(request.messages[-1].text) > 1000:
            raise kind("too long")
        return "Pumps need oil [1]."

    chat = ScriptedChat([say])
    async with _router(corpus, chat, max_context_tokens=400) as router:
        result = await router.route("What do pumps need?")
    first, second = [r.messages[-1].text for r in chat.requests if r.job == "generate"]
    assert len(second) < len(first)
    assert result.answer == "Pumps need oil [1]."
    assert result.left_out
    assert [usage.outcome for usage in result.usage] == ["ok", kind.__name__, "ok"]
