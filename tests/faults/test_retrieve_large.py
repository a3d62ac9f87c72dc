"""Field note 37: one failed leg over a large index loads nothing whole, and says so."""

import tracemalloc

import pytest

from fingerpost.corpus.index import index_identity, prepare_text
from fingerpost.retrieve import RetrieveRequest, RetrieveTools, retrieve
from fingerpost.stores.open import open_store
from fingerpost.types import Strategy, Tier

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
N_DOCUMENTS, N_SECTIONS = 340, 100
MOST_BYTES = 32 * 2**20
SQL_VARIABLES = 32_766
"""Most that SQLite takes in one statement."""


class Failing:
    name, revision, dimension, max_tokens = "test/failing", "1", 8, 256
    languages = frozenset({"en"})

    def embed(self, texts):
        raise OSError("the model is gone")

    def count_tokens(self, text):
        return len(text.split())


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    store = open_store(str(tmp_path_factory.mktemp("large") / "index"))
    with store.writer(index_identity()) as writer:
        writer.put(
            prepare_text(
                "\n\n".join(
                    f"## Valve {n}-{m}\n\nValve {n}-{m} of the mill opens at noon."
                    for m in range(N_SECTIONS)
                ),
                source="docs",
                path=f"p/{n}.md",
                title=f"Page {n}",
                format="markdown",
            )
            for n in range(N_DOCUMENTS)
        )
        writer.commit()
    yield store
    store.close()


async def test_a_leg_that_fails_is_named_and_no_collection_is_loaded(large):
    told = []
    with large.reader() as reader:
        assert reader.info.n_chunks > SQL_VARIABLES
        tools = RetrieveTools(embedder=Failing(), observe=told.append)
        request = RetrieveRequest("When does valve 17-3 open?", Tier(2), Strategy("moderate"))
        tracemalloc.start()
        try:
            evidence = await retrieve(reader, request, tools)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert evidence.hits[0].document.path == "p/17.md"
    assert "keyword-fallback" in evidence.fallbacks
    assert "keyword-fallback" in [getattr(event, "name", "") for event in told]
    assert peak < MOST_BYTES


def test_more_chunks_than_a_statement_takes_variables_are_read_at_once(large):
    with large.reader() as reader:
        documents = [document.id for document in reader.documents()]
        keys = [key for own in reader.keys_of_documents(documents).values() for key in own]
        assert len(keys) > SQL_VARIABLES
        assert [one.key for one in reader.chunks(keys)] == keys
