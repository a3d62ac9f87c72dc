"""The vectors of the one writer: what is there, what is missing, what joins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.errors import IndexCorruptError, IndexMismatchError, StoreError
from fingerpost.stores.base import IndexIdentity
from fingerpost.stores.embedded.files import Files
from fingerpost.stores.embedded.ledger import Generation
from fingerpost.stores.embedded.vector_table import load_table
from fingerpost.stores.embedded.vectors import SegmentAppender, VectorsMissingError


class VectorWriter:
    """Which content has a vector, and the end of the segment that new ones are added to."""

    def __init__(
        self, folder: Path, identity: IndexIdentity, base: Generation, files: Files
    ) -> None:
        self._folder = folder
        self._identity = identity
        self._files = files
        self._appender: SegmentAppender | None = None
        self._have = np.zeros(base.next_cid + 1, np.bool_)
        self.segment = base.segment
        self.n_rows = base.n_rows
        self.notes: tuple[str, ...] = ()
        self.changed = False
        if self.n_rows:
            self._load()

    def _load(self) -> None:
        try:
            table = load_table(self._folder, self.segment, self._identity, self.n_rows)
        except (VectorsMissingError, IndexCorruptError, IndexMismatchError) as error:
            self.notes = (f"vectors: dropped, to be made anew: {error}",)
            self.drop()
            return
        intact = table.intact_cids()
        self._reserve(int(intact.max(initial=0)) + 1)
        self._have[intact] = True

    def drop(self) -> None:
        """Start a new segment; every content is without a vector again."""
        self.close()
        self.segment += 1
        self.n_rows = 0
        self._have[:] = False
        self.changed = True

    def lacks(self, cids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each content number whether it has no vector yet."""
        self._reserve(int(cids.max(initial=0)) + 1)
        missing: NDArray[np.bool_] = ~self._have[cids]
        return missing

    def add(self, cids: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Add vectors by content number; those that are there already are left alone.

        Raises:
            StoreError: Wrong shape, or a value that is not finite.
        """
        values = np.asarray(vectors, np.float32)
        dimension = self._identity.dimension
        if not len(cids) and not values.size:
            return
        if not dimension or values.shape != (len(cids), dimension):
            raise StoreError(
                f"Vectors of shape {values.shape} do not fit {len(cids)} keys of dimension "
                f"{dimension}."
            )
        if not np.isfinite(values).all():
            raise StoreError("A vector has a value that is not finite; none was kept.")
        numbers = np.asarray(cids, np.int64)
        _, first = np.unique(numbers, return_index=True)
        first.sort()
        new = first[self.lacks(numbers[first].astype(np.int32))]
        if not len(new):
            return
        if self._appender is None:
            self._open()
        assert self._appender is not None
        self._appender.append(numbers[new], values[new])
        self._have[numbers[new]] = True
        self.n_rows += len(new)
        self.changed = True

    def _open(self) -> None:
        if self.segment == 0:
            self.segment = 1
        self._appender = SegmentAppender(
            self._folder, self.segment, self._identity, self.n_rows, self._files
        )

    def sync(self) -> None:
        """Make everything added durable."""
        if self._appender is not None:
            self._appender.sync()

    def close(self) -> None:
        """Release the files; rows that no commit published are cut off by the next writer."""
        if self._appender is not None:
            self._appender.close()
            self._appender = None

    def _reserve(self, n_cids: int) -> None:
        if n_cids > len(self._have):
            grown = np.zeros(max(n_cids, 2 * len(self._have)), np.bool_)
            grown[: len(self._have)] = self._have
            self._have = grown
