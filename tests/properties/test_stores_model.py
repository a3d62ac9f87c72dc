"""Vectors against exact cosine, a repaired word index against its former self, hostile queries."""

import random
from pathlib import Path

import numpy as np
import pytest

from fingerpost.stores import IndexIdentity, WordQuery
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import (
    DIMENSION,
    IDENTITY,
    fill,
    hash_vector,
    prepare,
    words,
)
from fingerpost.text.analyse import analyse, query_tokens
from fingerpost.types.ids import document_id
from fingerpost.types.query import Filters

VOCABULARY = ("pump", "valve", "seal", "gate", "motor", "wheel")


def test_a_damaged_word_index_ranks_after_repair_as_before(tmp_path):
    rng = random.Random(1)
    store = EmbeddedStore(tmp_path / "index")
    documents = [
        prepare(f"{n}.md", [" ".join(rng.choices(VOCABULARY, k=9)) + "\n"]) for n in range(80)
    ]
    fill(store, documents)
    with store.reader() as reader:
        before = [reader.search_words(words(word), 20) for word in VOCABULARY]
    store.close()
    next((tmp_path / "index" / "words" / "0001").glob("*.idx")).write_bytes(b"")
    with EmbeddedStore(tmp_path / "index").reader() as reader:
        assert [reader.search_words(words(word), 20) for word in VOCABULARY] == before
        assert any("rebuilt from 80 chunks" in note for note in reader.info.notes)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """6,000 one-chunk contents with clustered vectors of 128 dimensions."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((40, 128))
    vectors = centres[rng.integers(0, 40, 6000)] + 1.2 * rng.standard_normal((6000, 128))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    identity = IndexIdentity("test-1", 256, "clusters", "1", 128)
    store = EmbeddedStore(Path(tmp_path_factory.mktemp("many")) / "index")
    with store.writer(identity) as writer:
        writer.put(
            prepare(f"{n // 100:02d}/{n:04d}.md", [f"text number {n}\n"]) for n in range(6000)
        )
        pending = writer.pending_vectors(6000)
        writer.put_vectors([key for key, _ in pending], vectors)
        writer.commit()
    return store, vectors


def test_search_by_sign_bits_finds_what_exact_search_finds(many):
    store, vectors = many
    rng = np.random.default_rng(6)
    recalled = []
    with store.reader() as reader:
        for row in rng.integers(0, 6000, 30):
            query = vectors[row] + 0.05 * rng.standard_normal(128).astype(np.float32)
            query /= np.linalg.norm(query)
            exact = vectors @ query
            best = set((np.argsort(-exact, kind="stable")[:10] + 1).tolist())
            found = reader.search_vectors(query, 10)
            recalled.append(len(best & {key for key, _ in found}) / 10)
            assert all(abs(score - exact[key - 1]) < 0.01 for key, score in found)
    assert np.mean(recalled) > 0.95


@pytest.mark.parametrize("globs", [("3*/*",), ("07",), ("**/*5.md",), ("0*/*", "1*/*", "2*/*")])
def test_vectors_inside_a_filter_are_the_best_inside(many, globs):
    store, vectors = many
    with store.reader() as reader:
        selection = reader.select(Filters(paths=globs))
        keys = selection.payload.keys
        for row in (3, 999, 4321):
            exact = vectors[keys - 1] @ vectors[row]
            best = keys[np.argsort(-exact, kind="stable")[:5]].tolist()
            found = [key for key, _ in reader.search_vectors(vectors[row], 5, selection)]
            assert set(found) <= set(keys.tolist())
            assert len(set(best) & set(found)) >= 4
            texts = reader.search_words(words("text number"), 50, selection)
            assert [key for key, _ in texts] == keys[:50].tolist()


PIECES = (
    '"', "*", "NEAR(", "AND", "OR", "NOT", "col:x", "C++", "foo-bar", "'; DROP TABLE chunks; --",
    "\x00", "\ud800", "\udfff", "🧨", "\u202eabc", "مرحبا", "検索", "(", ")", "^", "~2", "[a TO b]",
    "\\", "/.*/", "{", "}", "+", "-", "text:pumps", "key:1", "%", "_", "\n", "\t", "a" * 300, "ß",
)  # fmt: skip


def test_five_thousand_hostile_queries_never_raise(tmp_path):
    rng = random.Random(15)
    store = EmbeddedStore(tmp_path / "index")
    fill(store, [prepare("a.md", ["pumps, C++ and foo-bar 検索\n", "\ud800 lone \x00 text\n"])])
    with store.reader() as reader:
        for turn in range(5000):
            text = rng.choice(("", " ")).join(rng.choices(PIECES, k=rng.randrange(1, 12)))
            if turn % 500 == 0:
                text = (text * 8192)[:8192]
            raw = dict.fromkeys([text, *text.split()], 1.0)
            for tokens in (query_tokens(text), raw):
                hits = reader.search_words(WordQuery(tokens, rng.choice((0.0, 0.4))), 5)
                assert all(score > 0 for _, score in hits)
            reader.document_frequency([*analyse(text)[:3], text])
        assert reader.search_words(words("pumps"), 5)
        stored = reader.document_chunks(document_id("docs", "a.md"))
        assert stored[1].chunk.text == "\ud800 lone \x00 text\n"


def test_vectors_come_back_at_unit_length(tmp_path):
    store = EmbeddedStore(tmp_path / "index")
    with store.writer(IDENTITY) as writer:
        writer.put([prepare("a.md", ["one\n", "two\n", "three\n"])])
        keys = [key for key, _ in writer.pending_vectors(3)]
        vectors = np.stack([hash_vector("x") * 1e-20, hash_vector("y") * 1e20, hash_vector("z")])
        vectors[2] = 0
        writer.put_vectors(keys, vectors)
        writer.commit()
    with store.reader() as reader:
        rows = reader.vectors([1, 2, 3])
        assert np.linalg.norm(rows[:2], axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
        assert rows.shape == (3, DIMENSION)
        assert not rows[2].any()
        scores = dict(reader.search_vectors(hash_vector("x"), 3))
        assert scores[1] == pytest.approx(1.0, abs=0.01)
        assert scores[3] == 0.0
