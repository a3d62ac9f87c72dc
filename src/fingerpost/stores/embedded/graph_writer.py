"""The graph as it is written: an outline for each document, and who mentions which name."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from fingerpost.stores.embedded.outline import Outline, decode_outline, encode_outline, outline_of
from fingerpost.types.document import Chunk

BEARS, MENTIONS = 0, 1
_MOST_WAITING = 500_000
_INSERT = "INSERT OR IGNORE INTO mentions VALUES (?, ?, ?)"
_DELETE = "DELETE FROM mentions WHERE name = ? AND role = ? AND key = ?"


class GraphWriter:
    """Rows of the graph within a transaction.

    Mentions wait and are written in the order of their names, which costs a third of writing
    them document by document.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._waiting: list[tuple[int, int, int]] = []

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
        self._waiting += _rows(outline)
        if len(self._waiting) > _MOST_WAITING:
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
            self._connection.executemany(_DELETE, _rows(outline))
            self._connection.execute("DELETE FROM outlines WHERE doc_key = ?", (doc_key,))

    def clear(self) -> None:
        """Remove every document."""
        self._waiting.clear()
        self._connection.execute("DELETE FROM outlines")
        self._connection.execute("DELETE FROM mentions")

    def flush(self) -> None:
        """Write the mentions that wait."""
        self._connection.executemany(_INSERT, sorted(self._waiting))
        self._waiting.clear()

    def _outline(self, doc_key: int) -> Outline | None:
        row = self._connection.execute(
            "SELECT content FROM outlines WHERE doc_key = ?", (doc_key,)
        ).fetchone()
        return None if row is None else decode_outline(row[0], doc_key, self._folder)


def _rows(outline: Outline) -> list[tuple[int, int, int]]:
    keys = range(outline.first_key, outline.first_key + len(outline.parents))
    rows = [(name, BEARS, key) for name, key in zip(outline.borne, keys, strict=True) if name]
    rows += [
        (name, MENTIONS, key)
        for some, key in zip(outline.names, keys, strict=True)
        for name in some
    ]
    return rows
