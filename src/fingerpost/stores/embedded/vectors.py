"""Vector segments: an append-only pair of files with a checksum in every row.

``NNNN.rows`` starts with a header and holds, row by row, the content number, the scale, two
checksums and the sign bits; ``NNNN.codes`` holds the int8 codes. How many rows are published
stands in the ledger; whatever follows them is an unfinished commit and is ignored.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.errors import IndexMismatchError
from fingerpost.stores.base import IndexIdentity
from fingerpost.stores.embedded.border import corrupt, cure
from fingerpost.stores.embedded.files import Files

VECTORS_FOLDER = "vectors"
FORMAT_VERSION = 1
HEADER_BYTES = 4096
_MAGIC = b"FPVECTOR"
_WORD_BITS = 64
_SEED = 0x9E3779B9


class VectorsMissingError(Exception):
    """A segment file is missing or shorter than what was published."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a segment says about itself."""

    version: int
    embedder: str
    revision: str
    dimension: int
    normalisation: str
    endianness: str


def header_of(identity: IndexIdentity) -> Header:
    """Return the header that a segment of this index must have on this machine."""
    return Header(
        version=FORMAT_VERSION,
        embedder=identity.embedder,
        revision=identity.embedder_revision,
        dimension=identity.dimension,
        normalisation="unit",
        endianness=sys.byteorder,
    )


def rows_path(folder: Path, segment: int) -> Path:
    """Return the file of heads of a segment."""
    return folder / VECTORS_FOLDER / f"{segment:04d}.rows"


def codes_path(folder: Path, segment: int) -> Path:
    """Return the file of codes of a segment."""
    return folder / VECTORS_FOLDER / f"{segment:04d}.codes"


def row_type(dimension: int) -> np.dtype[np.void]:
    """Return the layout of a head."""
    n_words = -(-dimension // _WORD_BITS)
    return np.dtype(
        [
            ("cid", "<u4"),
            ("scale", "<f4"),
            ("codes_sum", "<u4"),
            ("head_sum", "<u4"),
            ("bits", "<u8", (n_words,)),
        ]
    )


def _weights(n_words: int) -> NDArray[np.uint32]:
    """Return odd constants: any single changed bit of a row changes the weighted sum."""
    steps = np.arange(1, n_words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (steps >> np.uint64(32)).astype(np.uint32) | np.uint32(1)


def sums(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return a checksum for each row of bytes; the width is a multiple of four."""
    words = rows.view("<u4")
    weighted = words * _weights(words.shape[1])
    total: NDArray[np.uint32] = weighted.sum(axis=1, dtype=np.uint32) + np.uint32(_SEED)
    return total


def padded_width(dimension: int) -> int:
    """Return the bytes of one row of codes: the dimension, rounded up to a multiple of four."""
    return -(-dimension // 4) * 4


def encode_header(header: Header) -> bytes:
    """Return the header's bytes: magic, length, CRC-32, JSON, zeros."""
    body = json.dumps(asdict(header), sort_keys=True).encode()
    head = _MAGIC + len(body).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little")
    return (head + body).ljust(HEADER_BYTES, b"\0")


def check_header(folder: Path, segment: int, identity: IndexIdentity) -> None:
    """Compare a segment's header with what the ledger says.

    Raises:
        IndexCorruptError: No header of ours.
        IndexMismatchError: Made by another version, machine or embedder; both are named.
        VectorsMissingError: There is no such file.
    """
    path = rows_path(folder, segment)
    name = f"{VECTORS_FOLDER}/{path.name}"
    try:
        with path.open("rb") as file:
            raw = file.read(HEADER_BYTES)
    except FileNotFoundError as error:
        raise VectorsMissingError(f"{name} is missing") from error
    if len(raw) < HEADER_BYTES:
        raise VectorsMissingError(f"{name} is cut")
    if raw[:8] != _MAGIC:
        raise corrupt(folder, name, f"it begins with {raw[:8]!r}, expected {_MAGIC!r}")
    length = int.from_bytes(raw[8:12], "little")
    body = raw[16 : 16 + length]
    if zlib.crc32(body) != int.from_bytes(raw[12:16], "little"):
        raise corrupt(folder, name, "the header does not match its checksum")
    try:
        found = json.loads(body)
    except ValueError as error:
        raise corrupt(folder, name, "the header is not readable") from error
    expected = asdict(header_of(identity))
    wrong = [
        f"{field}: expected {expected[field]!r}, found {found.get(field)!r}"
        for field in expected
        if found.get(field) != expected[field]
    ]
    if wrong:
        raise IndexMismatchError(
            f"The vectors in {path} do not fit the index: {'; '.join(wrong)}.",
            hint=cure(folder),
        )


def encode(
    cids: NDArray[np.int64], vectors: NDArray[np.float32]
) -> tuple[NDArray[np.void], NDArray[np.int8]]:
    """Return heads and codes for finite vectors; they need not have unit length."""
    n_vectors, dimension = vectors.shape
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    codes = np.zeros((n_vectors, padded_width(dimension)), np.int8)
    codes[:, :dimension] = np.rint(scaled * 127.0)
    lengths = np.sqrt(np.square(codes.astype(np.float32)).sum(axis=1))
    heads = np.zeros(n_vectors, row_type(dimension))
    heads["cid"] = cids
    heads["scale"] = np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0)
    heads["bits"] = sign_bits(vectors)
    heads["codes_sum"] = sums(codes.view(np.uint8))
    heads["head_sum"] = sums(heads.view(np.uint8).reshape(n_vectors, -1))
    return heads, codes


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the signs of each row as bits in 64-bit words, filled up with zeros."""
    n_vectors, dimension = vectors.shape
    n_bytes = -(-dimension // _WORD_BITS) * 8
    packed = np.zeros((n_vectors, n_bytes), np.uint8)
    packed[:, : -(-dimension // 8)] = np.packbits(vectors > 0, axis=1)
    return packed.view("<u8")


class SegmentAppender:
    """The writer's end of a segment. Rows beyond those published are cut off at opening."""

    def __init__(
        self, folder: Path, segment: int, identity: IndexIdentity, n_rows: int, files: Files
    ) -> None:
        self._files = files
        self._dimension = identity.dimension
        files.make_folder(folder / VECTORS_FOLDER)
        flags = os.O_WRONLY | os.O_CREAT
        self._rows = files.open(rows_path(folder, segment), flags)
        self._codes = -1
        try:
            self._codes = files.open(codes_path(folder, segment), flags)
            if n_rows == 0:
                files.truncate(self._rows, 0)
                files.write(self._rows, encode_header(header_of(identity)))
                files.sync_folder(folder / VECTORS_FOLDER)
            rows_end = HEADER_BYTES + n_rows * row_type(self._dimension).itemsize
            codes_end = n_rows * padded_width(self._dimension)
            for descriptor, end in ((self._rows, rows_end), (self._codes, codes_end)):
                files.truncate(descriptor, end)
                os.lseek(descriptor, end, os.SEEK_SET)
        except BaseException:
            self.close()
            raise

    def append(self, cids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Write rows; they are not durable before `sync`."""
        heads, codes = encode(cids, vectors)
        self._files.write(self._codes, codes.tobytes())
        self._files.write(self._rows, heads.tobytes())

    def sync(self) -> None:
        """Make all rows durable."""
        self._files.sync(self._codes)
        self._files.sync(self._rows)

    def close(self) -> None:
        """Release the files."""
        for descriptor in (self._rows, self._codes):
            if descriptor >= 0:
                os.close(descriptor)
        self._rows = self._codes = -1
