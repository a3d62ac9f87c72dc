"""What all readers of one generation share in a process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from fingerpost.stores.base import StoredChunk, VersionFolder
from fingerpost.stores.embedded.keymap import KeyMap
from fingerpost.stores.embedded.ledger import Generation
from fingerpost.stores.embedded.outline import Outline
from fingerpost.stores.embedded.selection import SelectedKeys
from fingerpost.stores.embedded.vector_search import (
    KeysByContent,
    RowIndex,
    keys_by_content,
    row_index,
)
from fingerpost.stores.embedded.vector_table import VectorTable, empty_table, load_table
from fingerpost.stores.embedded.vectors import VectorsMissingError
from fingerpost.stores.embedded.words import WordSearcher
from fingerpost.types.document import Document
from fingerpost.types.query import Filters

MAX_DOCUMENTS = 20_000
_MAX_SELECTIONS = 64
_MAX_CHUNKS = 2048
_MAX_FREQUENCIES = 8192
_MAX_OUTLINES = 1024
K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """What was read lately, by key; the oldest is forgotten when there are many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return a value that was kept, ``None`` when it is not there."""
        return self._values.get(key)

    def keep(self, key: K, value: V) -> None:
        """Remember a value."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)


def known_documents() -> Kept[int, Document]:
    """Return room for documents by key, which never means another one: generations share it."""
    return Kept(MAX_DOCUMENTS)


@dataclass(slots=True)
class Catalogue:
    """What stays the same while only vectors are added.

    Attributes:
        keymap: Visible keys.
        words: The word index, ``None`` when it cannot be used.
        dead_docs: Documents that are still in the word index but not visible.
        languages: Language codes by their number.
        documents: Documents that were read before, in this generation or an earlier one.
        chunks: Chunks that were read lately, by key.
        frequencies: In how many chunks a token stands, for those asked about lately.
        sound_tables: Tables whose indexes were compared with their rows in this process.
        all_documents: All documents with their keys, once a filter needed them.
        versions: Folders that stand for a version, once they were asked for.
        n_by_language: Visible chunks by language code, most first, once they were asked for.
    """

    keymap: KeyMap
    words: WordSearcher | None
    dead_docs: tuple[int, ...]
    languages: dict[int, str]
    documents: Kept[int, Document]
    sound_tables: set[str]
    chunks: Kept[int, StoredChunk] = field(default_factory=lambda: Kept(_MAX_CHUNKS))
    frequencies: Kept[str, int] = field(default_factory=lambda: Kept(_MAX_FREQUENCIES))
    all_documents: list[tuple[int, Document]] | None = None
    versions: tuple[VersionFolder, ...] | None = None
    n_by_language: dict[str, int] | None = None
    selections: OrderedDict[Filters, SelectedKeys] = field(default_factory=OrderedDict)
    outlines: Kept[int, Outline] = field(default_factory=lambda: Kept(_MAX_OUTLINES))
    lock: threading.Lock = field(default_factory=threading.Lock)
    _contents: KeysByContent | None = None

    def contents(self) -> KeysByContent:
        """Return the visible keys by content, made at the first call."""
        with self.lock:
            if self._contents is None:
                self._contents = keys_by_content(self.keymap)
            return self._contents

    def keep_selection(self, filters: Filters, selected: SelectedKeys) -> None:
        """Remember what passes a filter."""
        with self.lock:
            self.selections[filters] = selected
            if len(self.selections) > _MAX_SELECTIONS:
                self.selections.popitem(last=False)


class Snapshot:
    """One generation: its catalogue, and its vectors once they are asked for."""

    def __init__(
        self,
        folder: Path,
        generation: Generation,
        catalogue: Catalogue,
        notes: tuple[str, ...],
        before: Snapshot | None = None,
    ) -> None:
        self.generation = generation
        self.catalogue = catalogue
        self._folder = folder
        self._notes = notes
        self._lock = threading.Lock()
        self._table: VectorTable | None = None
        self._index: RowIndex | None = None
        self._shorter = before.loaded_table() if before is not None else None
        self._damage: set[str] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was repaired or is missing, for people."""
        return (*self._notes, *sorted(self._damage))

    def add_note(self, note: str) -> None:
        """Say something about damage that was met while searching."""
        self._damage.add(note)

    def loaded_table(self) -> VectorTable | None:
        """Return the vectors when they were asked for before."""
        return self._table

    def vectors(self) -> tuple[VectorTable, RowIndex]:
        """Return the vectors of this generation, loaded at the first call."""
        contents = self.catalogue.contents()
        with self._lock:
            if self._table is None or self._index is None:
                self._table = self._load().without_damage()
                n_cids = int(max(self.generation.next_cid, contents.cids.max(initial=0) + 1))
                self._index = row_index(self._table, contents, n_cids)
                self._shorter = None
                self._note_loss(int((self._index.row_of_cid[contents.cids] >= 0).sum()))
            return self._table, self._index

    def _load(self) -> VectorTable:
        generation = self.generation
        if generation.identity is None or generation.n_rows == 0:
            dimension = generation.identity.dimension if generation.identity else 0
            return empty_table(dimension)
        try:
            table = load_table(
                self._folder,
                generation.segment,
                generation.identity,
                generation.n_rows,
                self._shorter,
            )
        except VectorsMissingError as error:
            self.add_note(f"vectors: {error}; the next index run makes them anew")
            return empty_table(generation.identity.dimension)
        return table

    def _note_loss(self, n_found: int) -> None:
        n_lost = self.generation.n_vectors - n_found
        if n_lost and not self._damage:
            self.add_note(
                f"vectors: {n_lost} chunks lost theirs to damage; the next index run renews them"
            )


def visible_languages(catalogue: Catalogue) -> dict[str, int]:
    """Return chunk counts by language code, most first; every question asks for them."""
    if catalogue.n_by_language is None:
        keymap = catalogue.keymap
        ids = keymap.languages[keymap.cids > 0]
        counts = np.bincount(ids, minlength=1)
        found = {
            catalogue.languages.get(number, "und"): int(counts[number])
            for number in np.flatnonzero(counts).tolist()
        }
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        catalogue.n_by_language = dict(ordered)
    return dict(catalogue.n_by_language)
