"""What one document adds to the graph: its tree of headings, its anchors and its names."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.text.anchors import anchor_of
from fingerpost.text.names import borne_number
from fingerpost.types.document import Chunk

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CRC_BYTES = 4
_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Outline:
    """One document as the graph sees it; lists are by the ordinal of the chunk.

    Attributes:
        first_key: Key of its first chunk.
        parents: Ordinal of the chunk that opens the section above, or the chunk's own section
            when it does not open one; -1 for the first chunk.
        anchors: CRC of the anchor that leads to a chunk, 0 when none does.
        borne: Number of the name that the chunk's heading bears, 0 when none; of the first
            chunk, of the title.
        names: Numbers of the names in a chunk; of one that opens a section also a number below
            0 for its heading.
    """

    first_key: int
    parents: list[int]
    anchors: list[int]
    borne: list[int]
    names: list[tuple[int, ...]]

    def at_anchor(self, anchor: str) -> int:
        """Return the ordinal that an anchor leads to, 0 without one or when it is unknown."""
        if not anchor:
            return 0
        number = anchor_number(anchor)
        return self.anchors.index(number) if number in self.anchors else 0

    def below(self, ordinal: int) -> list[int]:
        """Return the chunks whose parent a chunk is, in order."""
        return [place for place, parent in enumerate(self.parents) if parent == ordinal]


def outline_of(
    title: str, chunks: Sequence[Chunk], names: Sequence[Sequence[int]], first_key: int
) -> Outline:
    """Return the outline of a document.

    Args:
        title: Of the document.
        chunks: In order.
        names: For each chunk, see `text.names.name_numbers`.
        first_key: Key of the first chunk.
    """
    opened: dict[tuple[str, ...], int] = {}
    parents, anchors, borne, known = [], [], [], []
    for place, (chunk, own) in enumerate(zip(chunks, names, strict=True)):
        path = chunk.heading_path
        opens = path not in opened
        parents.append(_above(opened, path) if opens else opened[path])
        opened.setdefault(path, place)
        heading = path[-1] if path and opens else ""
        anchor = anchor_number(heading) if heading else 0
        anchors.append(anchor)
        named = title if place == 0 else heading
        borne.append(borne_number(named) if named else 0)
        # A document that is moved brings its headings' numbers along.
        known.append((*own, -anchor) if anchor and -anchor not in own else tuple(own))
    parents[:1] = [-1] * len(parents[:1])
    return Outline(first_key, parents, anchors, borne, known)


@lru_cache(maxsize=4096)
def anchor_number(heading: str) -> int:
    """Return the number of a heading's anchor, 0 for an empty one."""
    anchor = anchor_of(heading)
    return zlib.crc32(anchor.encode("utf-8", "surrogatepass")) or 1 if anchor else 0


def encode_outline(outline: Outline) -> bytes:
    """Return an outline as bytes with a checksum before them."""
    sizes = [len(some) for some in outline.names]
    flat = [number for some in outline.names for number in some]
    head = [outline.first_key, len(outline.parents)]
    values = [*head, *outline.parents, *outline.anchors, *outline.borne, *sizes, *flat]
    body = np.array(values, "<i8").tobytes()
    return zlib.crc32(body).to_bytes(_CRC_BYTES, "little") + body


def decode_outline(raw: Any, doc_key: int, folder: Path) -> Outline:
    """Undo `encode_outline`.

    Raises:
        IndexCorruptError: The bytes are not what was written.
    """
    if raw.__class__ is not bytes or zlib.crc32(raw[_CRC_BYTES:]) != int.from_bytes(
        raw[:_CRC_BYTES], "little"
    ):
        raise corrupt(folder, DATABASE_FILE, f"the outline of document {doc_key} is damaged")
    values: NDArray[np.int64] = np.frombuffer(raw, "<i8", offset=_CRC_BYTES)
    first_key, n_chunks = (int(value) for value in values[:2])
    rows = values[2 : 2 + _COLUMNS * n_chunks].reshape(_COLUMNS, n_chunks).tolist()
    flat = values[2 + _COLUMNS * n_chunks :].tolist()
    names, at = [], 0
    for size in rows[3]:
        names.append(tuple(flat[at : at + size]))
        at += size
    return Outline(first_key, rows[0], rows[1], rows[2], names)


def _above(opened: dict[tuple[str, ...], int], path: tuple[str, ...]) -> int:
    for length in range(len(path) - 1, -1, -1):
        if path[:length] in opened:
            return opened[path[:length]]
    return 0
