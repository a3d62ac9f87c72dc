"""An index in a folder: opened at once, read by many, written by one."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fingerpost.errors import (
    StoreConflictError,
    StoreUnavailableError,
    UsageError,
)
from fingerpost.stores.base import IndexIdentity, StoreInfo
from fingerpost.stores.embedded import ledger
from fingerpost.stores.embedded.border import corrupt, guarded
from fingerpost.stores.embedded.files import Files
from fingerpost.stores.embedded.ledger import Generation
from fingerpost.stores.embedded.lock import WriterLock
from fingerpost.stores.embedded.reader import EmbeddedReader, info_of
from fingerpost.stores.embedded.repair import erase, require_ours, stray_notes, sweep
from fingerpost.stores.embedded.schema import DATABASE_FILE, connect_reader
from fingerpost.stores.embedded.snapshot import Snapshot
from fingerpost.stores.embedded.snapshots import Snapshots, TornViewError
from fingerpost.stores.embedded.writer import EmbeddedWriter

# As many as ask at once: threads of an event loop are 40. Each may keep half a megabyte.
_IDLE_CONNECTIONS = 40
_MAX_TRIES = 100
_TORN_TRIES = 3


class EmbeddedStore:
    """The index in ``folder``. Thread-safe; nothing is created before a writer is opened.

    Args:
        folder: Where the index is or will be.
        files: File operations; tests pass some that fail.
    """

    def __init__(self, folder: Path, *, files: Files | None = None) -> None:
        self._folder = Path(folder)
        self._files = files or Files()
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._place: tuple[int, int] | None = None
        self._snapshots = Snapshots(self._folder)
        self._notes = stray_notes(self._folder)
        self._pid = os.getpid()
        self._closed = False

    def info(self) -> StoreInfo:
        """Return the state of the newest generation."""
        connection, generation, notes = self._begin()
        try:
            held = self._snapshots.current(generation)
            return info_of(generation, self._folder, held.notes if held else notes)
        finally:
            self._release(connection)

    @contextmanager
    def reader(self) -> Iterator[EmbeddedReader]:
        """Open the newest generation. Many may be open at once.

        Raises:
            StoreUnavailableError: The files cannot be read now.
            SchemaVersionError: Written by another version.
            IndexMismatchError: The vectors were made by another embedder or machine.
            IndexCorruptError: The database is damaged.
        """
        connection, snapshot = self._open()
        reader = EmbeddedReader(self._folder, connection, snapshot, self._release)
        try:
            yield reader
        finally:
            reader.close()

    @contextmanager
    def writer(self, identity: IndexIdentity) -> Iterator[EmbeddedWriter]:
        """Become the one writer. Uncommitted changes are dropped on exit.

        Raises:
            StoreConflictError: Another process writes; the message names pid and start time.
            StoreUnavailableError: No space, no rights, read-only.
            StoreError: The folder has files of others and no index.
        """
        self._check_open()
        with guarded(self._folder):
            require_ours(self._folder)
            self._prepare_folder()
            lock = WriterLock(self._folder, self._files)
            lock.acquire()
        try:
            self._note_loss()
            writer = EmbeddedWriter(self._folder, identity, self._files)
            try:
                self._notes += writer.notes
                sweep(self._folder, writer.base, self._files)
                yield writer
            finally:
                writer.close()
                self._snapshots.forget_words()
        finally:
            lock.release()

    def erase(self) -> None:
        """Remove the index so that it can be built anew, damaged or not; other files stay.

        Raises:
            StoreConflictError: Another process writes; the message names pid and start time.
            StoreUnavailableError: The files may not be removed.
            IndexCorruptError: The database belongs to another program; it is not touched.
        """
        self._check_open()
        if not self._folder.exists():
            return
        with guarded(self._folder):
            require_ours(self._folder)
            lock = WriterLock(self._folder, self._files)
            lock.acquire()
            try:
                erase(self._folder, self._files)
            finally:
                lock.release()
        self._notes = ()
        self._snapshots.close()

    def close(self) -> None:
        """Release everything. Safe to call twice."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        self._snapshots.close()

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("The store is closed.", hint="Open a new one.")
        if self._pid != os.getpid():  # a fork: connections of the parent must not be used
            self._idle, self._lock = [], threading.Lock()
            self._snapshots = Snapshots(self._folder)
            self._pid = os.getpid()

    def _prepare_folder(self) -> None:
        self._files.make_folder(self._folder)
        ignore = self._folder / ".gitignore"
        if not ignore.exists():
            self._files.write_whole(ignore, b"*\n", durable=False)

    def _note_loss(self) -> None:
        """Keep saying what is lost after the next commit; refuse a database that is gone."""
        connection, _, notes = self._begin()
        self._notes = notes
        self._release(connection)

    def _connection(self) -> sqlite3.Connection:
        place = _place(self._folder / DATABASE_FILE)
        with self._lock:
            stale: list[sqlite3.Connection] = []
            if place != self._place:  # the database was made, or made anew
                stale, self._idle, self._place = self._idle, [], place
            found = self._idle.pop() if self._idle else None
        for connection in stale:
            connection.close()
        return found or connect_reader(self._folder)

    def _begin(self) -> tuple[sqlite3.Connection, Generation, tuple[str, ...]]:
        """Start a read transaction; return it with its generation and what is to be said."""
        self._check_open()
        # The witness is read first: it must not be younger than the view.
        witness = ledger.read_witness(self._folder)
        with guarded(self._folder):
            connection = self._connection()
            try:
                connection.execute("BEGIN")
                generation = ledger.newest(connection, self._folder)
            except BaseException:
                connection.close()
                raise
        if generation.number == 0 and witness[0] > 0:
            connection.close()
            raise corrupt(
                self._folder, DATABASE_FILE, f"generation {witness[0]} expected, nothing found"
            )
        note = ledger.loss_note(generation, witness)
        notes = self._notes if not note or note in self._notes else (*self._notes, note)
        return connection, generation, notes

    def _open(self) -> tuple[sqlite3.Connection, Snapshot]:
        """Return a read transaction and what belongs to just its generation."""
        repaired = False
        torn_number, n_torn = -1, 0
        for _ in range(_MAX_TRIES):
            connection, generation, notes = self._begin()
            try:
                with guarded(self._folder):
                    return connection, self._snapshots.of(connection, generation, notes)
            except TornViewError as torn:
                self._release(connection)
                n_torn = n_torn + 1 if generation.number == torn_number else 1
                torn_number = generation.number
                if n_torn >= _TORN_TRIES:  # nobody commits: it does not fit at all
                    if repaired or not self._repair():
                        return self._open_without_words(str(torn))
                    repaired, n_torn = True, 0
            except BaseException:
                self._release(connection)
                raise
        raise StoreUnavailableError(f"The index {self._folder} changes faster than it is read.")

    def _open_without_words(self, reason: str) -> tuple[sqlite3.Connection, Snapshot]:
        connection, generation, notes = self._begin()
        note = (
            f"words: not all can be searched ({reason}); run `fingerpost index` with the same paths"
        )
        try:
            with guarded(self._folder):
                snapshot = self._snapshots.degraded(connection, generation, (*notes, note))
        except BaseException:
            self._release(connection)
            raise
        return connection, snapshot

    def _repair(self) -> bool:
        """Become the writer for a moment, which rebuilds the word index; say whether it did."""
        try:
            connection, generation, _ = self._begin()
            self._release(connection)
            if generation.identity is None:
                return False
            with self.writer(generation.identity):
                return True
        except (StoreConflictError, StoreUnavailableError):
            return False

    def _release(self, connection: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            with self._lock:
                if not self._closed and len(self._idle) < _IDLE_CONNECTIONS:
                    self._idle.append(connection)
                    return
        connection.close()


def _place(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
