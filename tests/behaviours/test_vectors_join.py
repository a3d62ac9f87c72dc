"""Words answer at once and vectors join: every state that a user may find the index in."""

import itertools

import anyio
import pytest

from fingerpost import QueryRouter

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **settings)


def _all_embedded(event):
    return event.type == "ingest:progress" and event.phase == "embed" and event.done == event.total


async def test_words_answer_as_soon_as_init_returns_and_vectors_join_by_themselves(
    corpus, runtime, story
):
    runtime.hold()
    async with _router(corpus, on_event=story) as router:
        before = router.get_corpus_stats()
        early = await router.route(QUESTION)
        runtime.release()
        assert await anyio.to_thread.run_sync(story.has, _all_embedded)
        after = router.get_corpus_stats()
        late = await router.route(QUESTION)
    assert "safe" in early.answer
    assert (before.embedding_status, before.embedding_model, before.embedding_dimension) == (
        "active",
        "local/minilm-l6-v2-int8",
        384,
    )
    assert (before.vector_coverage, after.vector_coverage) == (0, 1)
    assert (early.retrieval_mode, early.vector_coverage) == ("keyword-only", 0)
    assert "keyword-fallback" in early.fallbacks_used
    assert (early.lexical_weight, early.usage) == (None, ())
    assert (late.retrieval_mode, late.vector_coverage) == ("vector+keyword-fallback", 1)
    assert late.fallbacks_used == ()
    assert 0 < late.lexical_weight < 1
    assert not late.cached


async def test_an_index_with_some_vectors_says_how_many_and_uses_them(corpus, runtime):
    async with _router(corpus, embed="never") as router:
        n_chunks = router.get_corpus_stats().chunk_count
        asked = itertools.count(1)
        n_embedded = await router.embed(lambda: next(asked) > 3)
        result = await router.route(QUESTION)
        stats = router.get_corpus_stats()
        rest = await router.embed()
        again = await router.embed()
    assert 0 < n_embedded < n_chunks
    assert result.vector_coverage == stats.vector_coverage == n_embedded / n_chunks
    assert result.retrieval_mode == "vector+keyword-fallback"
    assert "safe" in result.answer
    assert (n_embedded + rest, again) == (n_chunks, 0)


async def test_init_waits_for_vectors_when_it_is_told_to(corpus, runtime):
    async with _router(corpus, embed="wait") as router:
        assert router.get_corpus_stats().vector_coverage == 1


async def test_no_vector_is_computed_when_that_is_switched_off(corpus, runtime):
    async with _router(corpus, embed="never") as router:
        assert (await router.route(QUESTION)).vector_coverage == 0
    assert runtime.n_calls == 0


async def test_a_model_that_cannot_be_loaded_leaves_words_and_says_so(corpus, runtime):
    runtime.load_error = RuntimeError("no such operator")
    async with _router(corpus) as router:
        result = await router.route(QUESTION)
        stats = router.get_corpus_stats()
        assert "no such operator" in router.embedding_reason
    assert (stats.embedding_status, stats.retrieval_mode) == ("failed-init", "keyword-only")
    assert (stats.embedding_model, stats.embedding_dimension) == (None, 0)
    assert "safe" in result.answer
    assert "keyword-fallback" in result.fallbacks_used


async def test_a_model_that_fails_on_a_question_leaves_words_and_names_the_fallback(
    corpus, runtime, story
):
    async with _router(corpus, embed="wait", on_event=story) as router:
        runtime.error = RuntimeError("out of memory")
        result = await router.route(QUESTION)
    assert "safe" in result.answer
    assert result.fallbacks_used == ("keyword-fallback",)
    (fallback,) = story.of("retrieve:fallback")
    assert (fallback.name, "out of memory" in fallback.reason) == ("keyword-fallback", True)


async def test_vectors_under_no_document_of_the_filter_are_named_as_empty(corpus, runtime):
    """The German page has no vector yet, and the filter leaves only that one."""
    async with _router(corpus, embed="wait") as router:
        (corpus / "de" / "neu.md").write_text("# Kennwort\n\nDas Kennwort steht im Tresor.\n")
        await router.close()
    async with _router(corpus, embed="never") as router:
        result = await router.route("Wo steht das Kennwort?", filters={"paths": "de/neu.md"})
    assert "Tresor" in result.answer
    assert "vector-empty" in result.fallbacks_used


async def test_closing_ends_background_work_and_the_next_start_goes_on_from_there(
    corpus, runtime, story
):
    runtime.hold()
    async with _router(corpus) as router:
        assert router.get_corpus_stats().vector_coverage == 0
        runtime.release()
    async with _router(corpus, embed="wait", on_event=story) as router:
        stats = router.get_corpus_stats()
    assert (stats.vector_coverage, router.index_summary.n_unchanged) == (1, 4)
    assert runtime.n_calls == stats.chunk_count


async def test_an_edited_section_is_embedded_again_and_no_other(corpus, runtime):
    """Field note 7: unchanged sections keep their vectors."""
    async with _router(corpus, embed="wait") as router:
        before, n_chunks = runtime.n_calls, router.get_corpus_stats().chunk_count
        page = corpus / "guides" / "errors.md"
        page.write_text(page.read_text().replace("license file has expired", "licence is too old"))
        await router.refresh()
        n_embedded = await router.embed()
        result = await router.route("What does error E1042 mean?")
    assert before == n_chunks
    assert n_embedded == 1
    assert "licence is too old" in result.answer
