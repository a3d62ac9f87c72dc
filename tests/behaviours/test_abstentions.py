"""Why there is no answer: four reasons that are never mixed up."""

import anyio
import pytest

from fingerpost import AbstentionReason, GenerationMode, QueryRouter

pytestmark = pytest.mark.anyio


def _router(corpus):
    return QueryRouter(knowledge_corpus=[corpus], embedding_provider="none")


async def test_an_empty_index_no_match_and_a_narrow_filter_are_three_reasons(corpus):
    question = "What is the default mode?"
    async with _router(corpus) as router:
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
    async with _router(corpus) as router:
        result = await router.route("What does error E2000 mean?")
    assert result.abstention is AbstentionReason.EVIDENCE_TOO_WEAK
    assert result.sources
    assert not any(source.cited for source in result.sources)
    assert result.citations == ()
