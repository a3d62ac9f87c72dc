"""Content that has no vector yet."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.stores.embedded.reader import batches
from fingerpost.stores.embedded.rows import CHUNK_COLUMNS, read_chunk
from fingerpost.stores.embedded.vector_writer import VectorWriter
from fingerpost.stores.trail import embedding_text


class PendingContents:
    """The queue of an embedding run: each visible content once, in the order of documents."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._queue: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None

    def forget(self) -> None:
        """Make the queue anew at the next call, because documents changed."""
        self._queue = None

    def count(self, cids_by_key: NDArray[np.int32], vectors: VectorWriter) -> int:
        """Return how many visible contents have no vector."""
        return len(self._missing(cids_by_key, vectors)[0])

    def first(
        self, limit: int, cids_by_key: NDArray[np.int32], vectors: VectorWriter
    ) -> list[tuple[str, str]]:
        """Return up to ``limit`` (content key, text to embed)."""
        cids, keys = self._missing(cids_by_key, vectors)
        wanted = dict(zip(cids[:limit].tolist(), keys[:limit].tolist(), strict=True))
        names: dict[int, str] = {}
        texts: dict[int, str] = {}
        for batch in batches(wanted):
            marks = ",".join("?" * len(batch))
            sql = f"SELECT cid, content_key FROM contents WHERE cid IN ({marks})"  # noqa: S608 - marks
            for cid, raw in self._connection.execute(sql, batch):
                names[cid] = bytes(memoryview(raw)).hex()
        for batch in batches(wanted.values()):
            marks = ",".join("?" * len(batch))
            sql = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE key IN ({marks})"  # noqa: S608 - constants and marks
            for row in self._connection.execute(sql, batch):
                chunk = read_chunk(row, "", self._folder)
                texts[row[15]] = embedding_text(chunk.heading_path, chunk.search_text)
        return [(names[cid], texts[cid]) for cid in wanted]

    def _missing(
        self, cids_by_key: NDArray[np.int32], vectors: VectorWriter
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        if self._queue is None:
            keys = np.flatnonzero(cids_by_key)
            cids, first = np.unique(cids_by_key[keys], return_index=True)
            self._queue = (cids, keys[first])
        cids, keys = self._queue
        missing = vectors.lacks(cids)
        self._queue = (cids[missing], keys[missing])
        return self._queue
