"""What models may cost, and how their calls are kept and given again."""

import json

import pytest

from fingerpost import GenerationMode, QueryRouter
from fingerpost.errors import MissingRecordingError
from fingerpost.testing import ScriptedChat
from fingerpost.testing.provider import ProviderServer

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"
SECRET = "sk-canary-0123456789abcdef"
TIER = json.dumps({"tier": 1, "strategy": "simple", "confidence": 0.9})
ANSWER = "The default mode is safe [1]."


def _priced():
    """Return a model whose price is known."""
    say = [lambda request: TIER if request.job == "classify" else ANSWER]
    return ScriptedChat(say, provider="openai", model="gpt-4o")


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], embedding_provider="none", **settings)


async def test_a_budget_that_no_call_fits_asks_no_model_whose_price_is_known(corpus):
    chat = _priced()
    async with _router(corpus, chat_model=chat, budget_usd=0) as router:
        poor = await router.route(QUESTION, budget=1e-9)
        assert not chat.requests
        rich = await router.route(QUESTION, budget=10)
    assert poor.fallbacks_used[0] == "classify-fallback"
    assert poor.generation_mode is GenerationMode.EXTRACTIVE
    assert rich.generation_mode is GenerationMode.MODEL
    assert 0 < sum(usage.cost_usd for usage in rich.usage) < 0.1


async def test_all_questions_together_keep_the_budget_of_the_process(corpus, anyio_backend_name):
    chat = _priced()
    # A limit of its own for each of the two runs: they share the process.
    usd = {"asyncio": 0.0031, "trio": 0.0032}[anyio_backend_name]
    async with _router(corpus, chat_model=chat, process_budget_usd=usd) as router:
        modes = [
            (await router.route(f"{QUESTION} Number {n}?", tier=1)).generation_mode
            for n in range(12)
        ]
    assert modes[0] is GenerationMode.MODEL
    assert modes[-1] is GenerationMode.EXTRACTIVE
    assert modes == sorted(modes, key=lambda mode: mode is GenerationMode.EXTRACTIVE)


async def test_a_recording_gives_the_same_triple_again_without_a_provider(corpus, tmp_path):
    tape = tmp_path / "tape"

    def say(received):
        return TIER if "You decide how much work" in received.prompt else ANSWER

    given = {"classifier_provider": "openai", "generation_provider": "openai", "api_key": SECRET}
    with ProviderServer(say) as server:
        async with _router(corpus, base_url=f"{server.url}/v1", record=tape, **given) as router:
            first = await router.route(QUESTION)
        n_asked = len(server.requests)
        async with _router(corpus, base_url=f"{server.url}/v1", replay=tape, **given) as router:
            again = await router.route(QUESTION)
            with pytest.raises(MissingRecordingError):
                await router.route("What else is there about Heron?")
        assert len(server.requests) == n_asked == 2
    for one in ("answer", "classification", "sources", "citations", "usage", "grounding"):
        assert getattr(first, one) == getattr(again, one)
    kept = "".join(path.read_text() for path in tape.rglob("*.json"))
    assert SECRET not in kept
    assert ANSWER in kept
