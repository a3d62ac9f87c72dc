"""One generation of the embedded store, held still for a whole question."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fingerpost.errors import UsageError
from fingerpost.stores.base import (
    Neighbour,
    Selection,
    StoredChunk,
    StoreInfo,
    Summary,
    VersionFolder,
    WordQuery,
)
from fingerpost.stores.embedded.border import corrupt, guarded
from fingerpost.stores.embedded.graph import Graph
from fingerpost.stores.embedded.ledger import Generation, read_skipped
from fingerpost.stores.embedded.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    read_chunk,
    read_document,
    read_headings,
    to_bytes,
    to_text,
)
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.stores.embedded.selection import SelectedKeys, select_keys, within_words
from fingerpost.stores.embedded.snapshot import MAX_DOCUMENTS, Snapshot, visible_languages
from fingerpost.stores.embedded.summaries import READ_SUMMARIES, read_summaries
from fingerpost.stores.embedded.vector_search import nearest, unit_vector, unit_vectors
from fingerpost.stores.embedded.versions import READ_PLACES, version_folders
from fingerpost.stores.embedded.words import WordsDamagedError
from fingerpost.types.document import Document, SkippedFile
from fingerpost.types.query import Filters

BATCH = 1000
_STREAM_ROWS = 256


def info_of(generation: Generation, folder: Path, notes: tuple[str, ...]) -> StoreInfo:
    """Return the state of a generation for the outside."""
    return StoreInfo(
        identity=generation.identity,
        generation=generation.number,
        n_documents=generation.n_documents,
        n_chunks=generation.n_chunks,
        n_vectors=generation.n_vectors,
        location=str(folder),
        fingerprint=generation.fingerprint if generation.number else "",
        notes=notes,
        has_graph=generation.has_graph,
        n_summaries=generation.n_summaries,
        summaries_current=generation.summaries_current,
    )


def batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield lists that are short enough for the variables of one statement."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


class EmbeddedReader:
    """A read transaction with the word index and the vectors of just that generation."""

    def __init__(
        self,
        folder: Path,
        connection: sqlite3.Connection,
        snapshot: Snapshot,
        release: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._folder = folder
        self._connection: sqlite3.Connection | None = connection
        self._snapshot = snapshot
        self._release = release
        self._lock = threading.RLock()

    @property
    def info(self) -> StoreInfo:
        """Return the state of the generation that is held."""
        return info_of(self._snapshot.generation, self._folder, self._snapshot.notes)

    def select(self, filters: Filters) -> Selection | None:
        """Return what passes the filters, ``None`` when everything does."""
        if not filters:
            return None
        catalogue = self._snapshot.catalogue
        selected = catalogue.selections.get(filters)
        if selected is None:
            selected = select_keys(filters, self._filtered(), catalogue.keymap, catalogue.languages)
            catalogue.keep_selection(filters, selected)
        if len(selected.keys) == self._snapshot.generation.n_chunks:
            return None
        return Selection(len(selected.docs), selected)

    def search_words(
        self, query: WordQuery, k: int, within: Selection | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``k`` (chunk key, BM25 score > 0), best first, ties by key."""
        catalogue = self._snapshot.catalogue
        selected = _payload(within)
        if catalogue.words is None or (selected is not None and not len(selected.keys)):
            return []
        try:
            return catalogue.words.search(query, k, within_words(selected, catalogue.keymap))
        except WordsDamagedError as error:
            raise corrupt(self._folder, "words", str(error)) from error

    def search_vectors(
        self, vector: NDArray[np.float32], k: int, within: Selection | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``k`` (chunk key, cosine), best first, ties by key.

        Raises:
            IndexMismatchError: The vector has another length than those of the index.
            StoreError: A value is not finite.
        """
        with guarded(self._folder):
            table, index = self._snapshot.vectors()
        selected = _payload(within)
        if not table.n_rows or k <= 0 or (selected is not None and not len(selected.keys)):
            return []
        unit = unit_vector(vector, table.dimension)
        if unit is None:
            return []
        catalogue = self._snapshot.catalogue
        found, n_damaged = nearest(
            unit,
            k,
            table=table,
            index=index,
            contents=catalogue.contents(),
            keymap=catalogue.keymap,
            selected=selected,
        )
        if n_damaged:
            self._snapshot.add_note("vectors: damaged codes met; the next index run renews them")
        return found

    def vectors(self, keys: Sequence[int]) -> NDArray[np.float32]:
        """Return unit vectors by row, all zeros for a chunk without one."""
        with guarded(self._folder):
            table, index = self._snapshot.vectors()
        result = np.zeros((len(keys), table.dimension), np.float32)
        wanted = np.asarray(keys, np.int64)
        cids = self._snapshot.catalogue.keymap.cids
        known = np.flatnonzero((wanted >= 0) & (wanted < len(cids)))
        rows = index.row_of_cid[cids[wanted[known]]]
        have = known[rows >= 0]
        if len(have):
            result[have] = unit_vectors(rows[rows >= 0].astype(np.int64), table, index)
        return result

    def chunks(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks in the order of ``keys``; unknown keys are left out."""
        catalogue = self._snapshot.catalogue
        cids = catalogue.keymap.cids
        known = [key for key in keys if 0 < key < len(cids) and cids[key] > 0]
        kept = {key: catalogue.chunks.get(key) for key in known}
        found = {key: stored for key, stored in kept.items() if stored is not None}
        found |= self._read_chunks([key for key, stored in kept.items() if stored is None])
        missing = [key for key in known if key not in found]
        if missing:
            raise corrupt(self._folder, DATABASE_FILE, f"chunk {missing[0]} is missing")
        return [found[key] for key in known]

    def _read_chunks(self, keys: Sequence[int]) -> dict[int, StoredChunk]:
        """Return those chunks of visible keys that the database has, and keep them."""
        catalogue = self._snapshot.catalogue
        docs = catalogue.keymap.docs
        documents = self._documents_by_key({int(docs[key]) for key in keys})
        found: dict[int, StoredChunk] = {}
        for batch in batches(keys):
            marks = ",".join("?" * len(batch))
            sql = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE key IN ({marks})"  # noqa: S608 - constants and marks
            rows = self._rows(sql, batch)
            with guarded(self._folder):
                for row in rows:
                    document = documents[int(docs[row[0]])]
                    chunk = read_chunk(row, document.id, self._folder)
                    found[row[0]] = StoredChunk(row[0], chunk, document)
                    catalogue.chunks.keep(row[0], found[row[0]])
        return found

    def document_chunks(self, document_id: str) -> list[StoredChunk]:
        """Return all chunks of a document in order, empty when it is not there."""
        return self.chunks(self.keys_of_documents([document_id]).get(document_id, []))

    def keys_of_documents(self, document_ids: Sequence[str]) -> dict[str, list[int]]:
        """Return the chunk keys in order for each document that is there."""
        self._check_table("documents")
        found: dict[str, list[int]] = {}
        for batch in batches(dict.fromkeys(document_ids)):
            marks = ",".join("?" * len(batch))
            sql = f"SELECT id, doc_key, first_key, n_chunks FROM documents WHERE id IN ({marks})"  # noqa: S608 - marks
            rows = self._rows(sql, [to_bytes(item) for item in batch])
            with guarded(self._folder):
                for raw, doc_key, first, n_chunks in rows:
                    found[to_text(raw)] = self._keys(doc_key, first, n_chunks)
        return {item: found[item] for item in document_ids if item in found}

    def _keys(self, doc_key: int, first: int, n_chunks: int) -> list[int]:
        """Return the keys of a document's chunks, once the key pages say the same."""
        docs = self._snapshot.catalogue.keymap.docs
        if not 0 <= first <= first + n_chunks <= len(docs):
            raise corrupt(self._folder, DATABASE_FILE, f"document {doc_key} has impossible keys")
        if (docs[first : first + n_chunks] != doc_key).any():
            raise corrupt(self._folder, DATABASE_FILE, f"document {doc_key} has others' keys")
        return list(range(first, first + n_chunks))

    def document_frequency(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return for each token in how many chunks it stands (text or trail), 0 when none."""
        found: dict[str, int] = {}
        for token in tokens:
            if token not in found:
                kept = self._snapshot.catalogue.frequencies.get(token)
                found[token] = self._count(token) if kept is None else kept
        return found

    def _count(self, token: str) -> int:
        catalogue = self._snapshot.catalogue
        words, generation = catalogue.words, self._snapshot.generation
        if words is None:
            return 0
        next_key = 0 if words.token == generation.words_token else generation.next_key
        try:
            count = words.frequency(token, catalogue.dead_docs, next_key)
        except WordsDamagedError as error:
            raise corrupt(self._folder, "words", str(error)) from error
        catalogue.frequencies.keep(token, count)
        return count

    def neighbours(
        self, keys: Sequence[int], within: Selection | None = None
    ) -> dict[int, list[Neighbour]]:
        """Return for each chunk its neighbours in the document graph, each once, never itself."""
        if not self._snapshot.generation.has_graph:
            return {key: [] for key in keys}
        for table in ("documents", "links"):
            self._check_table(table)
        catalogue, selected = self._snapshot.catalogue, _payload(within)
        graph = Graph(self._rows, self._folder, catalogue, selected, self._documents_by_key)
        with guarded(self._folder):
            return graph.neighbours(keys)

    def summaries(self) -> list[Summary]:
        """Return the tree of summaries, the root last; empty when none was made."""
        n_summaries = self._snapshot.generation.n_summaries
        if not n_summaries:
            return []
        rows = self._rows(READ_SUMMARIES, ())
        with guarded(self._folder):
            return read_summaries(rows, n_summaries, self._folder)

    def documents(self) -> Iterator[Document]:
        """Yield all documents, ordered by source and path."""
        for _, document in self._documents("ORDER BY source, path"):
            yield document

    def headings(self) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """Yield (document id, heading path, characters covered) for each heading path."""
        for row in self._document_rows("ORDER BY source, path"):
            with guarded(self._folder):
                document_id, headings = read_headings(row, self._folder)
            for path, size in headings:
                yield document_id, tuple(path), size

    def languages(self) -> dict[str, int]:
        """Return chunk counts by language, most first."""
        return visible_languages(self._snapshot.catalogue)

    def version_folders(self) -> tuple[VersionFolder, ...]:
        """Return the folders of documents that stand for a version, in order."""
        catalogue = self._snapshot.catalogue
        if catalogue.versions is None:
            catalogue.versions = version_folders(self._rows(READ_PLACES, ()), self._folder)
        return catalogue.versions

    def skipped(self) -> tuple[SkippedFile, ...]:
        """Return the files that the last run skipped."""
        with self._open() as connection:
            rows, skipped_sum = read_skipped(connection)
        generation = self._snapshot.generation
        if generation.number and skipped_sum != generation.skipped_sum:
            raise corrupt(self._folder, DATABASE_FILE, "the list of skipped files is damaged")
        with guarded(self._folder):
            return tuple(SkippedFile(*(to_text(part) for part in row)) for row in rows)

    def close(self) -> None:
        """Let go of the generation. Safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._release(self._connection)
                self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._connection is None:
                raise UsageError("The reader is closed.", hint="Open one for each question.")
            with guarded(self._folder):
                yield self._connection

    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._open() as connection:
            return connection.execute(sql, values).fetchall()

    def _check_table(self, table: str) -> None:
        """Compare the indexes of a table with its rows, once in the life of a store.

        Rows carry checksums, but a damaged index would make them seem not to be there.
        """
        sound = self._snapshot.catalogue.sound_tables
        if table in sound:
            return
        ((verdict,), *_) = self._rows(f"PRAGMA integrity_check({table})", ())
        if verdict != "ok":
            raise corrupt(self._folder, DATABASE_FILE, f"table {table}: {verdict}")
        sound.add(table)

    def _document_rows(self, order: str) -> Iterator[tuple[Any, ...]]:
        """Yield every document's row, a few at a time; fewer than the ledger says is damage."""
        n_found = 0
        with self._open() as connection:
            cursor = connection.execute(f"SELECT {DOCUMENT_COLUMNS} FROM documents {order}")  # noqa: S608 - constants
        while True:
            with self._open():
                rows = cursor.fetchmany(_STREAM_ROWS)
            if not rows:
                break
            n_found += len(rows)
            yield from rows
        expected = self._snapshot.generation.n_documents
        if n_found != expected:
            raise corrupt(
                self._folder, DATABASE_FILE, f"{n_found} documents found, {expected} expected"
            )

    def _documents(self, order: str) -> Iterator[tuple[int, Document]]:
        known = self._snapshot.catalogue.documents
        for row in self._document_rows(order):
            document = known.get(row[0])
            if document is None:
                with guarded(self._folder):
                    document = read_document(row, self._folder)
                known.keep(row[0], document)
            yield row[0], document

    def _filtered(self) -> Iterable[tuple[int, Document]]:
        """Return all documents with their keys, from memory when they fit there."""
        catalogue = self._snapshot.catalogue
        found = catalogue.all_documents
        if found is None:
            rows = self._documents("ORDER BY doc_key")
            if self._snapshot.generation.n_documents > MAX_DOCUMENTS:
                return rows
            found = catalogue.all_documents = list(rows)
        return found

    def _documents_by_key(self, doc_keys: set[int]) -> dict[int, Document]:
        catalogue = self._snapshot.catalogue
        found = {key: catalogue.documents.get(key) for key in doc_keys}
        result = {key: document for key, document in found.items() if document is not None}
        for batch in batches(sorted(doc_keys - result.keys())):
            marks = ",".join("?" * len(batch))
            sql = f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE doc_key IN ({marks})"  # noqa: S608 - constants and marks
            for row in self._rows(sql, batch):
                with guarded(self._folder):
                    document = read_document(row, self._folder)
                result[row[0]] = document
                catalogue.documents.keep(row[0], document)
        if len(result) < len(doc_keys):
            raise corrupt(self._folder, DATABASE_FILE, "a document of visible chunks is missing")
        return result


def _payload(within: Selection | None) -> SelectedKeys | None:
    if within is None:
        return None
    if not isinstance(within.payload, SelectedKeys):
        raise UsageError("The selection comes from another store.", hint="Use reader.select().")
    return within.payload
