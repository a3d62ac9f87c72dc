"""Damaged vector files are said, words go on to answer, and the next writer renews them (R3)."""

import pytest

from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import (
    IDENTITY,
    embed_all,
    fill,
    hash_vector,
    prepare,
    words,
)

DOCUMENTS = [prepare(f"a/{n}.md", [f"pumps number {n}\n"]) for n in range(40)]


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "index"
    fill(EmbeddedStore(folder), DOCUMENTS)
    return folder


def _damage(folder, ending, how):
    path = folder / "vectors" / f"0001.{ending}"
    content = bytearray(path.read_bytes())
    at = len(content) - 60  # in the last rows, behind the header
    if how == "bit":
        content[at] ^= 4
    else:
        content[at : at + 40] = bytes(len(content[at : at + 40]))
    path.write_bytes(content)


def _asked(folder):
    with EmbeddedStore(folder).reader() as reader:
        near = reader.search_vectors(hash_vector("pumps"), 50)
        return near, len(reader.search_words(words("pumps"), 50)), reader.info


@pytest.mark.parametrize("ending", ["codes", "rows"])
@pytest.mark.parametrize("how", ["bit", "zeros"])
def test_a_damaged_vector_is_left_out_with_a_note_and_renewed_once(index, ending, how):
    truth, n_words, _ = _asked(index)
    _damage(index, ending, how)
    near, still, info = _asked(index)
    assert still == n_words
    assert set(near) < set(truth)
    assert any("lost theirs to damage" in note for note in info.notes)
    store = EmbeddedStore(index)
    with store.writer(IDENTITY) as writer:
        assert any("to be made anew" in note for note in writer.notes)
        assert writer.n_pending_vectors() == len(truth) - len(near)
        writer.commit()
    assert store.info().n_vectors == len(near)
    with store.writer(IDENTITY) as writer:
        embed_all(writer)
        writer.commit()
    store.close()
    near, _, info = _asked(index)
    assert sorted(near) == sorted(truth)
    assert info.notes == ()
    with EmbeddedStore(index).writer(IDENTITY) as writer:
        assert writer.commit() == info.generation
