"""The graph as it is read: what stands beside, above, below, is linked with or shares a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fingerpost.stores.base import EdgeKind, Neighbour
from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.graph_writer import BEARS, MENTIONS
from fingerpost.stores.embedded.outline import Outline, decode_outline
from fingerpost.stores.embedded.rows import to_bytes, to_text
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.stores.embedded.selection import SelectedKeys
from fingerpost.stores.embedded.snapshot import Catalogue
from fingerpost.types.document import Document

MOST_SHARED = 16
MOST_BEARERS = 4
_MOST_BELOW = 32
_MOST_LINKED = 32

_LINKS_OUT = "SELECT source, target, anchor FROM links WHERE doc_key = ? AND ordinal = ?"
_LINKS_IN = "SELECT doc_key, ordinal, anchor FROM links WHERE source = ? AND target = ? LIMIT ?"
_AT_PATH = "SELECT doc_key FROM documents WHERE source = ? AND path = ?"
_NAMED = "SELECT key FROM mentions WHERE name = ? AND role = ? LIMIT ?"

Rows = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


@dataclass(slots=True)
class Graph:
    """Edges around chunks in one generation; lives for one call.

    Attributes:
        rows: Runs a statement.
        folder: Of the index, for errors.
        catalogue: Of the generation.
        selected: What the neighbours are kept within, ``None`` for all.
        documents: Gives documents by key.
    """

    rows: Rows
    folder: Path
    catalogue: Catalogue
    selected: SelectedKeys | None
    documents: Callable[[set[int]], dict[int, Document]]
    _named: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def neighbours(self, keys: Sequence[int]) -> dict[int, list[Neighbour]]:
        """Return the neighbours of each visible chunk, each once, in a fixed order."""
        keymap = self.catalogue.keymap
        known = [key for key in keys if 0 < key < len(keymap.cids) and keymap.cids[key] > 0]
        return {key: self._around(int(keymap.docs[key]), key) for key in known}

    def _around(self, doc_key: int, key: int) -> list[Neighbour]:
        outline = self._outline(doc_key)
        ordinal = key - outline.first_key
        found: dict[int, Neighbour] = {}
        for one in (
            *self._links(doc_key, outline, ordinal),
            *self._names(outline, ordinal),
            *_tree(outline, ordinal),
        ):
            if one.key != key and self._admits(one.key):
                found.setdefault(one.key, one)
        return list(found.values())

    def _links(self, doc_key: int, outline: Outline, ordinal: int) -> list[Neighbour]:
        """Return where a chunk's links lead to, and the chunks whose links lead to it."""
        found: list[Neighbour] = []
        for source, target, anchor in self.rows(_LINKS_OUT, (doc_key, ordinal)):
            for (other,) in self.rows(_AT_PATH, (source, target)):
                there = self._outline(other)
                place = there.at_anchor(to_text(anchor))
                found.append(Neighbour(there.first_key + place, EdgeKind.LINK))
        if ordinal and not outline.anchors[ordinal]:
            return found
        document = self.documents({doc_key})[doc_key]
        values = (to_bytes(document.source), to_bytes(document.path), _MOST_LINKED + 1)
        incoming = self.rows(_LINKS_IN, values)
        if len(incoming) > _MOST_LINKED:  # what everything links to says nothing
            return found
        for other, at, anchor in incoming:
            if outline.at_anchor(to_text(anchor)) == ordinal:
                key = self._outline(other).first_key + at
                found.append(Neighbour(key, EdgeKind.LINK, len(incoming)))
        return found

    def _names(self, outline: Outline, ordinal: int) -> list[Neighbour]:
        """Return who bears or mentions the names in a chunk, and who mentions the one it bears."""
        found: list[Neighbour] = []
        for name in outline.names[ordinal]:
            bearers = self._keys(name, BEARS, MOST_BEARERS)
            found += [Neighbour(key, EdgeKind.NAMED, len(bearers)) for key in bearers]
            sharers = self._keys(name, MENTIONS, MOST_SHARED)
            found += [Neighbour(key, EdgeKind.SHARED, len(sharers)) for key in sharers]
        borne = outline.borne[ordinal]
        if borne:
            sharers = self._keys(borne, MENTIONS, MOST_SHARED)
            found += [Neighbour(key, EdgeKind.NAMED, len(sharers)) for key in sharers]
        return found

    def _keys(self, name: int, role: int, most: int) -> list[int]:
        """Return the chunks that have a name in a role; none when there are more than ``most``."""
        found = self._named.get((name, role))
        if found is None:
            rows = self.rows(_NAMED, (name, role, most + 1))
            found = [row[0] for row in rows] if len(rows) <= most else []
            self._named[name, role] = found
        return found

    def _admits(self, key: int) -> bool:
        cids = self.catalogue.keymap.cids
        if not 0 < key < len(cids):
            return False
        return bool(cids[key] > 0 if self.selected is None else self.selected.mask[key])

    def _outline(self, doc_key: int) -> Outline:
        outlines = self.catalogue.outlines
        found = outlines.get(doc_key)
        if found is None:
            rows = self.rows("SELECT content FROM outlines WHERE doc_key = ?", (doc_key,))
            if not rows:
                raise corrupt(
                    self.folder, DATABASE_FILE, f"the outline of document {doc_key} is missing"
                )
            found = decode_outline(rows[0][0], doc_key, self.folder)
            outlines.keep(doc_key, found)
        return found


def _tree(outline: Outline, ordinal: int) -> list[Neighbour]:
    first, last = outline.first_key, len(outline.parents) - 1
    beside = [place for place in (ordinal - 1, ordinal + 1) if 0 <= place <= last]
    found = [Neighbour(first + place, EdgeKind.BESIDE) for place in beside]
    parent = outline.parents[ordinal]
    if parent >= 0:
        found.append(Neighbour(first + parent, EdgeKind.SECTION))
    below = outline.below(ordinal)[:_MOST_BELOW]
    found += [Neighbour(first + place, EdgeKind.SECTION, len(below)) for place in below]
    return found
