"""Building the word index again from SQLite."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

from fingerpost.errors import StoreError
from fingerpost.stores.embedded.files import Files
from fingerpost.stores.embedded.ledger import WITNESS_FILE, Generation
from fingerpost.stores.embedded.lock import LOCK_FILE
from fingerpost.stores.embedded.rows import CHUNK_COLUMNS, read_chunk, to_text
from fingerpost.stores.embedded.schema import DATABASE_FILE, refuse_foreign
from fingerpost.stores.embedded.vectors import VECTORS_FOLDER
from fingerpost.stores.embedded.word_writer import WordWriter, words_folder
from fingerpost.stores.embedded.words import (
    WORDS_FOLDER,
    WordsDamagedError,
    WordSearcher,
    check_files,
    open_index,
)
from fingerpost.text.analyse import analyse_joined


class WordRepair:
    """Tells whether the word index of a generation can be used, and makes a new one."""

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, base: Generation, files: Files
    ) -> None:
        self._folder = folder
        self._connection = connection
        self._base = base
        self._files = files

    def reason(self) -> str:
        """Return why the word index cannot be used, empty when it can."""
        path = words_folder(self._folder, self._base.words_number)
        try:
            check_files(path, set())
            searcher = WordSearcher(open_index(path))
        except WordsDamagedError as error:
            return str(error)
        if not searcher.holds(self._base.words_token):
            return "it belongs to another generation"
        return ""

    def rebuild(self, token: int) -> int:
        """Write a new word index beside the old one; return its number."""
        number = self._base.words_number + 1
        words = WordWriter(words_folder(self._folder, number), create=True, files=self._files)
        try:
            sql = f"SELECT {CHUNK_COLUMNS} FROM chunks ORDER BY key"  # noqa: S608 - constants
            for row in self._connection.execute(sql):
                chunk = read_chunk(row, "", self._folder)
                words.add(row[0], row[1], analyse_joined(chunk.search_text), to_text(row[6]))
            self._connection.execute("DELETE FROM words_purge")
            words.commit(token=token, base=0)
        finally:
            words.close()
        return number


def sweep(folder: Path, base: Generation, files: Files) -> None:
    """Remove our own files that no generation needs: old word indexes, segments, leftovers."""
    with contextlib.suppress(OSError):
        for path in (folder / WORDS_FOLDER).iterdir():
            if path.name.isdigit() and path.is_dir() and int(path.name) != base.words_number:
                shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        for path in (folder / VECTORS_FOLDER).iterdir():
            ours = path.suffix in (".rows", ".codes") and path.stem.isdigit()
            if ours and int(path.stem) != base.segment:
                files.remove(path)
    with contextlib.suppress(OSError):
        for path in folder.glob("published.json.*.tmp"):
            files.remove(path)


def erase(folder: Path, files: Files) -> None:
    """Remove every file of an index but the lock, the database first; the caller holds the lock.

    Raises:
        IndexCorruptError: The database belongs to another program.
    """
    refuse_foreign(folder)
    for ending in ("", "-wal", "-shm", "-journal"):
        files.remove(folder / f"{DATABASE_FILE}{ending}")
    files.remove(folder / WITNESS_FILE)
    sweep(folder, Generation(), files)


_OWN_NAMES = frozenset(
    {
        ".gitignore",
        DATABASE_FILE,
        f"{DATABASE_FILE}-wal",
        f"{DATABASE_FILE}-shm",
        f"{DATABASE_FILE}-journal",
        LOCK_FILE,
        WITNESS_FILE,
        WORDS_FOLDER,
        VECTORS_FOLDER,
    }
)


def require_ours(folder: Path) -> None:
    """Refuse a folder that others use: one with their files and no index of ours.

    Raises:
        StoreError: It has files that are not ours, and neither a database nor a trace of one.
        IndexCorruptError: Its database was made by another program.
    """
    if (folder / DATABASE_FILE).exists():
        if not (folder / ".gitignore").exists():  # nothing of ours was written here so far
            refuse_foreign(folder)
        return
    strays = _strays(folder)
    was_ours = any((folder / name).exists() for name in (LOCK_FILE, WITNESS_FILE))
    if strays and not was_ours:
        raise StoreError(
            f"The folder {folder} has other files, such as {strays[0]!r}, and no index.",
            hint="Give an empty folder, or one that does not exist yet, with --index-dir.",
        )


def _strays(folder: Path) -> list[str]:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
    return [name for name in names if name not in _OWN_NAMES and not _leftover(name)]


def stray_notes(folder: Path) -> tuple[str, ...]:
    """Return a note for files in the folder that are not ours; they are left alone."""
    strays = _strays(folder)
    if not strays:
        return ()
    return (f"{len(strays)} unknown file(s) left alone, such as {strays[0]!r}",)


def _leftover(name: str) -> bool:
    return name.startswith(f"{WITNESS_FILE}.") and name.endswith(".tmp")
