"""Links as they are stored: resolved for readers, and as written to be resolved anew."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.rows import to_bytes, to_text
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.stores.linking import WrittenLinks
from fingerpost.types.document import Link

_INSERT = "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_WRITTEN = "INSERT OR REPLACE INTO written_links VALUES (?, ?, ?)"
_CRC_BYTES = 4
_BETWEEN = "/"  # stands in no name


@dataclass(frozen=True, slots=True)
class StoredLinks:
    """The links of a document that is about to get another key.

    Attributes:
        resolved: (ordinal, target, anchor) in order.
        written: Names and content, ``None`` when they are unread.
    """

    resolved: Sequence[tuple[Any, ...]]
    written: tuple[bytes, bytes] | None


class LinkRows:
    """Rows of links within a transaction."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder

    def add(
        self, doc_key: int, source: str, links: Sequence[Link], written: WrittenLinks | None
    ) -> None:
        """Store the links of a document; without ``written`` those stay as they are."""
        if links:
            self._insert(doc_key, source, _rows(links))
        if written is not None:
            names = _sealed(to_bytes(_BETWEEN.join(sorted(written.names))))
            # JSON keeps lone surrogates.
            content = _sealed(json.dumps(list(written.links), check_circular=False).encode())
            self._connection.execute(_INSERT_WRITTEN, (doc_key, names, content))

    def take_out(self, doc_key: int) -> None:
        """Remove the links of a document."""
        self._connection.execute("DELETE FROM links WHERE doc_key = ?", (doc_key,))
        self._connection.execute("DELETE FROM written_links WHERE doc_key = ?", (doc_key,))

    def stored(self, doc_key: int) -> StoredLinks:
        """Return the links of a document."""
        written = self._connection.execute(
            "SELECT names, content FROM written_links WHERE doc_key = ?", (doc_key,)
        ).fetchone()
        return StoredLinks(self._resolved(doc_key), written)

    def restore(self, doc_key: int, source: str, stored: StoredLinks) -> None:
        """Store what a document had before it was taken out."""
        self._insert(doc_key, source, stored.resolved)
        if stored.written is not None:
            self._connection.execute(_INSERT_WRITTEN, (doc_key, *stored.written))

    def differ(self, doc_key: int, links: Sequence[Link]) -> bool:
        """Tell whether the links stored for a document are not these, in this order."""
        return self._resolved(doc_key) != _rows(links)

    def replace(
        self, doc_key: int, source: str, links: Sequence[Link], written: WrittenLinks | None
    ) -> None:
        """Put other links in place of a document's; without ``written`` those stay."""
        self._connection.execute("DELETE FROM links WHERE doc_key = ?", (doc_key,))
        self.add(doc_key, source, links, written)

    def unread(self) -> set[str]:
        """Return the ids of documents without a row of links as written."""
        rows = self._connection.execute(
            "SELECT id FROM documents WHERE doc_key NOT IN (SELECT doc_key FROM written_links)"
        )
        return {to_text(row[0]) for row in rows}

    def written(
        self, source: str, names: Collection[str], document_ids: Collection[str]
    ) -> Iterator[tuple[str, WrittenLinks]]:
        """Yield (path, links) of the documents asked for; see `LinkWriter.written_links`."""
        wanted = {to_bytes(name) for name in names}
        forced = {to_bytes(identity) for identity in document_ids}
        rows = self._connection.execute(
            "SELECT doc_key, id, path, names FROM documents JOIN written_links USING (doc_key) "
            "WHERE source = ? ORDER BY doc_key",
            (to_bytes(source),),
        )
        for doc_key, identity, path, sealed in rows.fetchall():
            own = list(filter(None, self._opened(sealed, doc_key).split(to_bytes(_BETWEEN))))
            if identity not in forced and wanted.isdisjoint(own):
                continue
            (content,) = self._connection.execute(
                "SELECT content FROM written_links WHERE doc_key = ?", (doc_key,)
            ).fetchone()
            links = [tuple(link) for link in json.loads(self._opened(content, doc_key))]
            yield to_text(path), WrittenLinks(links, list(map(to_text, own)))

    def _resolved(self, doc_key: int) -> list[tuple[Any, ...]]:
        return self._connection.execute(
            "SELECT ordinal, target, anchor FROM links WHERE doc_key = ? ORDER BY position",
            (doc_key,),
        ).fetchall()

    def _insert(self, doc_key: int, source: str, links: Sequence[Sequence[Any]]) -> None:
        raw = to_bytes(source)
        self._connection.executemany(
            _INSERT,
            [
                (doc_key, place, ordinal, raw, target, anchor)
                for place, (ordinal, target, anchor) in enumerate(links)
            ],
        )

    def _opened(self, raw: Any, doc_key: int) -> bytes:
        """Undo `_sealed`.

        Raises:
            IndexCorruptError: The bytes are not what was written.
        """
        body = raw[_CRC_BYTES:] if raw.__class__ is bytes else b""
        if raw != _sealed(body):
            raise corrupt(
                self._folder, DATABASE_FILE, f"the written links of document {doc_key} are damaged"
            )
        return body


def _rows(links: Sequence[Link]) -> list[tuple[int, bytes, bytes]]:
    return [
        (link.source_ordinal, to_bytes(link.target_path), to_bytes(link.anchor)) for link in links
    ]


def _sealed(body: bytes) -> bytes:
    """Return bytes with a checksum before them."""
    return zlib.crc32(body).to_bytes(_CRC_BYTES, "little") + body
