"""The tree of summaries: what it covers, what it says, and when it is of another day."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.corpus.clusters import clusters
from fingerpost.corpus.index import index_identity, prepare_text
from fingerpost.corpus.summaries import GROUP, summarise
from fingerpost.stores.open import open_store

OPENING = "{0} turn the big wheel of the mill, day and night, all the year round. Then more."


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "index"))
    yield opened
    opened.close()


def put(store, pages):
    with store.writer(index_identity()) as writer:
        writer.put(
            prepare_text(text, source="docs", path=path, title=title)
            for path, (title, text) in pages.items()
        )
        writer.commit()


def pages(number):
    return {f"p/{n:03d}.md": (f"Page {n}", OPENING.format(f"Horses{n}")) for n in range(number)}


@pytest.mark.anyio
async def test_the_root_stands_for_every_document_and_each_node_for_those_below_it(store):
    put(store, pages(137))
    made = await summarise(store)
    with store.reader() as reader:
        tree = reader.summaries()
        assert reader.info.n_summaries == made.n_summaries == len(tree)
        assert reader.info.summaries_current
        for node in tree:
            stored = reader.chunks(node.leads)
            assert [one.key for one in stored] == list(node.leads) != []
            below = [tree[place] for place in node.children]
            assert all(one.level == node.level - 1 for one in below)
            if below:
                assert sum(one.n_documents for one in below) == node.n_documents
            else:
                assert (node.level, node.n_documents <= GROUP) == (1, True)
    assert (tree[-1].n_documents, made.n_written, made.failures) == (137, 0, ())
    assert sum(node.n_documents for node in tree if node.level == 1) == 137


@pytest.mark.anyio
async def test_without_a_model_a_summary_consists_of_openings_the_index_page_first(store):
    put(store, {**pages(3), "index.md": ("Mill", OPENING.format("Oxen"))})
    await summarise(store)
    with store.reader() as reader:
        (root,) = reader.summaries()
    lines = root.text.splitlines()
    assert (
        lines[0] == "Mill: Oxen turn the big wheel of the mill, day and night, all the year round."
    )
    assert (root.title, root.written, len(lines)) == ("Mill", False, 4)


@pytest.mark.anyio
async def test_a_model_writes_from_below_and_where_it_fails_the_openings_stay(store):
    put(store, pages(2 * GROUP))
    told = []

    async def write(title, lines):
        told.append((title, list(lines)))
        if len(told) == 1:
            raise OSError("the model is gone")
        return f"written {len(told)}"

    made = await summarise(store, write)
    with store.reader() as reader:
        first, second, root = reader.summaries()
    assert (first.written, second.text, root.text) == (False, "written 2", "written 3")
    assert told[2][1] == [first.text, second.text]
    assert made.n_written == 2
    assert len(made.failures) == 1
    assert "the model is gone" in made.failures[0]


@pytest.mark.anyio
async def test_a_tree_is_no_longer_current_when_a_document_changed(store):
    put(store, pages(3))
    await summarise(store)
    put(store, {"p/001.md": ("Page 1", "Another text stands here now.")})
    assert store.info().n_summaries == 1
    assert not store.info().summaries_current
    await summarise(store)
    assert store.info().summaries_current


@pytest.mark.anyio
async def test_a_tree_of_documents_that_changed_meanwhile_is_kept_and_not_current(store):
    put(store, pages(3))

    async def write(title, lines):
        put(store, {"late.md": ("Late", "It came while the model wrote.")})
        return "written"

    await summarise(store, write)
    assert store.info().n_summaries == 1
    assert not store.info().summaries_current


@pytest.mark.anyio
async def test_an_empty_index_has_no_summaries(store):
    assert (await summarise(store)).n_summaries == 0


@given(st.integers(0, 40), st.integers(1, 12), st.integers(0, 5))
def test_every_row_is_in_one_group(n_rows, size, seed):
    rows = np.random.default_rng(seed).standard_normal((n_rows, 8)).astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    found = clusters(rows, size)
    assert sorted(row for group in found for row in group) == list(range(n_rows))
    assert found == clusters(rows, size)


def test_vectors_that_point_the_same_way_are_together():
    ways = np.eye(3, dtype=np.float32)
    rows = ways[[0, 1, 2, 0, 1, 2]]
    assert clusters(rows, 2) == [[0, 3], [1, 4], [2, 5]]
