"""Prepared documents on the way from a worker process: JSON without the text.

The chunks' text is not sent back: the parent has the file and cuts it out by the spans. Only
of a file that was converted the text comes back, once.
"""

from __future__ import annotations

import json
from typing import Any

from fingerpost.corpus.decode import Decoded, Undecodable, decode
from fingerpost.corpus.prepare import FileToPrepare, Prepared
from fingerpost.stores.base import PreparedDocument
from fingerpost.types.document import Chunk, Document, Span

Outcome = Prepared | Undecodable


def encode_job(file: FileToPrepare) -> bytes:
    """Return a file as a head of JSON, a line end and its bytes."""
    head = [file.source, file.path, file.uri, file.content_hash, file.max_tokens, file.plain]
    return json.dumps(head).encode() + b"\n" + file.raw


def decode_job(frame: bytes) -> FileToPrepare:
    """Return the file of `encode_job`."""
    cut = frame.index(b"\n")
    source, path, uri, content_hash, max_tokens, plain = json.loads(frame[:cut])
    return FileToPrepare(frame[cut + 1 :], source, path, uri, content_hash, max_tokens, plain)


def encode_outcome(outcome: Outcome) -> bytes:
    """Return what came of a file, without the text of its chunks."""
    if isinstance(outcome, Undecodable):
        rows: list[Any] = [outcome.reason, outcome.detail]
    else:
        plain = outcome.document
        document = plain.document
        rows = [
            [document.title, document.format, document.language, document.tags],
            dict(document.metadata),
            [
                [
                    chunk.id, chunk.span.start, chunk.span.end, chunk.heading_path,
                    chunk.line_start, chunk.line_end, chunk.language, chunk.n_tokens,
                    chunk.prefix, chunk.search_text,
                ]
                for chunk in plain.chunks
            ],
            plain.words,
            plain.trail_words,
            outcome.written,
            plain.names,
            outcome.text,
            outcome.note,
        ]  # fmt: skip
    return json.dumps(rows, ensure_ascii=False, check_circular=False).encode(
        "utf-8", "surrogatepass"
    )


def decode_outcome(frame: bytes, file: FileToPrepare, document_id: str) -> Outcome:
    """Return what came of ``file``, its chunks' text cut out of its bytes or converted text."""
    rows = json.loads(frame.decode("utf-8", "surrogatepass"))
    if len(rows) == 2:  # noqa: PLR2004 - reason and detail
        return Undecodable(*rows)
    (title, kind, language, tags), metadata, chunk_rows, words, trails, written, names = rows[:7]
    converted: str | None = rows[7]
    text = _decoded(file.raw) if converted is None else converted
    document = Document(
        document_id,
        file.path,
        file.source,
        file.uri,
        title,
        file.content_hash,
        kind,
        language,
        tuple(tags),
        metadata,
        len(file.raw),
    )
    chunks = [
        Chunk(
            row[0],
            document_id,
            ordinal,
            text[row[1] : row[2]],
            Span(row[1], row[2]),
            tuple(row[3]),
            *row[4:],
        )
        for ordinal, row in enumerate(chunk_rows)
    ]
    return Prepared(
        PreparedDocument(document, chunks, words, trails, names=list(map(tuple, names))),
        [(ordinal, path, anchor) for ordinal, path, anchor in written],
        converted,
        rows[8],
    )


def _decoded(raw: bytes) -> str:
    decoded = decode(raw)
    return decoded.text if isinstance(decoded, Decoded) else ""
