"""Reading an archive that nobody vouches for: nothing of it is unpacked, chosen files are read."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from fingerpost.errors import RepositoryRefusedError, RepositoryUnavailableError
from fingerpost.repos.select import Entry

MAX_MEMBERS: Final = 100_000
MAX_RATIO: Final = 200
MAX_UNPACKED: Final = 2 * 2**30
_UNSUSPICIOUS: Final = 16 * 2**20
"""Unpacked bytes below which the ratio says nothing."""
_MAX_HEADER: Final = 64 * 2**10
"""Headers of a member are read at once, so this bounds memory."""
_STEP: Final = 2**18
# What a damaged stream, or headers that follow each other without end, make the readers raise.
_BROKEN: Final = (tarfile.TarError, zlib.error, gzip.BadGzipFile, RecursionError, ValueError)


class _Stream:
    """The unpacked bytes of an archive, forward only, as many as are allowed."""

    def __init__(self, file: IO[bytes], packed: int) -> None:
        self._file = file
        self._limit = min(MAX_UNPACKED, max(_UNSUSPICIOUS, MAX_RATIO * packed))
        self._at = 0
        self.most = _MAX_HEADER

    def read(self, n_bytes: int) -> bytes:
        if not 0 <= n_bytes <= self.most:
            raise RepositoryRefusedError(f"the archive has a header of {n_bytes:,} bytes")
        part = self._file.read(n_bytes)
        self._count(len(part))
        return part

    def tell(self) -> int:
        return self._at

    def seek(self, place: int, whence: int = 0) -> int:
        if whence or place < self._at:
            raise RepositoryRefusedError("the archive leads back to what was read")
        while self._at < place and (part := self._file.read(min(_STEP, place - self._at))):
            self._count(len(part))
        return self._at

    def _count(self, n_bytes: int) -> None:
        self._at += n_bytes
        if self._at > self._limit:
            raise RepositoryRefusedError(
                f"the archive unpacks to more than {self._limit:,} bytes, which no "
                "documentation does"
            )


def list_archive(place: Path) -> Iterator[Entry]:
    """Yield what a ``.tar.gz`` holds, the folder above all files taken off its paths.

    Raises:
        RepositoryRefusedError: It holds too much, or is made to harm.
        RepositoryUnavailableError: It is damaged or ends early.
    """
    with _opened(place) as (archive, stream):
        for _, entry in _members(archive):
            yield entry
        stream.seek(MAX_UNPACKED + 1)  # to the end, where the checksum of the whole stands


def read_archive(place: Path, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the wanted files, each once; raises as `list_archive` does.

    Args:
        place: The archive.
        wanted: Paths as `list_archive` gave them, of files only; each must fit in memory.
    """
    left = set(wanted)
    with _opened(place) as (archive, stream):
        for member, entry in _members(archive):
            if entry.kind != "file" or entry.path not in left:
                continue
            left.discard(entry.path)
            stream.most = _STEP
            yield entry.path, b"".join(_content(stream, member.size))
            stream.most = _MAX_HEADER
            if not left:
                return


def _content(stream: _Stream, size: int) -> Iterator[bytes]:
    while size > 0:
        part = stream.read(min(_STEP, size))
        if not part:
            raise EOFError
        size -= len(part)
        yield part


@contextmanager
def _opened(place: Path) -> Iterator[tuple[tarfile.TarFile, _Stream]]:
    try:
        with gzip.open(place) as file:
            stream = _Stream(cast("IO[bytes]", file), place.stat().st_size)
            with tarfile.open(fileobj=cast("Any", stream), mode="r:") as archive:
                yield archive, stream
    except EOFError:
        raise RepositoryUnavailableError("the archive ended early") from None
    except _BROKEN as error:
        kind = type(error).__name__
        raise RepositoryUnavailableError(f"the archive is damaged ({kind})") from None


def _members(archive: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, Entry]]:
    n_members = 0
    while (member := archive.next()) is not None:
        n_members += 1
        if n_members > MAX_MEMBERS:
            raise RepositoryRefusedError(f"the archive holds more than {MAX_MEMBERS:,} entries")
        # The reader remembers both for ever.
        archive.members.clear()  # type: ignore[attr-defined]
        archive.pax_headers.clear()  # type: ignore[attr-defined]
        if not member.isdir():
            yield member, _entry(member)


def _entry(member: tarfile.TarInfo) -> Entry:
    above, _, path = member.name.partition("/")
    if not path or above in ("", ".", ".."):  # as it is: to be refused where it leads elsewhere
        path = member.name
    if member.issym():
        return Entry(path, kind="symlink")
    if not member.isreg() or member.issparse():
        return Entry(path, kind="special")
    return Entry(path, member.size)
