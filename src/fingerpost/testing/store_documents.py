"""Small documents, vectors and queries for tests of stores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fingerpost.stores import (
    IndexIdentity,
    PreparedDocument,
    Reader,
    Store,
    WordQuery,
    Writer,
    trail_text,
)
from fingerpost.text.analyse import analyse_joined
from fingerpost.types.document import Chunk, Document, Link, Span
from fingerpost.types.ids import chunk_id, document_id

DIMENSION = 32
IDENTITY = IndexIdentity(
    splitter="test-1", max_tokens=256, embedder="hash", embedder_revision="1", dimension=DIMENSION
)


def prepare(
    path: str,
    sections: Sequence[str],
    *,
    source: str = "docs",
    tags: Sequence[str] = (),
    language: str = "en",
    links: Sequence[str] = (),
    metadata: dict[str, object] | None = None,
) -> PreparedDocument:
    """Return a document with one chunk per section, headed ``Section N``."""
    identity = document_id(source, path)
    text = "".join(sections)
    document = Document(
        id=identity,
        path=path,
        source=source,
        uri=f"file:///{path}",
        title=path.rpartition("/")[2],
        content_hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        language=language,
        tags=tuple(tags),
        metadata=metadata or {},
        size_bytes=len(text),
    )
    chunks = _chunks(identity, sections, language)
    return PreparedDocument(
        document=document,
        chunks=chunks,
        words=[analyse_joined(chunk.search_text) for chunk in chunks],
        trail_words=[
            analyse_joined(trail_text(path, document.title, chunk.heading_path)) for chunk in chunks
        ],
        links=[Link(0, target) for target in links],
    )


def _chunks(identity: str, sections: Sequence[str], language: str) -> list[Chunk]:
    chunks = []
    start = 0
    for place, section in enumerate(sections):
        headings = (f"Section {place}",)
        chunks.append(
            Chunk(
                id=chunk_id(identity, headings, section),
                document_id=identity,
                ordinal=place,
                text=section,
                span=Span(start, start + len(section)),
                heading_path=headings,
                line_start=place + 1,
                line_end=place + 1,
                language=language,
                n_tokens=len(section.split()),
                search_text=section.strip(),
            )
        )
        start += len(section)
    return chunks


def hash_vector(text: str, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Return a unit vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def embed_all(writer: Writer, batch: int = 64) -> int:
    """Give every pending content its `hash_vector`; return how many there were."""
    total = 0
    while pending := writer.pending_vectors(batch):
        writer.put_vectors(
            [key for key, _ in pending], np.stack([hash_vector(text) for _, text in pending])
        )
        total += len(pending)
    return total


def words(text: str) -> WordQuery:
    """Return a lexical query in which all tokens weigh the same."""
    return WordQuery(dict.fromkeys(analyse_joined(text).split(), 1.0))


def paths_of(reader: Reader, hits: Iterable[tuple[int, float]]) -> list[str]:
    """Return the paths of hits in their order."""
    return [found.document.path for found in reader.chunks([key for key, _ in hits])]


def fill(store: Store, documents: Iterable[PreparedDocument], *, vectors: bool = True) -> int:
    """Commit documents, embedded unless told otherwise; return the generation."""
    with store.writer(IDENTITY) as writer:
        writer.put(documents)
        if vectors:
            embed_all(writer)
        return writer.commit()
