"""Documents and chunks as rows, each with a checksum over all that it holds."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.types.document import Chunk, Document, Span

CHUNK_COLUMNS = (
    "key, doc_key, ordinal, id, text, search_text, trail, prefix, headings, span_start, "
    "span_end, line_start, line_end, language, n_tokens, cid, checksum"
)
INSERT_CHUNK = f"INSERT INTO chunks ({CHUNK_COLUMNS}) VALUES ({','.join('?' * 17)})"  # noqa: S608 - constants only
DOCUMENT_COLUMNS = (
    "doc_key, id, source, path, content_hash, first_key, n_chunks, record, headings, checksum"
)
INSERT_DOCUMENT = f"INSERT INTO documents ({DOCUMENT_COLUMNS}) VALUES ({','.join('?' * 10)})"  # noqa: S608 - constants only


def to_bytes(text: str) -> bytes:
    """Return UTF-8 that keeps lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def to_text(raw: bytes) -> str:
    """Undo `to_bytes`.

    Raises:
        ValueError: Not what `to_bytes` gave; a damaged row may hold anything, also nothing.
    """
    if raw.__class__ is not bytes:
        raise ValueError(f"text expected, found {type(raw).__name__}")
    return raw.decode("utf-8", "surrogatepass")


def checksum(values: Sequence[Any]) -> int:
    """Return a CRC-32 over the values of a row; of blobs both length and bytes count."""
    blobs = [value for value in values if value.__class__ is bytes]
    shape = [len(value) if value.__class__ is bytes else value for value in values]
    return zlib.crc32(b"".join(blobs), zlib.crc32(repr(shape).encode()))


@lru_cache(maxsize=1024)
def _headings_row(path: tuple[str, ...]) -> bytes:
    """Return a heading path as JSON; much faster than `json.dumps` for short lists."""
    return f"[{','.join(map(encode_basestring_ascii, path))}]".encode()


def chunk_row(chunk: Chunk, *, key: int, doc_key: int, cid: int, trail: str) -> tuple[Any, ...]:
    """Return a chunk in the order of `CHUNK_COLUMNS`."""
    searched = None if chunk.search_text == chunk.text else to_bytes(chunk.search_text)
    blobs = (
        to_bytes(chunk.id),
        to_bytes(chunk.text),
        b"" if searched is None else searched,
        to_bytes(trail),
        to_bytes(chunk.prefix) if chunk.prefix else b"",
        _headings_row(chunk.heading_path),
    )
    span = chunk.span
    head = (key, doc_key, chunk.ordinal)
    tail = (
        span.start,
        span.end,
        chunk.line_start,
        chunk.line_end,
        chunk.language,
        chunk.n_tokens,
        cid,
    )
    # `checksum` of the row, without asking every value what it is.
    sizes: list[int | None] = [*map(len, blobs)]
    if searched is None:
        sizes[2] = None
    total = zlib.crc32(b"".join(blobs), zlib.crc32(repr([*head, *sizes, *tail]).encode()))
    if searched is None:
        return (*head, *blobs[:2], None, *blobs[3:], *tail, total)
    return (*head, *blobs, *tail, total)


def read_chunk(row: Sequence[Any], document_id: str, folder: Path) -> Chunk:
    """Return the chunk of a row of `CHUNK_COLUMNS`.

    Raises:
        IndexCorruptError: The row is not what was written.
    """
    if checksum(row[:-1]) != row[-1]:
        raise corrupt(folder, DATABASE_FILE, f"chunk {row[0]} does not match its checksum")
    text = to_text(row[4])
    return Chunk(
        id=to_text(row[3]),
        document_id=document_id,
        ordinal=row[2],
        text=text,
        span=Span(row[9], row[10]),
        heading_path=_headings(row[8]),
        line_start=row[11],
        line_end=row[12],
        language=row[13],
        n_tokens=row[14],
        prefix=to_text(row[7]),
        search_text=text if row[5] is None else to_text(row[5]),
    )


@lru_cache(maxsize=1024)
def _headings(raw: bytes) -> tuple[str, ...]:
    """Return a heading path; the chunks of a section and versions of a page share theirs."""
    return tuple(json.loads(raw.decode()))


def document_row(
    document: Document, chunks: Sequence[Chunk], *, doc_key: int, first_key: int
) -> tuple[Any, ...]:
    """Return a document in the order of `DOCUMENT_COLUMNS`."""
    covered: dict[tuple[str, ...], int] = {}
    for chunk in chunks:
        covered[chunk.heading_path] = covered.get(chunk.heading_path, 0) + len(chunk.text)
    headings = json.dumps([[list(path), size] for path, size in covered.items()]).encode()
    return _document_row(document, headings, doc_key, first_key, len(chunks))


def moved_row(
    document: Document, old: Sequence[Any], *, doc_key: int, first_key: int
) -> tuple[Any, ...]:
    """Return the row of a document that took another path; ``old`` is its former row."""
    return _document_row(document, old[8], doc_key, first_key, old[6])


def _document_row(
    document: Document, headings: bytes, doc_key: int, first_key: int, n_chunks: int
) -> tuple[Any, ...]:
    record = json.dumps(
        {
            "uri": document.uri,
            "title": document.title,
            "format": document.format,
            "language": document.language,
            "tags": document.tags,
            "metadata": dict(document.metadata),
            "size_bytes": document.size_bytes,
        }
    ).encode()
    values = (
        doc_key,
        to_bytes(document.id),
        to_bytes(document.source),
        to_bytes(document.path),
        to_bytes(document.content_hash),
        first_key,
        n_chunks,
        record,
        headings,
    )
    return (*values, checksum(values))


def read_document(row: Sequence[Any], folder: Path) -> Document:
    """Return the document of a row of `DOCUMENT_COLUMNS`.

    Raises:
        IndexCorruptError: The row is not what was written.
    """
    check_document(row, folder)
    record = json.loads(row[7].decode())
    return Document(
        id=to_text(row[1]),
        path=to_text(row[3]),
        source=to_text(row[2]),
        uri=record["uri"],
        title=record["title"],
        content_hash=to_text(row[4]),
        format=record["format"],
        language=record["language"],
        tags=tuple(record["tags"]),
        metadata=record["metadata"],
        size_bytes=record["size_bytes"],
    )


def read_headings(row: Sequence[Any], folder: Path) -> tuple[str, list[tuple[list[str], int]]]:
    """Return the id of a row of `DOCUMENT_COLUMNS` and its (heading path, characters) pairs.

    Raises:
        IndexCorruptError: The row is not what was written.
    """
    check_document(row, folder)
    return to_text(row[1]), json.loads(row[8].decode())


def check_document(row: Sequence[Any], folder: Path) -> None:
    """Compare a row of `DOCUMENT_COLUMNS` with its checksum.

    Raises:
        IndexCorruptError: The row is not what was written.
    """
    if checksum(row[:-1]) != row[-1]:
        raise corrupt(folder, DATABASE_FILE, f"document {row[0]} does not match its checksum")
