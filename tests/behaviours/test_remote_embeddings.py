"""Vectors of a provider: whose they are, what a fault leaves, and what a change of model needs."""

import pytest

from fingerpost import IndexMismatchError, QueryRouter, Verdict
from fingerpost.testing import ScriptedChat
from fingerpost.testing.provider import ProviderServer, faults

pytestmark = pytest.mark.anyio
SECRET = "sk-canary-0123456789abcdef"
QUESTION = "What is the default mode?"
CLAIM = "Heron has 5 modes: fast, safe and quiet [1]."


@pytest.fixture
def at(corpus, monkeypatch):
    """Return a function that gives a router whose vectors come from a server."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    def make(server, model="text-embedding-3-small", **settings):
        given = {
            "embedding_provider": "openai",
            "embedding_model": model,
            "embedding_api_key": SECRET,
            "embedding_base_url": f"{server.url}/v1",
            "classifier_provider": "none",
            "generation_provider": "none",
            "embed": "wait",
            **settings,
        }
        return QueryRouter(
            knowledge_corpus=[corpus], **{k: v for k, v in given.items() if v is not None}
        )

    return make


def texts_of(server):
    return [text for received in server.requests for text in received.texts]


async def test_an_index_is_embedded_in_batches_and_bound_to_its_model(at):
    with ProviderServer(dimension=1536) as server:
        async with at(server) as router:
            stats = router.get_corpus_stats()
            n_requests = len(server.requests)
            result = await router.route(QUESTION)
    assert (stats.embedding_status, stats.vector_coverage) == ("active", 1)
    assert (stats.embedding_model, stats.embedding_dimension) == (
        "openai/text-embedding-3-small",
        1536,
    )
    assert n_requests < stats.chunk_count
    assert result.retrieval_mode == "vector+keyword-fallback"
    embedded = [usage for usage in result.usage if usage.job == "embed"]
    assert {usage.model for usage in embedded} == {"openai/text-embedding-3-small"}
    assert all(usage.cost_usd > 0 for usage in embedded)
    assert all(r.headers["authorization"] == f"Bearer {SECRET}" for r in server.requests)


async def test_the_next_start_embeds_nothing_again(at):
    with ProviderServer(dimension=1536) as server:
        async with at(server):
            pass
        n_texts = len(texts_of(server))
        async with at(server) as router:
            assert router.get_corpus_stats().vector_coverage == 1
        assert len(texts_of(server)) == n_texts


async def test_a_provider_that_is_down_at_the_start_leaves_words_and_the_next_start_goes_on(at):
    down = [faults.status(500)] * 3
    with ProviderServer(dimension=1536, embeddings=down) as server:
        async with at(server) as router:
            before = router.get_corpus_stats()
            result = await router.route(QUESTION)
        async with at(server) as router:
            after = router.get_corpus_stats()
    assert before.vector_coverage == 0
    assert result.retrieval_mode == "keyword-only"
    assert "keyword-fallback" in result.fallbacks_used
    assert "safe" in result.answer
    assert after.vector_coverage == 1


async def test_a_provider_that_fails_on_a_question_leaves_words_says_so_and_is_asked_again(at):
    with ProviderServer(dimension=1536) as server:
        async with at(server):
            pass
    with ProviderServer(dimension=1536, embeddings=[faults.status(401)] * 9) as server:
        async with at(server) as router:
            result = await router.route(QUESTION)
            again = await router.route(QUESTION)
    assert not again.cached
    assert result.retrieval_mode == "keyword-only"
    assert result.fallbacks_used[0] == "keyword-fallback"
    assert "safe" in result.answer


WRONG = {
    "nan": lambda right: [(i, [float("nan")] * 1536) for i, _ in right],
    "zero": lambda right: [(i, [0.0] * 1536) for i, _ in right],
    "dimension": lambda right: [(i, [0.1] * 8) for i, _ in right],
    "count": lambda right: right[:-1],
}


@pytest.mark.parametrize("kind", list(WRONG))
async def test_no_vector_that_cannot_be_used_is_stored(at, kind):
    wrong = [faults.wrong_vectors(WRONG[kind])] * 200
    with ProviderServer(dimension=1536, embeddings=wrong) as server:
        async with at(server) as router:
            stats = router.get_corpus_stats()
            result = await router.route(QUESTION)
    assert stats.vector_coverage == 0
    assert "safe" in result.answer


@pytest.mark.parametrize("named", ["text-embedding-3-large", None])
async def test_another_model_in_the_settings_is_an_error_that_says_what_to_run(
    at, corpus, runtime, named
):
    with ProviderServer(dimension=1536) as server:
        async with at(server):
            pass
        if named:
            other = at(server, model=named)
        else:
            other = QueryRouter(knowledge_corpus=[corpus], embedding_model="minilm")
        with pytest.raises(IndexMismatchError) as caught:
            async with other:
                pass
        assert "openai/text-embedding-3-small" in str(caught.value)
        assert (named or "minilm") in str(caught.value)
        assert "fingerpost index" in caught.value.hint
        async with at(server) as router:
            assert router.get_corpus_stats().vector_coverage == 1


async def test_without_the_key_words_answer_and_the_reason_names_the_model(at, corpus, monkeypatch):
    with ProviderServer(dimension=1536) as server:
        async with at(server):
            pass
    monkeypatch.delenv("OPENAI_API_KEY")
    async with QueryRouter(knowledge_corpus=[corpus]) as router:
        stats, reason = router.get_corpus_stats(), router.embedding_reason
        result = await router.route(QUESTION)
    assert (stats.embedding_status, stats.retrieval_mode) == ("disabled-no-key", "keyword-only")
    assert "openai/text-embedding-3-small" in reason
    assert "safe" in result.answer


async def test_a_key_in_the_environment_does_not_take_over_an_index_of_the_local_model(
    corpus, runtime, monkeypatch
):
    async with QueryRouter(knowledge_corpus=[corpus], embed="wait"):
        pass
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with QueryRouter(
        knowledge_corpus=[corpus], classifier_provider="none", generation_provider="none"
    ) as router:
        stats = router.get_corpus_stats()
    assert stats.embedding_model == "local/minilm-l6-v2-int8"
    assert stats.vector_coverage == 1


async def test_claims_are_checked_by_words_when_the_embedding_model_fails(at):
    with ProviderServer(dimension=1536) as server:
        async with at(server):
            pass
    with ProviderServer(dimension=1536, embeddings=[faults.status(401)] * 99) as server:
        async with at(server, chat_model=ScriptedChat([CLAIM])) as router:
            result = await router.route(QUESTION)
    assert result.grounding_status == "checked"
    assert result.grounding.method == "lexical"
    assert result.grounding.claims[0].verdict is Verdict.CONTRADICTED


async def test_one_vector_that_cannot_be_used_costs_one_text_more_and_no_other(at):
    first_is_nothing = faults.wrong_vectors(
        lambda right: [(i, [0.0] * 1536 if i == 0 else [1.0] * 1536) for i, _ in right]
    )
    with ProviderServer(dimension=1536, embeddings=[first_is_nothing]) as server:
        async with at(server) as router:
            stats = router.get_corpus_stats()
    assert stats.vector_coverage == 1
    assert len(texts_of(server)) == stats.chunk_count + 1
