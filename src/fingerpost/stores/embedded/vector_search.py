"""Nearest chunks by cosine: sign bits choose candidates, int8 codes rank them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fingerpost.errors import IndexMismatchError, StoreError
from fingerpost.stores.embedded.keymap import KeyMap
from fingerpost.stores.embedded.selection import SelectedKeys
from fingerpost.stores.embedded.vector_table import (
    CANDIDATES_PER_HIT,
    EXACT_ROWS,
    MIN_CANDIDATES,
    VectorTable,
)
from fingerpost.stores.embedded.vectors import sign_bits


@dataclass(frozen=True, slots=True)
class KeysByContent:
    """Visible chunk keys, ordered by content number, then key."""

    cids: NDArray[np.int32]
    keys: NDArray[np.int64]


def keys_by_content(keymap: KeyMap) -> KeysByContent:
    """Return the visible keys by content."""
    keys = keymap.live_keys()
    cids = keymap.cids[keys]
    order = np.argsort(cids, kind="stable")
    return KeysByContent(cids[order], keys[order])


@dataclass(frozen=True, slots=True)
class RowIndex:
    """Which rows of a table belong to visible chunks.

    Attributes:
        row_of_cid: Row by content number, -1 for none.
        live_rows: Rows of visible content, ascending.
        decoded: All codes of a small table as floats, and which rows are intact; ``None`` for a
            large one, whose candidates are decoded at each search.
    """

    row_of_cid: NDArray[np.int32]
    live_rows: NDArray[np.int64]
    decoded: tuple[NDArray[np.float32], NDArray[np.bool_]] | None = None


def row_index(table: VectorTable, contents: KeysByContent, n_cids: int) -> RowIndex:
    """Return the rows of a table that visible chunks have."""
    row_of_cid = table.rows_by_cid(n_cids)
    live = np.zeros(table.n_rows, np.bool_)
    rows = row_of_cid[contents.cids]
    live[rows[rows >= 0]] = True
    decoded = table.floats(np.arange(table.n_rows)) if table.n_rows <= EXACT_ROWS else None
    return RowIndex(row_of_cid, np.flatnonzero(live), decoded)


def nearest(
    vector: NDArray[np.float32],
    k: int,
    *,
    table: VectorTable,
    index: RowIndex,
    contents: KeysByContent,
    keymap: KeyMap,
    selected: SelectedKeys | None,
) -> tuple[list[tuple[int, float]], int]:
    """Return up to ``k`` (chunk key, cosine), best first, ties by key, and damaged rows met.

    Args:
        vector: Unit length.
        k: At least 1.
        table: Published vectors.
        index: Its visible rows.
        contents: Visible keys by content.
        keymap: Content by key.
        selected: What the search is limited to.
    """
    rows = index.live_rows
    if selected is not None:
        chosen = index.row_of_cid[keymap.cids[selected.keys]]
        inside = np.zeros(table.n_rows, np.bool_)
        inside[chosen[chosen >= 0]] = True
        rows = np.flatnonzero(inside)
    rows = _candidates(vector, rows, max(MIN_CANDIDATES, CANDIDATES_PER_HIT * k), table)
    products, intact = _products(vector, rows, table, index)
    rows = rows[intact]
    scores = np.clip(products[intact] * table.scales[rows], -1.0, 1.0)
    n_damaged = len(intact) - len(rows)
    best = _best(scores, k)
    keys, scores = _spread(table.cids[rows[best]], scores[best], contents)
    if selected is not None:
        kept = selected.mask[keys]
        keys, scores = keys[kept], scores[kept]
    order = np.lexsort((keys, -scores))[:k]
    return list(zip(keys[order].tolist(), scores[order].tolist(), strict=True)), n_damaged


def unit_vectors(
    rows: NDArray[np.int64], table: VectorTable, index: RowIndex
) -> NDArray[np.float32]:
    """Return the unit vectors of rows, all zeros for a damaged one."""
    if index.decoded is None:
        return table.decoded(rows)[0]
    values, intact = index.decoded
    found: NDArray[np.float32] = values[rows] * (table.scales[rows] * intact[rows])[:, None]
    return found


def _products(
    vector: NDArray[np.float32], rows: NDArray[np.int64], table: VectorTable, index: RowIndex
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the product of each row's codes with the vector, and which rows are intact.

    Row by row, not as one matrix product: BLAS threads would fight when many questions run.
    """
    if index.decoded is None:
        values, intact = table.floats(rows)
        return np.vecdot(values, vector), intact
    values, intact = index.decoded
    if len(rows) == table.n_rows:
        return np.vecdot(values, vector), intact
    return np.vecdot(values[rows], vector), intact[rows]


def _best(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the places of the ``k`` greatest scores and of all equal to the last of them.

    Every row has a chunk that may be returned, so no other can come among the first ``k``.
    """
    if len(scores) <= k:
        return np.arange(len(scores))
    last = np.partition(scores, -k)[-k]
    return np.flatnonzero(scores >= last)


def _candidates(
    vector: NDArray[np.float32], rows: NDArray[np.int64], wanted: int, table: VectorTable
) -> NDArray[np.int64]:
    """Return the rows worth an exact look: all when few, else those nearest by sign.

    All rows at the last distance come along, so that the choice does not depend on the order
    of rows.
    """
    if len(rows) <= max(EXACT_ROWS, wanted):
        return rows
    distances = table.distances(sign_bits(vector[None, :])[0])
    if len(rows) < table.n_rows:
        distances = distances[rows]
    counts = np.bincount(distances, minlength=table.dimension + 1)
    limit = int(np.searchsorted(np.cumsum(counts), wanted))
    near = np.flatnonzero(distances <= limit)
    return rows[near] if len(rows) < table.n_rows else near


def _spread(
    cids: NDArray[np.int32], scores: NDArray[np.float32], contents: KeysByContent
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Give every chunk of equal content the score of its content."""
    starts = np.searchsorted(contents.cids, cids, "left")
    counts = np.searchsorted(contents.cids, cids, "right") - starts
    offsets = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    places = offsets + np.arange(int(counts.sum()))
    return contents.keys[places], np.repeat(scores, counts)


def unit_vector(vector: NDArray[np.float32], dimension: int) -> NDArray[np.float32] | None:
    """Return the vector at unit length, ``None`` when it has no direction.

    Raises:
        IndexMismatchError: It has another length than those of the index.
        StoreError: A value is not finite.
    """
    values = np.asarray(vector, np.float32).reshape(-1)
    if len(values) != dimension:
        raise IndexMismatchError(
            f"The query's vector does not fit the index: dimension: expected {dimension}, "
            f"found {len(values)}.",
            hint="Use the embedder that the index was built with.",
        )
    if not np.isfinite(values).all():
        raise StoreError("The query's vector has values that are not finite.")
    length = float(np.sqrt(np.square(values, dtype=np.float64).sum()))
    return (values / length).astype(np.float32) if length > 0 else None
