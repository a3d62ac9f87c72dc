"""What every store must do: subclass `StoreContract` and give it a fixture ``open_store``.

Example:
    ::

        class TestMyStore(StoreContract):
            @pytest.fixture
            def open_store(self, tmp_path):
                return lambda: MyStore(tmp_path / "index")
"""

# ruff: noqa: D102, PLR2004 - the name of a test is its sentence, its numbers are examples

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fingerpost.errors import IndexMismatchError, StoreConflictError, StoreError
from fingerpost.stores import Store
from fingerpost.testing.graph_contract import GraphContract
from fingerpost.testing.store_documents import (
    DIMENSION,
    IDENTITY,
    embed_all,
    fill,
    hash_vector,
    paths_of,
    prepare,
    words,
)
from fingerpost.text.analyse import analyse_joined
from fingerpost.types.document import SkippedFile
from fingerpost.types.ids import chunk_id, content_key, document_id
from fingerpost.types.query import Filters

OpenStore = Callable[[], Store]
MODES = prepare("guide/modes.md", ["There are modes: 4 in all.\n", "Gateways are listed.\n"])
PUMPS = prepare("guide/pumps.md", ["Pumps move water.\n"], tags=("Water", "Ops"))
FRENCH = prepare("fr/pompes.md", ["Les pompes sont lourdes.\n"], language="fr", source="monde")


class StoreContract(GraphContract):
    """Tests of the behaviour that every `Store` shares."""

    def test_an_index_that_was_never_written_reads_as_empty(self, open_store: OpenStore) -> None:
        store = open_store()
        assert (store.info().generation, store.info().identity) == (0, None)
        with store.reader() as reader:
            assert reader.search_words(words("pumps"), 5) == []
            assert list(reader.documents()) == []
            assert reader.document_frequency(["pumps"]) == {"pumps": 0}

    def test_what_is_committed_is_found_by_a_new_store(self, open_store: OpenStore) -> None:
        generation = fill(open_store(), [MODES, PUMPS])
        with open_store().reader() as reader:
            info = reader.info
            assert (info.generation, info.n_documents, info.n_chunks) == (generation, 2, 3)
            assert (info.n_vectors, info.identity) == (3, IDENTITY)
            assert paths_of(reader, reader.search_words(words("water"), 5)) == ["guide/pumps.md"]
            stored = reader.document_chunks(MODES.document.id)
            assert [item.chunk for item in stored] == list(MODES.chunks)
            assert stored[0].document == MODES.document

    def test_nothing_is_seen_before_the_commit_and_nothing_stays_without_it(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        fill(store, [MODES])
        with store.writer(IDENTITY) as writer:
            writer.put([PUMPS])
            with store.reader() as reader:
                assert reader.search_words(words("water"), 5) == []
        with store.writer(IDENTITY) as writer:
            assert set(writer.known()) == {MODES.document.id}
        with store.reader() as reader:
            assert reader.search_words(words("water"), 5) == []

    def test_a_reader_keeps_its_generation_while_others_are_committed(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        with store.reader() as reader:
            before = reader.search_words(words("water pumps"), 5)
            with store.writer(IDENTITY) as writer:
                writer.remove([PUMPS.document.id])
                writer.commit()
            assert reader.search_words(words("water pumps"), 5) == before
            assert reader.document_chunks(PUMPS.document.id)
        with store.reader() as reader:
            assert reader.search_words(words("water pumps"), 5) == []
            assert reader.document_chunks(PUMPS.document.id) == []

    def test_an_edited_document_leaves_nothing_of_its_former_text(
        self, open_store: OpenStore
    ) -> None:
        """Field note, case 7."""
        store = open_store()
        fill(store, [MODES])
        edited = prepare("guide/modes.md", ["There are modes: 3 in all.\n", MODES.chunks[1].text])
        with store.writer(IDENTITY) as writer:
            writer.put([edited])
            assert writer.n_pending_vectors() == 1
            embed_all(writer)
            writer.commit()
        with store.reader() as reader:
            (hit, *others) = reader.search_words(words("modes 4 3"), 5)
            assert [item.chunk.text for item in reader.chunks([hit[0]])] == [
                "There are modes: 3 in all.\n"
            ]
            assert len(others) <= 1
            assert reader.info.n_vectors == reader.info.n_chunks == 2
            old = hash_vector("Section 0\nThere are modes: 4 in all.")
            assert all(score < 0.99 for _, score in reader.search_vectors(old, 5))

    def test_an_unchanged_corpus_commits_nothing(self, open_store: OpenStore) -> None:
        store = open_store()
        generation = fill(store, [MODES, PUMPS])
        with store.writer(IDENTITY) as writer:
            assert writer.known()[MODES.document.id] == (
                "docs",
                "guide/modes.md",
                MODES.document.content_hash,
            )
            assert writer.pending_vectors(10) == []
            assert writer.commit() == generation

    def test_a_moved_document_keeps_its_vectors_and_is_found_by_its_new_name(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        path = "manual/turbines.md"
        moved = replace(
            PUMPS.document, id=document_id("docs", path), path=path, title="turbines.md"
        )
        with store.writer(IDENTITY) as writer:
            writer.move(PUMPS.document.id, moved)
            assert writer.n_pending_vectors() == 0
            writer.commit()
        with store.reader() as reader:
            assert paths_of(reader, reader.search_words(words("turbines"), 5)) == [path]
            assert reader.document_chunks(PUMPS.document.id) == []
            (stored,) = reader.document_chunks(moved.id)
            assert stored.document == moved
            expected = chunk_id(moved.id, ("Section 0",), stored.chunk.text)
            assert (stored.chunk.id, stored.chunk.document_id) == (expected, moved.id)
            vector = hash_vector("Section 0\nPumps move water.")
            assert reader.search_vectors(vector, 1)[0][0] == stored.key

    def test_vectors_of_equal_content_return_with_it(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        with store.writer(IDENTITY) as writer:
            writer.remove([PUMPS.document.id])
            writer.commit()
        with store.writer(IDENTITY) as writer:
            writer.put([prepare("elsewhere.md", ["Pumps move water.\n"])])
            assert writer.n_pending_vectors() == 0

    def test_vectors_join_later_and_are_pending_until_then(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS], vectors=False)
        with store.writer(IDENTITY) as writer:
            ((key, text),) = writer.pending_vectors(1)
            assert key == content_key(MODES.chunks[0].heading_path, MODES.chunks[0].search_text)
            assert text == "Section 0\nThere are modes: 4 in all."
            assert writer.n_pending_vectors() == 3
            writer.put_vectors([key], hash_vector(text)[None, :])
            assert writer.n_pending_vectors() == 2
            writer.commit()
        with store.reader() as reader:
            assert (reader.info.n_vectors, reader.info.n_chunks) == (1, 3)
            ((found, score),) = reader.search_vectors(hash_vector(text), 5)
            assert score == pytest.approx(1.0, abs=0.02)
            rows = reader.vectors([found, found + 1, 10**6])
            assert np.linalg.norm(rows[0]) == pytest.approx(1.0, abs=1e-4)
            assert not rows[1:].any()

    def test_filters_hold_on_both_legs_however_many_better_hits_stand_outside(
        self, open_store: OpenStore
    ) -> None:
        """Field note, case 13."""
        store = open_store()
        many = [prepare(f"out/{n}.md", [f"pumps pumps pumps {n}\n"]) for n in range(60)]
        inside = [
            prepare(f"in/{n}.md", [f"a pumps note of length {n} and more words\n"], tags=("X",))
            for n in range(2)
        ]
        fill(store, [*many, *inside])
        with store.reader() as reader:
            for filters in (Filters(tags=("x",)), Filters(paths=("in",)), Filters(paths=("in/*",))):
                selection = reader.select(filters)
                assert selection is not None
                assert selection.n_documents == 2
                found = reader.search_words(words("pumps"), 4, selection)
                assert sorted(paths_of(reader, found)) == ["in/0.md", "in/1.md"]
                near = reader.search_vectors(hash_vector("x"), 4, selection)
                assert sorted(paths_of(reader, near)) == ["in/0.md", "in/1.md"]
            nothing = reader.select(Filters(sources=("nowhere",)))
            assert nothing is not None
            assert reader.search_words(words("pumps"), 4, nothing) == []
            assert reader.search_vectors(hash_vector("x"), 4, nothing) == []

    def test_filters_by_source_and_language_and_none_at_all(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS, FRENCH])
        with store.reader() as reader:
            assert reader.select(Filters()) is None
            assert reader.select(Filters(languages=("en", "fr"))) is None
            for filters in (Filters(languages=("fr",)), Filters(sources=("monde",))):
                hits = reader.search_words(words("pompes pumps"), 5, reader.select(filters))
                assert paths_of(reader, hits) == ["fr/pompes.md"]
            assert reader.languages() == {"en": 3, "fr": 1}

    def test_equal_scores_are_ordered_by_key(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [prepare(f"{n:02d}.md", ["the very same text\n"]) for n in range(40)])
        with store.reader() as reader:
            for k in (1, 7, 40):
                keys = [key for key, _ in reader.search_words(words("same"), k)]
                assert keys == sorted(keys)[:k]
                near = reader.search_vectors(hash_vector("Section 0\nthe very same text"), k)
                assert [key for key, _ in near] == keys

    def test_document_frequency_counts_visible_chunks_once(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        fill(store, [prepare("guide/pumps.md", ["Pumps of water and pumps.\n"])])
        token = analyse_joined("pumps")
        with store.reader() as reader:
            assert reader.document_frequency([token, "nowhere"]) == {token: 1, "nowhere": 0}

    def test_documents_headings_and_skipped_files_are_listed(self, open_store: OpenStore) -> None:
        store = open_store()
        skipped = (SkippedFile("docs/x.bin", "binary"), SkippedFile("y", "too-large", "12 MiB"))
        with store.writer(IDENTITY) as writer:
            writer.put([PUMPS, MODES, FRENCH])
            writer.record_skipped(skipped)
            writer.commit()
        with store.reader() as reader:
            assert list(reader.documents()) == [item.document for item in (MODES, PUMPS, FRENCH)]
            assert (PUMPS.document.id, ("Section 0",), 18) in list(reader.headings())
            assert reader.skipped() == skipped
            assert reader.keys_of_documents([MODES.document.id, "dx"]) == {
                MODES.document.id: [item.key for item in reader.document_chunks(MODES.document.id)]
            }

    def test_folders_of_versions_follow_what_is_committed(self, open_store: OpenStore) -> None:
        store = open_store()
        with store.reader() as empty:
            assert empty.version_folders() == ()
        paths = ("guide/v1.0/a.md", "guide/v1.0/deep/b.md", "guide/v2.0/a.md", "7.4/c.md")
        pages = [prepare(path, [f"Page {path}.\n"]) for path in paths]
        fill(store, [*pages, MODES])
        root, old, new = ("docs", "", "7.4"), ("docs", "guide", "v1.0"), ("docs", "guide", "v2.0")
        with store.reader() as before:
            assert before.version_folders() == (root, old, new)
            with store.writer(IDENTITY) as writer:
                writer.remove([pages[1].document.id, pages[2].document.id])
                moved = replace(
                    MODES.document, id=document_id("docs", "v3.0/m.md"), path="v3.0/m.md"
                )
                writer.move(MODES.document.id, moved)
                writer.commit()
            assert before.version_folders() == (root, old, new)
        with open_store().reader() as after:
            assert after.version_folders() == (root, ("docs", "", "v3.0"), old)

    def test_more_keys_than_a_statement_takes_variables(self, open_store: OpenStore) -> None:
        """Field note, case 37."""
        store = open_store()
        fill(store, [MODES])
        with store.reader() as reader:
            key = reader.document_chunks(MODES.document.id)[0].key
            assert len(reader.chunks([*range(10**6, 10**6 + 40_000), key])) == 1
            assert len(reader.chunks([key] * 40_000)) == 40_000
            wanted = [f"d{n}" for n in range(40_000)]
            assert reader.keys_of_documents(wanted) == {}
            assert reader.vectors([key] * 40_000).shape == (40_000, DIMENSION)

    def test_another_splitter_makes_all_documents_unknown(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        newer = replace(IDENTITY, splitter="test-2")
        with store.writer(newer) as writer:
            assert writer.known() == {}
        assert store.info().n_documents == 2
        with store.writer(newer) as writer:
            writer.put([PUMPS])
            assert writer.n_pending_vectors() == 0
            writer.commit()
        with store.reader() as reader:
            assert (reader.info.identity, reader.info.n_documents) == (newer, 1)
            assert reader.search_words(words("gateways"), 3) == []
            assert reader.search_words(words("water"), 3)

    def test_another_embedder_makes_all_vectors_pending(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        newer = replace(IDENTITY, embedder="other", dimension=16)
        with store.writer(newer) as writer:
            assert len(writer.known()) == 2
            assert writer.n_pending_vectors() == 3
            ((key, _),) = writer.pending_vectors(1)
            writer.put_vectors([key], np.ones((1, 16), np.float32))
            writer.commit()
        with store.reader() as reader:
            assert len(reader.search_vectors(np.ones(16, np.float32), 5)) == 1
            with pytest.raises(IndexMismatchError, match="expected 16, found 32"):
                reader.search_vectors(hash_vector("x"), 5)

    def test_who_names_no_embedder_leaves_the_vectors_alone(self, open_store: OpenStore) -> None:
        """A writer that began without a model takes away nothing that came meanwhile."""
        store = open_store()
        fill(store, [MODES, PUMPS])
        nameless = replace(IDENTITY, embedder="", embedder_revision="", dimension=0)
        with store.writer(nameless) as writer:
            writer.remove([PUMPS.document.id])
            writer.commit()
        state = store.info()
        assert (state.n_vectors, state.identity) == (2, IDENTITY)

    def test_bad_vectors_are_refused_and_none_of_them_kept(self, open_store: OpenStore) -> None:
        store = open_store()
        fill(store, [MODES], vectors=False)
        with store.writer(IDENTITY) as writer:
            keys = [key for key, _ in writer.pending_vectors(2)]
            good = np.stack([hash_vector("a"), hash_vector("b")])
            for bad in (good[:, :-1], good[:1], good * np.float32(np.nan), good * np.inf):
                with pytest.raises(StoreError):
                    writer.put_vectors(keys, bad.astype(np.float32))
            writer.put_vectors([], np.zeros((0, DIMENSION), np.float32))
            assert writer.n_pending_vectors() == 2
            writer.put_vectors(keys, good)
            assert writer.n_pending_vectors() == 0

    def test_a_second_writer_is_told_who_writes(self, open_store: OpenStore) -> None:
        store = open_store()
        with (
            store.writer(IDENTITY),
            pytest.raises(StoreConflictError),
            open_store().writer(IDENTITY),
        ):
            pass
        with store.writer(IDENTITY):
            pass

    def test_equal_content_has_an_equal_fingerprint_whatever_its_history(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        fill(store, [MODES, PUMPS])
        before = store.info().fingerprint
        fill(store, [FRENCH])
        assert store.info().fingerprint != before
        with store.writer(IDENTITY) as writer:
            writer.remove([FRENCH.document.id, "d-unknown"])
            writer.commit()
        assert store.info().fingerprint == before

    def test_closing_twice_is_safe(self, open_store: OpenStore) -> None:
        store = open_store()
        with store.reader() as reader:
            reader.close()
            reader.close()
        store.close()
        store.close()
