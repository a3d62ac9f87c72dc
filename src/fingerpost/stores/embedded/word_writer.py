"""Writing the word index: what one commit of the store adds to it and purges from it."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import tantivy

from fingerpost.stores.embedded.files import DIRECTORY_MODE, FILE_MODE, Files
from fingerpost.stores.embedded.words import (
    BASE,
    DOC,
    KEY,
    MARKER,
    TEXT,
    TOKEN,
    TRAIL,
    WORDS_FOLDER,
    damaged_on_failure,
    open_index,
    register_tokenizer,
    words_schema,
)

_HEAP_BYTES = 64_000_000


def words_folder(folder: Path, number: int) -> Path:
    """Return where word index ``number`` of an index lives."""
    return folder / WORDS_FOLDER / f"{number:04d}"


def _drop_unfinished(path: Path) -> None:
    """Take away lists of deletions that a killed writer left before its commit.

    Their names hold the number of the commit, which comes again: the next one could not write
    its own. What ``meta.json`` names is kept.
    """
    try:
        meta = json.loads((path / "meta.json").read_text("utf-8"))
        known = {
            f"{str(segment['segment_id']).replace('-', '')}.{segment['deletes']['opstamp']}.del"
            for segment in meta["segments"]
            if segment.get("deletes")
        }
    except (OSError, ValueError, LookupError, TypeError):
        return  # damage is told when the index is opened
    for file in path.glob("*.del"):
        if file.name not in known:
            file.unlink(missing_ok=True)


class WordWriter:
    """The open word index of the one writer.

    An index always holds every chunk of the last published generation. Chunks of the coming
    one are added before it is published; removed ones stay until the commit after. So a
    reader of either generation finds its chunks and skips the rest by key.
    """

    def __init__(self, path: Path, *, create: bool, files: Files) -> None:
        with damaged_on_failure():
            if create:
                shutil.rmtree(path, ignore_errors=True)
                files.make_folder(path)
                self._index = tantivy.Index(words_schema(), path=str(path), reuse=False)
                register_tokenizer(self._index)
                self._index.config_reader("manual")
            else:
                _drop_unfinished(path)
                self._index = open_index(path)
            self._path = path
            self._writer = self._index.writer(_HEAP_BYTES, 1)

    def purge(self, dead_docs: Iterable[int], first_unpublished_key: int) -> None:
        """Take out what no published generation shows any more."""
        with damaged_on_failure():
            unpublished = tantivy.Query.range_query(
                self._index.schema,
                KEY,
                tantivy.FieldType.Unsigned,
                lower_bound=first_unpublished_key,
            )
            self._writer.delete_documents_by_query(unpublished)
            dead = tantivy.Query.term_set_query(self._index.schema, DOC, list(dead_docs))
            self._writer.delete_documents_by_query(dead)

    def add(self, key: int, doc_key: int, words: str, trail: str) -> None:
        """Add one chunk."""
        document = tantivy.Document()
        document.add_unsigned(KEY, key)
        document.add_unsigned(DOC, doc_key)
        try:
            document.add_text(TEXT, words)
            document.add_text(TRAIL, trail)
        except UnicodeEncodeError:
            document.add_text(TEXT, words.encode("utf-8", "replace").decode())
            document.add_text(TRAIL, trail.encode("utf-8", "replace").decode())
        try:
            self._writer.add_document(document)
        except BaseException:  # panics of Rust are no `Exception`
            with damaged_on_failure():
                raise

    def drop_document(self, doc_key: int) -> None:
        """Take out a document that was added since the last commit."""
        with damaged_on_failure():
            self._delete(DOC, doc_key)

    def commit(self, *, token: int, base: int) -> None:
        """Make the additions durable under ``token``; ``base`` is what readers may still hold."""
        marker = tantivy.Document()
        marker.add_unsigned(MARKER, 1)
        marker.add_unsigned(TOKEN, token)
        marker.add_unsigned(BASE, base)
        with damaged_on_failure():
            self._delete(MARKER, 1)
            self._writer.add_document(marker)
            self._writer.commit()
        restrict(self._path)

    def _delete(self, field: str, value: int) -> None:
        # Not delete_documents_by_term: in tantivy-py 0.27 it finds no unsigned integer.
        term = tantivy.Query.term_query(self._index.schema, field, value)
        self._writer.delete_documents_by_query(term)

    def close(self) -> None:
        """Drop what is not committed and end background merges."""
        with contextlib.suppress(Exception), damaged_on_failure():
            self._writer.rollback()
        with contextlib.suppress(Exception), damaged_on_failure():
            self._writer.wait_merging_threads()
        with contextlib.suppress(OSError):
            restrict(self._path)


def restrict(folder: Path) -> None:
    """Take the rights of everybody but the owner from files that tantivy made."""
    folder.chmod(DIRECTORY_MODE)
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mode & 0o077:
                path.chmod(FILE_MODE)
