"""A store against a plain dictionary: thousands of operations, one after the other (goal R6)."""

import random
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import IDENTITY, embed_all, fill, prepare, words
from fingerpost.types.ids import document_id
from fingerpost.types.query import Filters

N_OPERATIONS = 2000
MAX_GROWTH = 2.5
VOCABULARY = ("pump", "valve", "seal", "gate", "motor", "wheel")
OPERATIONS = {
    "put": 45, "remove": 10, "move": 10, "reindex": 1, "search": 20, "commit": 8, "abandon": 4,
    "restart": 2,
}  # fmt: skip


class Twins:
    """A store and what it should hold: ``published`` to readers, ``coming`` to the writer."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.rng = random.Random(seed)
        self.store = EmbeddedStore(folder)
        self.coming, self.published = {}, {}
        self._session = ExitStack()
        self._open = None
        self.n_done = dict.fromkeys(OPERATIONS, 0)

    @property
    def writer(self):
        if self._open is None:
            self._open = self._session.enter_context(self.store.writer(IDENTITY))
        return self._open

    def step(self):
        (name,) = self.rng.choices(list(OPERATIONS), weights=list(OPERATIONS.values()))
        getattr(self, f"_{name}")()
        self.n_done[name] += 1

    def _path(self):
        return f"{self.rng.randrange(2)}/{self.rng.randrange(20)}.md"

    def _put(self):
        path = self._path()
        self.coming[path] = [
            " ".join(self.rng.choices(VOCABULARY, k=60)) + "\n"
            for _ in range(self.rng.randrange(1, 5))
        ]
        self.writer.put([prepare(path, self.coming[path])])

    def _remove(self):
        path = self._path()
        self.coming.pop(path, None)
        self.writer.remove([document_id("docs", path)])

    def _move(self):
        if not self.coming:
            return
        old, new = self.rng.choice(sorted(self.coming)), self._path()
        self.writer.move(document_id("docs", old), prepare(new, self.coming[old]).document)
        self.coming[new] = self.coming.pop(old)

    def _reindex(self):
        self.writer.put([prepare(path, sections) for path, sections in self.coming.items()])

    def _search(self):
        word = self.rng.choice(VOCABULARY)
        filters = self.rng.choice([Filters(), Filters(paths=("1",))])
        prefix = "1/" if filters else ""
        with self.store.reader() as reader:
            hits = reader.search_words(words(word), 999, reader.select(filters))
            found = {}
            for hit in reader.chunks([key for key, _ in hits]):
                found[hit.document.path] = found.get(hit.document.path, 0) + 1
        assert found == {
            path: n
            for path, sections in self.published.items()
            if path.startswith(prefix) and (n := sum(word in one.split() for one in sections))
        }

    def _commit(self):
        embed_all(self.writer)
        self.writer.commit()
        self.published = dict(self.coming)

    def _abandon(self):
        self._session.close()
        self._open = None
        self.coming = dict(self.published)

    def _restart(self):
        self._abandon()
        self.store.close()
        self.store = EmbeddedStore(self.folder)
        self.compare()

    def compare(self):
        """Compare every document, chunk, vector and count of words."""
        with self.store.reader() as reader:
            assert [item.path for item in reader.documents()] == sorted(self.published)
            for path, sections in self.published.items():
                found = reader.document_chunks(document_id("docs", path))
                assert [item.chunk for item in found] == list(prepare(path, sections).chunks)
                assert reader.vectors([item.key for item in found]).any(axis=1).all()
            n_chunks = sum(map(len, self.published.values()))
            assert reader.info.n_chunks == reader.info.n_vectors == n_chunks
            assert reader.info.notes == ()
            for word in VOCABULARY:
                (token,) = words(word).tokens
                counts = (
                    word in section.split()
                    for sections in self.published.values()
                    for section in sections
                )
                assert reader.document_frequency([token]) == {token: sum(counts)}


@pytest.fixture
def room(tmp_path):
    """A folder in memory where there is one: the number of commits is large."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else tmp_path) as name:
        yield Path(name)


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 60])
def test_any_order_of_operations_ends_like_a_dictionary_and_the_folder_stays_small(room, seed):
    twins = Twins(room / "index", seed)
    for _ in range(N_OPERATIONS):
        twins.step()
    twins._commit()
    twins._restart()
    assert min(twins.n_done.values()) > 0
    twins.store.close()
    fill(EmbeddedStore(room / "fresh"), [prepare(*item) for item in twins.published.items()])
    assert size(room / "index") <= MAX_GROWTH * size(room / "fresh")
