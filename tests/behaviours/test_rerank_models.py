"""Rerankers named by the settings, through the router: used, counted, replaced when they fail."""

import json
import time

import anyio
import pytest

from fingerpost import QueryRouter
from fingerpost.errors import ConfigError
from fingerpost.observe.events import ModelCall, RetrieveFallback
from fingerpost.testing import ScriptedChat, ScriptedDecision
from fingerpost.testing.provider import ProviderServer, faults

pytestmark = pytest.mark.anyio
KEY = "canary-Zm9v0123456789abc"
QUESTION = "What is the default mode, and how is it changed?"


def router(corpus, **settings):
    given = {
        "embedding_provider": "none",
        "cache_results": False,
        "verify_citations": False,
        "strategy_config": {"force_strategy": "moderate"},
        "knowledge_corpus": [corpus],
    }
    return QueryRouter(**{**given, **settings})


@pytest.fixture
def cohere(monkeypatch):
    """Return the settings of Cohere at a server."""
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    return lambda server: {"rerank_provider": "cohere", "rerank_base_url": server.url}


def favouring(word):
    """Return scores that put the passage with a word first."""
    return lambda received: tuple(0.9 if word in text else 0.1 for text in received.texts)


class Found:
    """Takes evidence and tells the first hit's text."""

    def __init__(self):
        self.evidence = []

    def __call__(self, evidence):
        self.evidence.append(evidence)

    @property
    def first(self):
        return self.evidence[-1].hits[0].chunk.text


async def test_a_reranker_decides_the_order_of_the_hits_and_is_counted(corpus, cohere):
    events, found = [], Found()
    watched = {"on_event": events.append, "on_retrieval": found}
    with ProviderServer(rankings=favouring("setup.exe")) as server:
        async with router(corpus, **watched, **cohere(server)) as asked:
            result = await asked.route(QUESTION)
            assert asked.get_corpus_stats().rerank_runtime_mode == "active"
        (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["query"] == QUESTION
    assert "setup.exe" in found.first
    assert found.evidence[0].hits[0].score == pytest.approx(0.9)
    assert "rerank-skip" not in result.fallbacks_used
    (usage,) = [item for item in result.usage if item.job == "rerank"]
    assert (usage.model, usage.outcome) == ("cohere/rerank-v4.0-fast", "ok")
    (call,) = [event for event in events if isinstance(event, ModelCall)]
    assert (call.job, call.provider, call.outcome) == ("rerank", "cohere", "ok")
    assert KEY not in f"{events!r} {result!r}"


@pytest.mark.parametrize(
    "fault",
    [faults.status(401, message=KEY), faults.status(503), faults.missing_fields(), faults.reset()],
    ids=str,
)
async def test_a_reranker_that_fails_leaves_the_built_in_order_and_says_so(corpus, cohere, fault):
    async with router(corpus) as plain:
        expected = await plain.route(QUESTION)
    events = []
    with ProviderServer(rankings=fault) as server:
        async with router(corpus, on_event=events.append, **cohere(server)) as asked:
            result = await asked.route(QUESTION)
    assert "rerank-skip" in result.fallbacks_used
    assert [s.path for s in result.sources] == [s.path for s in expected.sources]
    assert result.answer == expected.answer
    (reason,) = [e.reason for e in events if isinstance(e, RetrieveFallback) if "rerank" in e.name]
    assert KEY not in f"{reason} {events!r}"


async def test_a_reranker_takes_no_more_than_a_third_of_the_time_that_is_left(corpus, cohere):
    with ProviderServer(rankings=faults.stall()) as server:
        async with router(corpus, **cohere(server)) as asked:
            await asked.route(QUESTION, deadline=1.0)  # what is loaded once is loaded
            began = time.monotonic()
            result = await asked.route(QUESTION, deadline=3.0)
            took = time.monotonic() - began
    assert "rerank-skip" in result.fallbacks_used
    assert "deadline-reached" not in result.fallbacks_used
    assert result.sources
    assert took < 2.5
    (spent,) = [item.outcome for item in result.usage if item.job == "rerank"]
    assert spent == "ProviderTimeoutError"


async def test_what_may_pass_is_tried_once_more(corpus, cohere):
    answers = [faults.status(503), (0.4, 0.3, 0.2, 0.1)]
    with ProviderServer(rankings=answers) as server:
        async with router(corpus, **cohere(server)) as asked:
            result = await asked.route(QUESTION)
    assert "rerank-skip" not in result.fallbacks_used
    outcomes = [item.outcome for item in result.usage if item.job == "rerank"]
    assert outcomes == ["ProviderUnavailableError", "ok"]


async def test_a_reranker_that_keeps_failing_is_left_alone_for_a_while(corpus, cohere):
    with ProviderServer(rankings=faults.status(503)) as server:
        async with router(corpus, **cohere(server)) as asked:
            for _ in range(6):
                result = await asked.route(QUESTION)
        n_asked = len(server.requests)
    assert "rerank-skip" in result.fallbacks_used
    assert n_asked < 12  # six questions, two tries each, had it gone on


async def test_a_hook_takes_no_more_than_a_third_of_the_time_that_is_left(corpus):
    async def forever(_question, _hits, _top_n):
        await anyio.Event().wait()

    async with router(corpus, rerank=forever) as asked:
        began = time.monotonic()
        result = await asked.route(QUESTION, deadline=3.0)
        took = time.monotonic() - began
    assert "rerank-skip" in result.fallbacks_used
    assert result.sources
    assert took < 2.5


async def test_a_key_does_not_follow_a_redirect(corpus, cohere):
    with ProviderServer() as other:
        away = faults.redirect(f"{other.url}/v2/rerank")
        with ProviderServer(rankings=away) as server:
            async with router(corpus, **cohere(server)) as asked:
                result = await asked.route(QUESTION)
        assert other.requests == ()
    assert "rerank-skip" in result.fallbacks_used


async def test_a_chat_model_can_rerank(corpus):
    def reply(request):
        if request.job != "rerank":
            return "Run the installer. [1]"
        lines = request.messages[0].text.splitlines()
        best = next(line.partition(".")[0] for line in lines if "setup.exe" in line)
        return json.dumps({"scores": [{"passage": int(best), "score": 10}]})

    settings = {"chat_model": ScriptedChat([reply]), "rerank_provider": "chat"}
    async with router(corpus, on_retrieval=(found := Found()), **settings) as asked:
        result = await asked.route(QUESTION)
    assert "setup.exe" in found.first
    assert [item.job for item in result.usage].count("rerank") == 1


async def test_a_decision_model_can_rerank(corpus):
    def judge(call):
        shown = call.input["passages"]
        return tuple(0.9 if "setup.exe" in shown[q.id] else 0.1 for q in call.questions)

    settings = {"decider": ScriptedDecision([judge]), "rerank_provider": "decision"}
    async with router(corpus, on_retrieval=(found := Found()), **settings) as asked:
        result = await asked.route(QUESTION)
    assert "setup.exe" in found.first
    assert [item.job for item in result.usage].count("decide") == 1


async def test_each_part_of_a_question_is_reranked_by_its_own_words(corpus, cohere):
    with ProviderServer() as server:
        deep = {"strategy_config": {"force_strategy": "complex"}}
        async with router(corpus, **deep, **cohere(server)) as asked:
            result = await asked.route("What is the default mode? What does E1042 mean?")
        queries = {request.body["query"] for request in server.requests}
    assert set(result.sub_queries) <= queries
    assert len(queries) == 3


async def test_a_recorded_question_is_reranked_again_without_a_server(
    corpus, cohere, tmp_path, monkeypatch
):
    tape = tmp_path / "tape"
    (corpus / "keys.md").write_text(f"# Default mode\n\nOur key in the default mode is {KEY}.\n")
    with ProviderServer(rankings=favouring("setup.exe")) as server:
        settings = cohere(server)
        async with router(corpus, record=tape, **settings) as asked:
            first = await asked.route(QUESTION)
    monkeypatch.delenv("COHERE_API_KEY")
    async with router(corpus, on_retrieval=(found := Found()), replay=tape, **settings) as asked:
        again = await asked.route(QUESTION)
    assert "setup.exe" in found.first
    assert again.answer == first.answer
    assert not any(KEY in file.read_text() for file in tape.iterdir())


@pytest.mark.parametrize("name", ["chat", "decision"])
async def test_a_model_that_is_not_there_is_refused_before_any_question(corpus, name):
    with pytest.raises(ConfigError, match=f"rerank_provider = '{name}'"):
        async with router(corpus, rerank_provider=name):
            pass
