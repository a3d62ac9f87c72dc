"""Where errors of SQLite, tantivy and the file system become our own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fingerpost.errors import FingerpostError, IndexCorruptError, StoreUnavailableError

# Keys are given by the writer alone: one that is taken, or a value of a wrong kind, is damage.
_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
    }
)
_PRIMARY_CODE = 0xFF


def cure(folder: Path) -> str:
    """Return what to do about an index that cannot be used as it is."""
    return (
        "Run `fingerpost index --rebuild` with the same paths and options; it builds the index "
        f"in {folder} anew from the documents."
    )


def corrupt(folder: Path, file: str, what: str) -> IndexCorruptError:
    """Return the error for a damaged file of the index."""
    return IndexCorruptError(
        f"The index file {folder / file} is damaged: {what}.", hint=cure(folder)
    )


def unavailable(folder: Path, cause: BaseException) -> StoreUnavailableError:
    """Return the error for an index that cannot be read or written now."""
    return StoreUnavailableError(
        f"The index {folder} cannot be used now: {cause}",
        hint="Free space or correct the access rights, then run the same command again.",
    )


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether SQLite says that the file itself is wrong, not the moment."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return not isinstance(error, sqlite3.ProgrammingError)
    return code & _PRIMARY_CODE in _DAMAGE


def translate(folder: Path, error: Exception) -> FingerpostError:
    """Return our error for one of SQLite's, the file system's or a decoder's."""
    if isinstance(error, FingerpostError):
        return error
    if isinstance(error, OSError | MemoryError):
        return unavailable(folder, error)
    if isinstance(error, sqlite3.Error) and not is_damage(error):
        return unavailable(folder, error)
    return corrupt(folder, "index.sqlite", str(error) or type(error).__name__)


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Translate what SQLite, the file system and decoding of stored bytes raise.

    Raises:
        StoreUnavailableError: No space, no rights, read-only, busy, an input or output error.
        IndexCorruptError: The file is not what was written.
    """
    try:
        yield
    except (sqlite3.Error, OSError, MemoryError, ValueError, LookupError, TypeError) as error:
        if isinstance(error, FingerpostError):
            raise
        raise translate(folder, error) from error
