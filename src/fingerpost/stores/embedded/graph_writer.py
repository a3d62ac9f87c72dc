"""The graph as it is written: an outline for each document, and who mentions which name."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.stores.embedded.outline import Outline, decode_outline, encode_outline, outline_of
from fingerpost.types.document import Chunk

BEARS, MENTIONS = 0, 1
_MOST_WAITING = 500_000
_AT_ONCE = 50  # rows of one statement: half the CPU time of a statement for each row
_INSERT = "INSERT OR IGNORE INTO mentions VALUES (?, ?, ?)"
_INSERT_MANY = _INSERT + ", (?, ?, ?)" * (_AT_ONCE - 1)
_DELETE = "DELETE FROM mentions WHERE name = ? AND role = ? AND key = ?"


class GraphWriter:
    """Rows of the graph within a transaction.

    Mentions wait and are written in the order of their names, which costs a third of writing
    them document by document.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._waiting: list[NDArray[np.int64]] = []
        self._n_waiting = 0

    def add(
        self,
        doc_key: int,
        first_key: int,
        title: str,
        chunks: Sequence[Chunk],
        names: Sequence[Sequence[int]],
    ) -> None:
        """Add what a document says of itself and of others.

        Args:
            doc_key: Its key.
            first_key: Key of its first chunk.
            title: Its title.
            chunks: In order.
            names: Numbers of the names in each chunk; empty when none are known.
        """
        outline = outline_of(title, chunks, names or [()] * len(chunks), first_key)
        self._connection.execute(
            "INSERT INTO outlines VALUES (?, ?)", (doc_key, encode_outline(outline))
        )
        self._waiting.append(_rows(outline))
        self._n_waiting += len(self._waiting[-1])
        if self._n_waiting > _MOST_WAITING:
            self.flush()

    def names(self, doc_key: int) -> Sequence[Sequence[int]]:
        """Return the names in each chunk of a document, empty when it has no outline."""
        outline = self._outline(doc_key)
        return () if outline is None else outline.names

    def take_out(self, doc_key: int) -> None:
        """Remove a document."""
        self.flush()
        outline = self._outline(doc_key)
        if outline is not None:
            self._connection.executemany(_DELETE, _rows(outline).tolist())
            self._connection.execute("DELETE FROM outlines WHERE doc_key = ?", (doc_key,))

    def clear(self) -> None:
        """Remove every document."""
        self._forget()
        self._connection.execute("DELETE FROM outlines")
        self._connection.execute("DELETE FROM mentions")

    def flush(self) -> None:
        """Write the mentions that wait."""
        if not self._waiting:
            return
        rows = np.concatenate(self._waiting)
        ordered = rows[np.lexsort(rows.T[::-1])]
        whole = len(ordered) - len(ordered) % _AT_ONCE
        many = ordered[:whole].reshape(-1, 3 * _AT_ONCE)
        self._connection.executemany(_INSERT_MANY, many.tolist())
        self._connection.executemany(_INSERT, ordered[whole:].tolist())
        self._forget()

    def _forget(self) -> None:
        self._waiting.clear()
        self._n_waiting = 0

    def _outline(self, doc_key: int) -> Outline | None:
        row = self._connection.execute(
            "SELECT content FROM outlines WHERE doc_key = ?", (doc_key,)
        ).fetchone()
        return None if row is None else decode_outline(row[0], doc_key, self._folder)


def _rows(outline: Outline) -> NDArray[np.int64]:
    """Return (name, role, key) of what the chunks of a document bear and mention."""
    keys = np.arange(outline.first_key, outline.first_key + len(outline.parents))
    borne = np.array(outline.borne, np.int64)
    bearing = borne != 0
    mentioned = np.array([name for some in outline.names for name in some], np.int64)
    mentioning = np.repeat(keys, [len(some) for some in outline.names])
    n_bearing = int(bearing.sum())
    rows = np.empty((n_bearing + len(mentioned), 3), np.int64)
    rows[:n_bearing, 0], rows[n_bearing:, 0] = borne[bearing], mentioned
    rows[:n_bearing, 1], rows[n_bearing:, 1] = BEARS, MENTIONS
    rows[:n_bearing, 2], rows[n_bearing:, 2] = keys[bearing], mentioning
    return rows
