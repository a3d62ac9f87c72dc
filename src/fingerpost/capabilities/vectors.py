"""Vectors of a catalogue: computed once for each text, then kept on disk by its hash."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.decide.vectors import vectors_of
from fingerpost.lanes.base import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["kept_vectors", "unit"]

_LOG = logging.getLogger("fingerpost.capabilities")
_FILE: Final = "capabilities.sqlite"
_FORGOTTEN_AFTER_S: Final = 180 * 24 * 3600
_BATCH: Final = 500
_WAIT_S: Final = 5.0
_BYTES: Final = 4  # of a number
_UNIT: Final = 0.01  # how far a kept vector may be from length 1
_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS vectors "
    "(digest BLOB PRIMARY KEY, vector BLOB NOT NULL, used_s INTEGER NOT NULL) WITHOUT ROWID"
)


def kept_vectors(
    texts: Sequence[str], embedder: EmbeddingModel, folder: Path
) -> NDArray[np.float32]:
    """Return one vector per text, in order, computing only those that are not kept.

    A cache that cannot be read or written costs time, never an answer. What no catalogue has
    asked for in half a year is forgotten.

    Args:
        texts: At least one.
        embedder: Its name and revision are part of what a vector is kept by.
        folder: Where the file of the cache is or will be; only its owner may read it.

    Raises:
        EmbeddingError: The embedding model gave no usable vector.
    """
    digests = [_digest(embedder, text) for text in texts]
    known = _read(folder / _FILE, digests, embedder.dimension)
    missing = {
        digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known
    }
    if missing:
        rows = unit(vectors_of(embedder, list(missing.values())))
        known.update(zip(missing, rows, strict=True))
    _write(folder / _FILE, known, new=missing)
    return np.stack([known[digest] for digest in digests])


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows at length 1; a zero row stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _digest(embedder: EmbeddingModel, text: str) -> bytes:
    parts = (embedder.name, embedder.revision, text)
    encoded = [part.encode("utf-8", "replace") for part in parts]
    whole = b"".join(len(part).to_bytes(8, "big") + part for part in encoded)
    return hashlib.sha256(whole).digest()


def _read(path: Path, digests: Sequence[bytes], dimension: int) -> dict[bytes, NDArray[np.float32]]:
    if not path.is_file():
        return {}
    found: list[tuple[bytes, object]] = []
    try:
        with _opened(path) as database:
            for start in range(0, len(digests), _BATCH):
                some = digests[start : start + _BATCH]
                places = ",".join("?" * len(some))
                found += database.execute(
                    f"SELECT digest, vector FROM vectors WHERE digest IN ({places})",  # noqa: S608 - only question marks
                    some,
                ).fetchall()
    except sqlite3.Error as error:
        _LOG.warning("kept vectors of capabilities in %s cannot be read: %s", path, error)
    read = ((digest, _vector(raw, dimension)) for digest, raw in found)
    return {digest: vector for digest, vector in read if vector is not None}


def _vector(raw: object, dimension: int) -> NDArray[np.float32] | None:
    """Return a kept vector, ``None`` for what is none of this model's."""
    if not isinstance(raw, bytes) or len(raw) != _BYTES * dimension:
        return None
    row = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    return row if abs(float(np.linalg.norm(row)) - 1) < _UNIT else None


def _write(
    path: Path, known: Mapping[bytes, NDArray[np.float32]], new: Mapping[bytes, str]
) -> None:
    now = int(time.time())
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_damaged(path)
        path.touch(mode=0o600)
        with _opened(path) as database, database:
            database.execute(_SCHEMA)
            database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                [(digest, known[digest].astype("<f4").tobytes(), now) for digest in new],
            )
            database.executemany(
                "UPDATE vectors SET used_s = ? WHERE digest = ? AND used_s < ?",
                [(now, digest, now - _FORGOTTEN_AFTER_S // 6) for digest in known],
            )
            database.execute("DELETE FROM vectors WHERE used_s < ?", (now - _FORGOTTEN_AFTER_S,))
    except (sqlite3.Error, OSError) as error:
        _LOG.warning("vectors of capabilities are not kept in %s: %s", path, error)


def _remove_damaged(path: Path) -> None:
    """Remove a file that is no database: all of it can be computed again."""
    try:
        if path.is_file():
            with _opened(path) as database:
                database.execute(_SCHEMA)
    except sqlite3.OperationalError:  # busy, or not ours to write: the file is whole
        raise
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=_WAIT_S)) as database:
        yield database
