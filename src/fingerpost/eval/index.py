"""Passages of a data set as an index, built with the product's own path."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fingerpost.corpus.index import embed_pending, index_identity, prepare_text
from fingerpost.errors import IndexCorruptError, SchemaVersionError
from fingerpost.eval.cases import Passage
from fingerpost.eval.run import Progress, silent
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.observe.events import Event, IngestProgress
from fingerpost.stores.base import PreparedDocument, Store
from fingerpost.stores.open import open_store
from fingerpost.types.ids import digest, document_id

_LOG = logging.getLogger("fingerpost.eval")
_FORMATS = {"md": "markdown", "mdx": "mdx", "rst": "rst", "html": "html", "ipynb": "notebook"}


def build_index(name: str, passages: Sequence[Passage], folder: Path) -> Store:
    """Return the index of the passages in ``folder``, brought up to date.

    What is there already and did not change is left alone, its vectors included; an index of
    another version, or a damaged one, is made anew. A passage's path in the index is its place
    in the collection, so that no id is searched as if it were text; `passage_ids` gives the
    way back.
    """
    try:
        return _brought_up_to_date(name, passages, folder)
    except (IndexCorruptError, SchemaVersionError) as error:
        _LOG.warning("%s: the kept index is not usable and is made anew: %s", name, error)
        shutil.rmtree(folder)
        return _brought_up_to_date(name, passages, folder)


def _brought_up_to_date(name: str, passages: Sequence[Passage], folder: Path) -> Store:
    folder.mkdir(parents=True, exist_ok=True)
    store = open_store(str(folder))
    with store.writer(index_identity()) as writer:
        known = {identity: row[2] for identity, row in writer.known().items()}
        wanted = {
            document_id(name, path): (path, passage)
            for path, passage in zip(_paths(passages), passages, strict=True)
        }
        writer.remove([identity for identity in known if identity not in wanted])
        writer.put(
            _prepared(name, path, passage)
            for identity, (path, passage) in wanted.items()
            if known.get(identity) != _hash(passage)
        )
        writer.commit()
    with store.reader():  # a damaged index shows when it is opened for reading
        return store


def passage_ids(passages: Sequence[Passage]) -> dict[str, str]:
    """Return path in the index → passage id."""
    return {path: passage.id for path, passage in zip(_paths(passages), passages, strict=True)}


def fill_vectors(
    name: str, store: Store, embedder: EmbeddingModel, *, progress: Progress = silent
) -> int:
    """Compute the vectors that are missing; return how many."""

    def observe(event: Event) -> None:
        if isinstance(event, IngestProgress) and event.phase == "embed":
            progress(f"{name}, vectors", event.done, event.total)

    return embed_pending(
        store,
        embedder,
        observe=observe,
        cancelled=lambda: False,
        threads=max(1, len(os.sched_getaffinity(0))),
    )


def _paths(passages: Sequence[Passage]) -> Iterator[str]:
    return (f"{place:06d}" for place in range(len(passages)))


def _hash(passage: Passage) -> str:
    return digest(passage.title, passage.format, passage.text, size=32)


def _prepared(name: str, path: str, passage: Passage) -> PreparedDocument:
    prepared = prepare_text(
        passage.text,
        source=name,
        path=path,
        title=passage.title,
        format=_FORMATS.get(passage.format, passage.format),
    )
    return replace(prepared, document=replace(prepared.document, content_hash=_hash(passage)))
