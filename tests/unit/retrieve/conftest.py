"""A real index in a temporary folder, and an embedder that hashes words."""

import zlib
from contextlib import ExitStack

import numpy as np
import pytest

from fingerpost.corpus.index import index_identity, prepare_text
from fingerpost.stores.open import open_store


class HashEmbedder:
    name = "test/hash"
    revision = "1"
    dimension = 64
    max_tokens = 256
    languages = frozenset({"en"})

    def embed(self, texts):
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 0.01
            for word in text.casefold().split():
                row[zlib.crc32(word.strip(".,?!:").encode()) % self.dimension] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def count_tokens(self, text):
        return len(text.split())


class FailingEmbedder(HashEmbedder):
    def embed(self, texts):
        raise OSError("the model is gone")


class Without:
    """A reader of which some methods fail."""

    def __init__(self, reader, *methods):
        self._reader = reader
        self._methods = methods

    def __getattr__(self, name):
        if name in self._methods:
            raise RuntimeError(f"{name} is broken")
        return getattr(self._reader, name)


@pytest.fixture
def embedder():
    return HashEmbedder()


@pytest.fixture
def failing_embedder():
    return FailingEmbedder()


@pytest.fixture
def without():
    return Without


@pytest.fixture
def index(tmp_path):
    """Return a function: path → text (or (text, options)) to an open reader."""
    with ExitStack() as opened:

        def build(documents, embedder=None, vectors_for=None):
            folder = tmp_path / f"index-{len(list(tmp_path.iterdir()))}"
            store = open_store(str(folder))
            opened.callback(store.close)
            with store.writer(index_identity(embedder)) as writer:
                writer.put(_prepared(path, given) for path, given in documents.items())
                writer.commit()
                if embedder is not None:
                    pending = writer.pending_vectors(10_000)
                    if vectors_for is not None:
                        pending = [p for p in pending if vectors_for(p[1])]
                    if pending:
                        rows = embedder.embed([text for _, text in pending])
                        writer.put_vectors([key for key, _ in pending], rows)
                    writer.commit()
            return opened.enter_context(store.reader())

        yield build


def _prepared(path, given):
    text, options = given if isinstance(given, tuple) else (given, {})
    settings = {"source": "docs", "format": "markdown", **options}
    return prepare_text(text, path=path, **settings)
