"""The documents of a write transaction: rows in, rows out, and what that means for the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fingerpost.stores.base import PreparedDocument
from fingerpost.stores.embedded.graph_writer import GraphWriter
from fingerpost.stores.embedded.keymap import KeyPages
from fingerpost.stores.embedded.ledger import Generation
from fingerpost.stores.embedded.link_writer import LinkRows, StoredLinks
from fingerpost.stores.embedded.reader import batches
from fingerpost.stores.embedded.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    INSERT_CHUNK,
    INSERT_DOCUMENT,
    check_document,
    checksum,
    chunk_row,
    document_row,
    moved_row,
    read_chunk,
    read_document,
    to_bytes,
)
from fingerpost.text.analyse import analyse_joined
from fingerpost.text.names import name_numbers
from fingerpost.types.document import Document
from fingerpost.types.ids import chunk_id, content_key, digest

_CONTENT_MODULUS = 1 << 80
_MAX_LATELY = 200_000


def content_value(row: Sequence[Any]) -> int:
    """Return what a document adds to the hash over the content of a generation."""
    parts = [row[1], row[2], row[3], row[4], row[7], row[8]]
    return int(digest(*(part.decode("utf-8", "surrogatepass") for part in parts)), 16)


class Changes:
    """Counters and keys of one transaction, and the statements that change documents."""

    def __init__(
        self, connection: sqlite3.Connection, folder: Path, base: Generation, pages: KeyPages
    ) -> None:
        self._connection = connection
        self._folder = folder
        self.pages = pages
        self.graph = GraphWriter(connection, folder)
        self.links = LinkRows(connection, folder)
        self.next_key = base.next_key
        self.next_doc = base.next_doc
        self.next_cid = base.next_cid
        self.n_documents = base.n_documents
        self.n_chunks = base.n_chunks
        self.content = base.content
        # Every content of an index that began empty, while they are few enough to remember.
        began_empty = connection.execute("SELECT 1 FROM contents LIMIT 1").fetchone() is None
        self._lately: dict[bytes, int] | None = {} if began_empty else None
        self._languages: dict[str, int] = {
            code: number
            for number, code in connection.execute("SELECT language_id, code FROM languages")
        }

    def find(self, document_id: str) -> tuple[Any, ...] | None:
        """Return the row of a document.

        Raises:
            IndexCorruptError: The row is not what was written; to act on it would take out
                other documents' chunks.
        """
        sql = f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE id = ?"  # noqa: S608 - constants
        row: tuple[Any, ...] | None = self._connection.execute(
            sql, (to_bytes(document_id),)
        ).fetchone()
        if row is not None:
            check_document(row, self._folder)
        return row

    def add(self, prepared: PreparedDocument) -> tuple[int, int]:
        """Store a document that is not there; return its document key and first chunk key."""
        chunks = prepared.chunks
        doc_key, first_key = self._take(len(chunks))
        cids = self.cids_of(
            [content_key(chunk.heading_path, chunk.search_text) for chunk in chunks]
        )
        self._connection.executemany(
            INSERT_CHUNK,
            [
                chunk_row(chunk, key=first_key + place, doc_key=doc_key, cid=cid, trail=trail)
                for place, (chunk, cid, trail) in enumerate(
                    zip(chunks, cids, prepared.trail_words, strict=True)
                )
            ],
        )
        row = document_row(prepared.document, chunks, doc_key=doc_key, first_key=first_key)
        self._insert(row, cids, [chunk.language for chunk in chunks])
        self.links.add(doc_key, prepared.document.source, prepared.links, prepared.written)
        self.graph.add(doc_key, first_key, prepared.document.title, chunks, prepared.names)
        return doc_key, first_key

    def take_out(self, row: Sequence[Any]) -> int:
        """Remove a document given its row; return its document key."""
        doc_key, first_key, n_chunks = int(row[0]), int(row[5]), int(row[6])
        self._connection.execute(
            "DELETE FROM chunks WHERE key BETWEEN ? AND ?", (first_key, first_key + n_chunks - 1)
        )
        self.links.take_out(doc_key)
        self.graph.take_out(doc_key)
        self._connection.execute("DELETE FROM documents WHERE doc_key = ?", (doc_key,))
        self.pages.clear(first_key, n_chunks)
        self.n_documents -= 1
        self.n_chunks -= n_chunks
        self.content = (self.content - content_value(row)) % _CONTENT_MODULUS
        return doc_key

    def move(
        self,
        row: Sequence[Any],
        stored: tuple[Sequence[Sequence[Any]], StoredLinks],
        document: Document,
        trails: Sequence[str],
    ) -> tuple[int, int]:
        """Store what a document that was taken out had (chunk rows, links) under another one."""
        old, links = stored
        doc_key, first_key = self._take(len(old))
        cids = [int(item[15]) for item in old]
        self._connection.executemany(
            INSERT_CHUNK, self._moved_chunks(old, document.id, doc_key, first_key, trails)
        )
        self.links.restore(doc_key, document.source, links)
        moved = moved_row(document, row, doc_key=doc_key, first_key=first_key)
        self._insert(moved, cids, [str(item[13]) for item in old])
        return doc_key, first_key

    def stored_chunks(self, row: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the chunk rows of a document in order."""
        sql = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key"  # noqa: S608 - constants
        return self._connection.execute(sql, (row[5], row[5] + row[6] - 1)).fetchall()

    def _moved_chunks(
        self,
        old: Sequence[Sequence[Any]],
        document_id: str,
        doc_key: int,
        first_key: int,
        trails: Sequence[str],
    ) -> list[tuple[Any, ...]]:
        rows = []
        repeats: dict[tuple[tuple[str, ...], str], int] = {}
        for place, (stored, trail) in enumerate(zip(old, trails, strict=True)):
            chunk = read_chunk(stored, document_id, self._folder)
            same = (chunk.heading_path, chunk.text)
            repeat = repeats.get(same, 0)
            repeats[same] = repeat + 1
            new_id = chunk_id(document_id, chunk.heading_path, chunk.text, repeat)
            values = chunk_row(
                chunk, key=first_key + place, doc_key=doc_key, cid=stored[15], trail=trail
            )
            rows.append(_with_id(values, new_id))
        return rows

    def cids_of(self, content_keys: Sequence[str]) -> list[int]:
        """Return the number of each content key; new keys get new numbers."""
        known: dict[bytes, int] = {}
        raw = [bytes.fromhex(key) for key in content_keys]
        asked = dict.fromkeys(raw)
        if self._lately is not None:
            known = {key: self._lately[key] for key in asked if key in self._lately}
            asked = {}
        for batch in batches(asked):
            marks = ",".join("?" * len(batch))
            sql = f"SELECT content_key, cid FROM contents WHERE content_key IN ({marks})"  # noqa: S608 - marks
            known.update(self._connection.execute(sql, batch))
        new = []
        for key in raw:
            if key not in known:
                known[key] = self.next_cid
                new.append((self.next_cid, key))
                self.next_cid += 1
        self._connection.executemany("INSERT INTO contents VALUES (?, ?)", new)
        if self._lately is not None:
            self._lately.update((key, cid) for cid, key in new)
            if len(self._lately) > _MAX_LATELY:
                self._lately = None
        return [known[key] for key in raw]

    def fill_graph(self) -> None:
        """Add every document of an index that was written before there was a graph."""
        self.graph.clear()
        sql = f"SELECT {DOCUMENT_COLUMNS} FROM documents ORDER BY doc_key"  # noqa: S608 - constants
        for row in self._connection.execute(sql).fetchall():
            document = read_document(row, self._folder)
            chunks = [
                read_chunk(item, document.id, self._folder) for item in self.stored_chunks(row)
            ]
            texts = [chunk.search_text for chunk in chunks]
            names = [name_numbers(text, analyse_joined(text)) for text in texts]
            self.graph.add(row[0], row[5], document.title, chunks, names)

    def clear(self) -> None:
        """Take every document out; keys and content numbers go on."""
        for table in ("chunks", "documents", "links", "written_links", "words_purge"):
            self._connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
        self.pages.clear_all()
        self.graph.clear()
        self.n_documents = self.n_chunks = self.content = 0

    def _take(self, n_chunks: int) -> tuple[int, int]:
        doc_key, first_key = self.next_doc, self.next_key
        self.next_doc += 1
        self.next_key += n_chunks
        return doc_key, first_key

    def _insert(self, row: tuple[Any, ...], cids: Sequence[int], languages: Sequence[str]) -> None:
        self._connection.execute(INSERT_DOCUMENT, row)
        numbers = [self._language(code) for code in languages]
        self.pages.put(row[5], list(cids), row[0], numbers)
        self.n_documents += 1
        self.n_chunks += len(cids)
        self.content = (self.content + content_value(row)) % _CONTENT_MODULUS

    def _language(self, code: str) -> int:
        number = self._languages.get(code)
        if number is None:
            number = len(self._languages)
            self._connection.execute("INSERT INTO languages VALUES (?, ?)", (number, code))
            self._languages[code] = number
        return number


def _with_id(values: tuple[Any, ...], new_id: str) -> tuple[Any, ...]:
    from_id = (*values[:3], to_bytes(new_id), *values[4:-1])
    return (*from_id, checksum(from_id))
