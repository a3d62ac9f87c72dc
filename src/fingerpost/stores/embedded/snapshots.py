"""The generations that a process has open, and how a consistent view of one is made."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import tantivy

from fingerpost.stores.embedded import ledger
from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.keymap import load_map
from fingerpost.stores.embedded.ledger import Generation
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.stores.embedded.snapshot import Catalogue, Snapshot, known_documents
from fingerpost.stores.embedded.vectors import VectorsMissingError, check_header
from fingerpost.stores.embedded.word_writer import words_folder
from fingerpost.stores.embedded.words import (
    WordsDamagedError,
    WordSearcher,
    check_files,
    damaged_on_failure,
    open_index,
    read_only_searcher,
)


class TornViewError(Exception):
    """The word index does not belong to the generation that SQLite shows.

    Either two commits came between the two looks, and then a new look sees a newer
    generation, or the word index is damaged.
    """


class Snapshots:
    """Makes snapshots; the newest is shared by all readers of the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._latest: Snapshot | None = None
        self._index: tuple[int, tantivy.Index] | None = None
        self._checked: set[str] = set()
        self._documents = known_documents()
        self._sound_tables: set[str] = set()

    def current(self, generation: Generation) -> Snapshot | None:
        """Return the snapshot of a generation when it was made already."""
        latest = self._latest
        return latest if latest is not None and latest.generation == generation else None

    def of(
        self, connection: sqlite3.Connection, generation: Generation, notes: tuple[str, ...]
    ) -> Snapshot:
        """Return the snapshot of the generation that ``connection`` sees.

        Raises:
            TornViewError: The word index holds another generation just now.
            IndexCorruptError: A page of keys is damaged, or the vectors' header.
            IndexMismatchError: The vectors were made by another embedder or machine.
        """
        with self._lock:
            found = self.current(generation)
            if found is None:
                words = self._words(connection, generation)
                found = self._make(connection, generation, words, notes)
                self._keep(found)
            return found

    def degraded(
        self, connection: sqlite3.Connection, generation: Generation, notes: tuple[str, ...]
    ) -> Snapshot:
        """Return a snapshot with whatever of the word index can be used."""
        with self._lock:
            try:
                words = self._searcher(generation)
            except WordsDamagedError:
                words = None
            return self._make(connection, generation, words, notes)

    def forget_words(self) -> None:
        """Open the word index anew at the next generation."""
        with self._lock:
            self._index = None

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._latest = None
            self._index = None
            self._documents = known_documents()

    def _keep(self, snapshot: Snapshot) -> None:
        if self._latest is None or snapshot.generation.number >= self._latest.generation.number:
            self._latest = snapshot

    def _make(
        self,
        connection: sqlite3.Connection,
        generation: Generation,
        words: WordSearcher | None,
        notes: tuple[str, ...],
    ) -> Snapshot:
        notes += self._vector_notes(generation)
        before = self._latest
        if before is not None and words is before.catalogue.words and _same(before, generation):
            return Snapshot(self._folder, generation, before.catalogue, notes, before)
        languages, dead, lists_sum = ledger.read_lists(connection)
        if generation.number and lists_sum != generation.lists_sum:
            raise corrupt(self._folder, DATABASE_FILE, "a list does not match its checksum")
        catalogue = Catalogue(
            keymap=load_map(connection, generation.next_key, self._folder),
            words=words,
            dead_docs=tuple(row[0] for row in dead),
            languages=dict(languages),
            documents=self._documents,
            sound_tables=self._sound_tables,
        )
        return Snapshot(self._folder, generation, catalogue, notes, before)

    def _vector_notes(self, generation: Generation) -> tuple[str, ...]:
        if not generation.n_rows or generation.identity is None:
            return ()
        try:
            check_header(self._folder, generation.segment, generation.identity)
        except VectorsMissingError as error:
            return (f"vectors: {error}; the next index run makes them anew",)
        return ()

    def _words(self, connection: sqlite3.Connection, generation: Generation) -> WordSearcher | None:
        if not generation.words_number:
            return None
        before = self._latest
        if before is not None and before.catalogue.words is not None:
            same = before.generation.words_token == generation.words_token
            if same and before.generation.words_number == generation.words_number:
                return before.catalogue.words
        try:
            searcher = self._searcher(generation)
        except WordsDamagedError as error:
            raise self._tear(str(error)) from error
        if not searcher.holds(generation.words_token):
            raise self._tear("the word index belongs to another generation")
        if searcher.token == generation.words_token:
            (n_dead,) = connection.execute("SELECT total(n_chunks) FROM words_purge").fetchone()
            expected = generation.n_chunks + int(n_dead) + 1
            if searcher.n_docs != expected:
                reason = f"the word index has {searcher.n_docs} entries of {expected}"
                raise self._tear(reason)
        return searcher

    def _tear(self, reason: str) -> TornViewError:
        self._index = None
        return TornViewError(reason)

    def _searcher(self, generation: Generation) -> WordSearcher:
        path = words_folder(self._folder, generation.words_number)
        if path.exists() and not os.access(path, os.W_OK):
            check_files(path, self._checked)
            return read_only_searcher(path)
        if self._index is None or self._index[0] != generation.words_number:
            self._checked.clear()
            check_files(path, self._checked)
            self._index = (generation.words_number, open_index(path))
        else:
            check_files(path, self._checked)
            with damaged_on_failure():
                self._index[1].reload()
        return WordSearcher(self._index[1])


def _same(before: Snapshot, generation: Generation) -> bool:
    old = before.generation
    return (
        old.content == generation.content
        and old.next_key == generation.next_key
        and old.n_documents == generation.n_documents
        and old.words_number == generation.words_number
    )
