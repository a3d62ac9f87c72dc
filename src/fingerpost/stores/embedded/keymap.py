"""Which chunk keys are alive, with content, document and language, as arrays by key."""

from __future__ import annotations

import sqlite3
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.schema import DATABASE_FILE

PAGE_KEYS = 4096
_ENTRY = np.dtype([("cid", "<i4"), ("doc", "<i4"), ("language", "<i2")])
_CRC_BYTES = 4


@dataclass(frozen=True, slots=True)
class KeyMap:
    """Arrays by chunk key; a content number of 0 means that no visible chunk has the key."""

    cids: NDArray[np.int32]
    docs: NDArray[np.int32]
    languages: NDArray[np.int16]

    def live_keys(self) -> NDArray[np.int64]:
        """Return the keys of visible chunks, ascending."""
        return np.flatnonzero(self.cids)


class KeyPages:
    """The writer's view of the same arrays: changed in place, saved page by page."""

    def __init__(self, entries: NDArray[np.void]) -> None:
        self._entries = entries
        self._dirty: set[int] = set()

    @property
    def cids(self) -> NDArray[np.int32]:
        """Return content numbers by key."""
        cids: NDArray[np.int32] = self._entries["cid"]
        return cids

    def put(self, first_key: int, cids: list[int], doc: int, languages: list[int]) -> None:
        """Make the keys from ``first_key`` on visible."""
        end = first_key + len(cids)
        if end > len(self._entries):
            grown = np.zeros(max(end + PAGE_KEYS, 2 * len(self._entries)), _ENTRY)
            grown[: len(self._entries)] = self._entries
            self._entries = grown
        part = self._entries[first_key:end]
        part["cid"], part["doc"], part["language"] = cids, doc, languages
        self._touch(first_key, end)

    def clear(self, first_key: int, n_keys: int) -> None:
        """Take keys out of sight."""
        self._entries[first_key : first_key + n_keys] = 0
        self._touch(first_key, first_key + n_keys)

    def clear_all(self) -> None:
        """Take everything out of sight."""
        self._touch(0, len(self._entries))
        self._entries[:] = 0

    def save(self, connection: sqlite3.Connection) -> None:
        """Write the pages that changed."""
        rows = []
        for page in sorted(self._dirty):
            part = self._entries[page * PAGE_KEYS : (page + 1) * PAGE_KEYS]
            raw = part.tobytes()
            rows.append((page, zlib.crc32(raw).to_bytes(_CRC_BYTES, "little") + raw))
        connection.executemany("INSERT OR REPLACE INTO key_pages VALUES (?, ?)", rows)
        self._dirty.clear()

    def _touch(self, start: int, end: int) -> None:
        if end > start:
            self._dirty.update(range(start // PAGE_KEYS, (end - 1) // PAGE_KEYS + 1))


def load_pages(connection: sqlite3.Connection, next_key: int, folder: Path) -> KeyPages:
    """Return the arrays for writing."""
    return KeyPages(_entries(connection, next_key, folder))


def load_map(connection: sqlite3.Connection, next_key: int, folder: Path) -> KeyMap:
    """Return the arrays of the generation in the connection's view."""
    entries = _entries(connection, next_key, folder)[:next_key]
    return KeyMap(
        cids=np.ascontiguousarray(entries["cid"]),
        docs=np.ascontiguousarray(entries["doc"]),
        languages=np.ascontiguousarray(entries["language"]),
    )


def _entries(connection: sqlite3.Connection, next_key: int, folder: Path) -> NDArray[np.void]:
    n_pages = -(-next_key // PAGE_KEYS)
    entries = np.zeros(n_pages * PAGE_KEYS, _ENTRY)
    found = 0
    for page, raw in connection.execute("SELECT page, content FROM key_pages"):
        body = raw[_CRC_BYTES:]
        if zlib.crc32(body) != int.from_bytes(raw[:_CRC_BYTES], "little"):
            raise corrupt(folder, DATABASE_FILE, f"key page {page} has a wrong checksum")
        if 0 <= page < n_pages:
            part = np.frombuffer(body, _ENTRY)
            start = page * PAGE_KEYS
            entries[start : start + len(part)] = part
            found += 1
    if next_key > 1 and found < n_pages:
        raise corrupt(folder, DATABASE_FILE, f"{n_pages - found} key pages are missing")
    return entries
