"""The published rows of a segment in memory: sign bits by word, codes mapped from the file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.stores.base import IndexIdentity
from fingerpost.stores.embedded.vectors import (
    HEADER_BYTES,
    VectorsMissingError,
    check_header,
    codes_path,
    padded_width,
    row_type,
    rows_path,
    sums,
)

EXACT_ROWS = 4096
MIN_CANDIDATES = 400
CANDIDATES_PER_HIT = 8
_BLOCK_ROWS = 16384


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The first ``n_rows`` rows of a segment; later commits make a longer table.

    Attributes:
        bits: Sign bits, one array of rows per 64-bit word.
        cids: Content number by row; 0 for a damaged row.
        scales: Factor that gives the codes unit length.
        codes_sums: Checksum of each row of codes.
        codes: int8 codes, mapped from the file.
        n_damaged: Rows whose head does not match its checksum.
    """

    segment: int
    dimension: int
    n_rows: int
    bits: NDArray[np.uint64]
    cids: NDArray[np.int32]
    scales: NDArray[np.float32]
    codes_sums: NDArray[np.uint32]
    codes: NDArray[np.int8]
    n_damaged: int

    def rows_by_cid(self, n_cids: int) -> NDArray[np.int32]:
        """Return the row of each content number, -1 for one without a vector."""
        rows = np.full(n_cids, -1, np.int32)
        known = np.flatnonzero((self.cids > 0) & (self.cids < n_cids))
        rows[self.cids[known]] = known
        return rows

    def intact_rows(self) -> NDArray[np.bool_]:
        """Return which rows can be used: head and codes match their checksums."""
        intact = np.empty(self.n_rows, np.bool_)
        for start in range(0, self.n_rows, _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            codes = np.ascontiguousarray(self.codes[part])
            intact[part] = sums(codes.view(np.uint8)) == self.codes_sums[part]
        return intact & (self.cids > 0)

    def intact_cids(self) -> NDArray[np.int32]:
        """Return the content numbers that have a row that can be used."""
        return self.cids[self.intact_rows()]

    def without_damage(self) -> VectorTable:
        """Return the table with content number 0 for every row that cannot be used."""
        intact = self.intact_rows()
        return self if intact.all() else replace(self, cids=np.where(intact, self.cids, 0))

    def distances(self, query_bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Return how many signs differ from the query's, by row."""
        result = np.empty(self.n_rows, np.uint16)
        for start in range(0, self.n_rows, _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            counts = result[part]
            counts[:] = np.bitwise_count(self.bits[0, part] ^ query_bits[0])
            for word in range(1, len(query_bits)):
                counts += np.bitwise_count(self.bits[word, part] ^ query_bits[word])
        return result

    def floats(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the codes of rows before scaling, and which of them match their checksum."""
        codes = self.codes[rows]
        intact = sums(codes.view(np.uint8)) == self.codes_sums[rows]
        return codes[:, : self.dimension].astype(np.float32), intact

    def decoded(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the unit vectors of rows, and which of them match their checksum."""
        vectors, intact = self.floats(rows)
        vectors *= (self.scales[rows] * intact)[:, None]
        return vectors, intact


def empty_table(dimension: int) -> VectorTable:
    """Return a table without rows."""
    n_words = max(1, -(-dimension // 64))
    return VectorTable(
        segment=0,
        dimension=dimension,
        n_rows=0,
        bits=np.zeros((n_words, 0), np.uint64),
        cids=np.zeros(0, np.int32),
        scales=np.zeros(0, np.float32),
        codes_sums=np.zeros(0, np.uint32),
        codes=np.zeros((0, padded_width(dimension)), np.int8),
        n_damaged=0,
    )


def load_table(
    folder: Path,
    segment: int,
    identity: IndexIdentity,
    n_rows: int,
    shorter: VectorTable | None = None,
) -> VectorTable:
    """Return the published rows of a segment.

    Args:
        folder: Folder of the index.
        segment: Number of the segment.
        identity: What the ledger says about the embedder.
        n_rows: Published rows.
        shorter: A table of the same segment from an earlier generation: only what follows
            it is read.

    Raises:
        VectorsMissingError: A file is missing or holds fewer rows.
        IndexCorruptError: The header is not ours.
        IndexMismatchError: Made by another version, machine or embedder.
    """
    if n_rows == 0:
        return empty_table(identity.dimension)
    check_header(folder, segment, identity)
    known = shorter if shorter is not None and shorter.segment == segment else None
    if known is not None and known.n_rows > n_rows:
        known = None
    start = known.n_rows if known else 0
    heads = _heads(rows_path(folder, segment), identity.dimension, start, n_rows)
    raw = heads.view(np.uint8).reshape(len(heads), -1).copy()
    raw[:, 12:16] = 0
    intact = sums(raw) == heads["head_sum"]
    parts = {
        "bits": np.ascontiguousarray(heads["bits"].T),
        "cids": np.where(intact, heads["cid"], 0).astype(np.int32),
        "scales": np.ascontiguousarray(heads["scale"]),
        "codes_sums": np.ascontiguousarray(heads["codes_sum"]),
    }
    if known:
        parts = {
            name: np.concatenate([getattr(known, name), part], axis=part.ndim - 1)
            for name, part in parts.items()
        }
    return VectorTable(
        segment=segment,
        dimension=identity.dimension,
        n_rows=n_rows,
        codes=_codes(codes_path(folder, segment), identity.dimension, n_rows),
        n_damaged=(known.n_damaged if known else 0) + int((~intact).sum()),
        **parts,
    )


def _heads(path: Path, dimension: int, start: int, end: int) -> NDArray[np.void]:
    layout = row_type(dimension)
    try:
        heads = np.fromfile(
            path, layout, count=end - start, offset=HEADER_BYTES + start * layout.itemsize
        )
    except FileNotFoundError as error:
        raise VectorsMissingError(f"{path.name} is missing") from error
    if len(heads) < end - start:
        raise VectorsMissingError(f"{path.name} holds {start + len(heads)} of {end} rows")
    return heads


def _codes(path: Path, dimension: int, n_rows: int) -> NDArray[np.int8]:
    width = padded_width(dimension)
    try:
        if path.stat().st_size < n_rows * width:
            raise VectorsMissingError(f"{path.name} holds less than {n_rows} rows")
        mapped = np.memmap(path, np.int8, "r", shape=(n_rows, width))
    except FileNotFoundError as error:
        raise VectorsMissingError(f"{path.name} is missing") from error
    return mapped.view(np.ndarray)  # operations on a memmap itself take a slow path
