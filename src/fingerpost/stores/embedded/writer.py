"""The one writer of an embedded index."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.errors import StoreError, StoreUnavailableError
from fingerpost.stores.base import IndexIdentity, PreparedDocument, Summary
from fingerpost.stores.embedded import ledger
from fingerpost.stores.embedded.border import corrupt, guarded, unavailable
from fingerpost.stores.embedded.changes import Changes
from fingerpost.stores.embedded.files import Files
from fingerpost.stores.embedded.keymap import load_pages
from fingerpost.stores.embedded.ledger import Generation
from fingerpost.stores.embedded.pending import PendingContents
from fingerpost.stores.embedded.repair import WordRepair
from fingerpost.stores.embedded.rows import read_chunk, to_bytes, to_text
from fingerpost.stores.embedded.schema import DATABASE_FILE, connect_writer
from fingerpost.stores.embedded.summaries import write_summaries
from fingerpost.stores.embedded.vector_writer import VectorWriter
from fingerpost.stores.embedded.word_writer import WordWriter, words_folder
from fingerpost.stores.embedded.words import WordsDamagedError
from fingerpost.stores.fingerprint import same_embedding, same_splitting, with_embedding_of
from fingerpost.stores.linking import WrittenLinks
from fingerpost.stores.trail import trail_text
from fingerpost.text.analyse import analyse_joined
from fingerpost.types.document import Document, Link, SkippedFile

_TOKEN_BITS = 62


class EmbeddedWriter:
    """Changes of one index, gathered in a transaction until `commit`.

    The order of a commit is: words (a superset that readers of the old generation skip by
    key), vectors (rows behind those published), then SQLite, which alone decides. Whatever
    a crash leaves of the first two is cut off by the next writer.
    """

    def __init__(self, folder: Path, identity: IndexIdentity, files: Files) -> None:
        self._folder = folder
        self._files = files
        self._identity = identity
        self._broken: BaseException | None = None
        self._words: WordWriter | None = None
        self._words_changed = False
        self._changed = False
        self.notes: tuple[str, ...] = ()
        with guarded(folder):
            self._connection = connect_writer(folder, files)
        try:
            with self._guarded():
                self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        self._base = ledger.newest(self._connection, self._folder)
        self._n_summaries, self._summarised = self._base.n_summaries, self._base.summarised
        # Numbers of generations that were lost are not given again.
        self._witnessed = ledger.read_witness(self._folder)[0]
        languages_and_purge = ledger.read_lists(self._connection)[2]
        if self._base.number and languages_and_purge != self._base.lists_sum:
            raise corrupt(self._folder, DATABASE_FILE, "a list does not match its checksum")
        pages = load_pages(self._connection, self._base.next_key, self._folder)
        self._changes = Changes(self._connection, self._folder, self._base, pages)
        self._words_number = self._base.words_number
        self._pending = PendingContents(self._connection, self._folder)
        before = self._base.identity
        self._identity = with_embedding_of(before, self._identity)
        if before is not None and not same_splitting(before, self._identity):
            self._begin()
            self._changes.clear()
            self._words_number = 0
        elif self._base.number and not self._base.has_graph:
            self._begin()
            self._changes.fill_graph()
        keeps_vectors = before is None or same_embedding(before, self._identity)
        self._vectors = VectorWriter(
            self._folder,
            self._identity,
            self._base if keeps_vectors else replace(self._base, n_rows=0),
            self._files,
        )
        if not keeps_vectors:
            self._vectors.drop()
        self.notes = self._vectors.notes
        if keeps_vectors and not self.notes and not self._changed:
            self._count_vectors()
        if before is not None and before != self._identity:
            self._changed = True
        self._repair_words()

    def _count_vectors(self) -> None:
        """Publish how many vectors there are when damage left fewer than the ledger says."""
        n_lost = self._base.n_vectors - self._n_vectors()
        if n_lost:
            self._vectors.changed = True
            self.notes = (f"vectors: {n_lost} chunks lost theirs to damage, to be made anew",)

    def _n_vectors(self) -> int:
        live = self._changes.pages.cids[self._changes.pages.cids > 0]
        return len(live) - int(self._vectors.lacks(live).sum())

    def _repair_words(self) -> None:
        """Make sure that the word index holds the last generation; rebuild it when not."""
        if not self._words_number or not self._base.words_number:
            return
        repair = WordRepair(self._folder, self._connection, self._base, self._files)
        reason = repair.reason()
        if reason:
            self._begin()
            token = secrets.randbits(_TOKEN_BITS) | 1
            self._words_number = repair.rebuild(token)
            self._publish(token)
            self.notes += (f"words: rebuilt from {self._base.n_chunks} chunks ({reason})",)

    @property
    def base(self) -> Generation:
        """Return the generation that was published last."""
        return self._base

    def known(self) -> dict[str, tuple[str, str, str]]:
        """Return document id → (source, path, content hash) of what is stored."""
        with self._guarded():
            rows = self._connection.execute(
                "SELECT id, source, path, content_hash FROM documents ORDER BY doc_key"
            )
            return {
                to_text(row[0]): (to_text(row[1]), to_text(row[2]), to_text(row[3])) for row in rows
            }

    def put(self, documents: Iterable[PreparedDocument]) -> None:
        """Add documents, or replace those of the same id. Vectors of equal content are kept."""
        try:
            for prepared in documents:
                self._put(prepared)
        finally:
            # A generator that is left half-way would keep its processes until it is collected.
            if isinstance(documents, Generator):
                documents.close()

    def _put(self, prepared: PreparedDocument) -> None:
        if not len(prepared.chunks) == len(prepared.words) == len(prepared.trail_words):
            raise StoreError(
                f"{prepared.document.path}: {len(prepared.chunks)} chunks, "
                f"{len(prepared.words)} words, {len(prepared.trail_words)} trails."
            )
        with self._guarded():
            self._begin()
            words = self._open_words()
            self._take_out(prepared.document.id)
            doc_key, first_key = self._changes.add(prepared)
            for place, (text, trail) in enumerate(
                zip(prepared.words, prepared.trail_words, strict=True)
            ):
                words.add(first_key + place, doc_key, text, trail)

    def move(self, old_document_id: str, document: Document) -> None:
        """Give a stored document another path; its text, chunks and vectors stay.

        Raises:
            StoreError: No document has the old id.
        """
        with self._guarded():
            row = self._changes.find(old_document_id)
            if row is None:
                raise StoreError(f"No document has the id {old_document_id!r}; nothing moved.")
            self._begin()
            words = self._open_words()
            if document.id != old_document_id:
                self._take_out(document.id)
            stored = self._changes.stored_chunks(row), self._changes.links.stored(row[0])
            names = self._changes.graph.names(row[0])
            chunks = [read_chunk(item, document.id, self._folder) for item in stored[0]]
            trails = [
                analyse_joined(trail_text(document.path, document.title, chunk.heading_path))
                for chunk in chunks
            ]
            self._take_out(old_document_id)
            doc_key, first_key = self._changes.move(row, stored, document, trails)
            self._changes.graph.add(doc_key, first_key, document.title, chunks, names)
            for place, (chunk, trail) in enumerate(zip(chunks, trails, strict=True)):
                words.add(first_key + place, doc_key, analyse_joined(chunk.search_text), trail)

    def remove(self, document_ids: Iterable[str]) -> None:
        """Take documents out. Unknown ids are ignored."""
        for document_id in document_ids:
            with self._guarded():
                self._take_out(document_id)

    def unread_links(self) -> set[str]:
        """Return the ids of documents whose links as written an older version did not keep."""
        with self._guarded():
            return self._changes.links.unread()

    def written_links(
        self, source: str, names: Collection[str], document_ids: Collection[str] = ()
    ) -> list[tuple[str, WrittenLinks]]:
        """Return links as written by what they end in; see `LinkWriter.written_links`."""
        with self._guarded():
            return list(self._changes.links.written(source, names, document_ids))

    def relink(
        self, document_id: str, links: Sequence[Link], written: WrittenLinks | None = None
    ) -> None:
        """Put other links in place of a document's; see `LinkWriter.relink`."""
        with self._guarded():
            row = self._changes.find(document_id)
            if row is None:
                return
            if written is not None or self._changes.links.differ(row[0], links):
                self._begin()
                self._changes.links.replace(row[0], to_text(row[2]), links, written)

    def put_summaries(self, summaries: Sequence[Summary], fingerprint: str) -> None:
        """Keep a tree of summaries in place of the last one; see `Writer.put_summaries`."""
        with self._guarded():
            current = fingerprint == self._base.fingerprint and not self._changed
            self._begin()
            write_summaries(self._connection, summaries)
            self._n_summaries = len(summaries)
            self._summarised = f"{self._base.content:x}" if current else ""

    def record_skipped(self, skipped: Sequence[SkippedFile]) -> None:
        """Keep the list of skipped files of this run, in place of the last one's."""
        rows = [
            (to_bytes(item.path), to_bytes(item.reason), to_bytes(item.detail)) for item in skipped
        ]
        with self._guarded():
            if ledger.read_skipped(self._connection)[0] != rows:
                self._begin()
                self._connection.execute("DELETE FROM skipped")
                self._connection.executemany(
                    "INSERT INTO skipped VALUES (?, ?, ?, ?)",
                    [(place, *row) for place, row in enumerate(rows)],
                )

    def commit(self) -> int:
        """Make all changes visible at once and durable; return the new generation number.

        Without any change nothing is written and the number stays.
        """
        with self._guarded():
            first = self._base.identity is None
            if not (self._changed or self._vectors.changed or first):
                return self._base.number
            self._begin()
            token = self._base.words_token
            if self._words_changed and self._words is not None:
                token = secrets.randbits(_TOKEN_BITS) | 1
                same_index = self._words_number == self._base.words_number
                self._words.commit(token=token, base=self._base.words_token if same_index else 0)
            self._vectors.sync()
            self._publish(token)
            return self._base.number

    def _publish(self, words_token: int) -> None:
        changes, vectors = self._changes, self._vectors
        changes.pages.save(self._connection)
        changes.graph.flush()
        generation = Generation(
            number=max(self._base.number, self._witnessed) + 1,
            identity=self._identity,
            n_documents=changes.n_documents,
            n_chunks=changes.n_chunks,
            n_vectors=self._n_vectors(),
            content=changes.content,
            next_key=changes.next_key,
            next_doc=changes.next_doc,
            next_cid=changes.next_cid,
            words_number=self._words_number,
            words_token=words_token,
            segment=vectors.segment,
            n_rows=vectors.n_rows,
            lists_sum=ledger.read_lists(self._connection)[2],
            skipped_sum=ledger.read_skipped(self._connection)[1],
            has_graph=True,
            n_summaries=self._n_summaries,
            summarised=self._summarised,
        )
        chain = ledger.append(self._connection, generation, self._base.chain)
        self._connection.execute("COMMIT")
        self._base = replace(generation, chain=chain)
        self._changed = self._words_changed = vectors.changed = False
        self._pending.forget()
        with contextlib.suppress(OSError):  # the commit stands; the witness only tells of losses
            ledger.write_witness(self._folder, self._files, self._base)

    def pending_vectors(self, limit: int) -> list[tuple[str, str]]:
        """Return up to ``limit`` (content key, text to embed) that have no vector yet."""
        if self._identity.dimension == 0:
            return []
        with self._guarded():
            return self._pending.first(limit, self._changes.pages.cids, self._vectors)

    def n_pending_vectors(self) -> int:
        """Return how many content keys have no vector yet."""
        if self._identity.dimension == 0:
            return 0
        with self._guarded():
            return self._pending.count(self._changes.pages.cids, self._vectors)

    def put_vectors(self, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep vectors by content key. A zero-length list is allowed.

        Raises:
            StoreError: Wrong shape, or a value that is not finite.
        """
        with self._guarded():
            cids: list[int] = []
            if len(keys):
                self._begin(changes=False)
                cids = self._changes.cids_of(keys)
            self._vectors.add(cids, vectors)

    def close(self) -> None:
        """Drop what is not committed and release everything but the lock."""
        if self._words is not None:
            self._words.close()
            self._words = None
        if hasattr(self, "_vectors"):
            self._vectors.close()
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _begin(self, *, changes: bool = True) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        if changes:
            self._changed = True
            self._pending.forget()

    def _open_words(self) -> WordWriter:
        """Return the word index; before the first addition of a transaction it is purged."""
        if self._words is None:
            create = self._words_number == 0
            if create:
                self._words_number = self._base.words_number + 1
            path = words_folder(self._folder, self._words_number)
            self._words = WordWriter(path, create=create, files=self._files)
        if not self._words_changed:
            dead = self._connection.execute(
                "SELECT doc_key FROM words_purge WHERE doc_key < ?", (self._base.next_doc,)
            )
            self._words.purge([row[0] for row in dead], self._base.next_key)
            self._connection.execute("DELETE FROM words_purge")
            self._words_changed = True
        return self._words

    def _take_out(self, document_id: str) -> None:
        row = self._changes.find(document_id)
        if row is None:
            return
        self._begin()
        doc_key = self._changes.take_out(row)
        if doc_key < self._base.next_doc:
            self._connection.execute(
                "INSERT OR REPLACE INTO words_purge VALUES (?, ?)", (doc_key, row[6])
            )
        elif self._words is not None:
            self._words.drop_document(doc_key)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Translate errors; after one that may have left half a change, refuse to go on."""
        if self._broken is not None:
            raise StoreUnavailableError(
                f"The writer of {self._folder} stopped after an error: {self._broken}",
                hint="Open a new writer; everything committed is safe.",
            ) from self._broken
        try:
            with guarded(self._folder):
                yield
        except WordsDamagedError as error:
            self._broken = error
            raise unavailable(self._folder, error) from error
        except StoreError as error:
            if type(error) is not StoreError:
                self._broken = error
            raise
