"""The files of a folder and their bytes, and nothing from outside it.

This is the only place of the room that touches the file system to read documents. No symlink
is followed, only regular files are opened, and what was opened is compared with what was
listed; the folders on the way are opened one below the other without following links, so that
a folder that is swapped for a symlink while we walk leads nowhere.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from fingerpost.corpus.formats import (
    format_of,
    is_named_description,
    is_unsupported,
    sniffed_format,
    why_unsupported,
)
from fingerpost.corpus.locate import (
    ENVIRONMENT_MARK,
    CorpusRoot,
    is_ignored_folder,
    may_hold,
    pattern_of,
)
from fingerpost.corpus.openapi import SNIFFED_BYTES, says_openapi
from fingerpost.types.document import SkippedFile

MAX_DEPTH = 64
"""Folders above a file, below its root; what lies deeper is skipped."""
_SEARCHED_BYTES = 16 * 2**20
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_REGULAR = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_LINK_ERRORS = (errno.ELOOP, errno.ENOTDIR)
_HAS_DIR_FD = os.open in os.supports_dir_fd and os.scandir in os.supports_fd


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file that is a document by its name.

    Attributes:
        parts: Names from the root's folder down to the file, as the system spells them.
        path: The same as a POSIX path that is valid Unicode.
        size: Bytes when it was listed.
        device: Device number when it was listed.
        inode: Inode number when it was listed.
        n_links: Hard links when it was listed.
    """

    parts: tuple[str, ...]
    path: str
    size: int
    device: int
    inode: int
    n_links: int = 1


_INSIDE = "links are not followed"


class FileRefusedError(Exception):
    """A file is not read; ``reason`` and ``detail`` are those of `SkippedFile`."""

    def __init__(self, reason: str, detail: str) -> None:
        """Keep why."""
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(slots=True)
class Folder:
    """An open root folder. Use as a context manager.

    Attributes:
        root: What it is the folder of.
        skipped: Files and folders that were passed over, with the reason.
    """

    root: CorpusRoot
    skipped: list[SkippedFile] = field(default_factory=list)
    _descriptors: dict[tuple[str, ...], int] = field(default_factory=dict)
    _include: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        """Open the folder.

        Raises:
            OSError: It is gone or may not be read.
        """
        if _HAS_DIR_FD:
            # The root itself was resolved when it was located: it is the user's own choice.
            self._descriptors[()] = os.open(self.root.folder, _DIRECTORY)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all folders."""
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()

    def files(self, *, everything: bool = False) -> Iterator[FoundFile]:
        """Yield the documents in the order of their paths; what is passed over is listed.

        Args:
            everything: Whether all are meant, whatever the root includes.
        """
        include = () if everything else self.root.include
        self._include = include
        patterns = [pattern_of(glob) for glob in include]
        named = set(include)

        def wanted(path: str) -> bool:
            if path in named:
                return True
            if not format_of(path):
                if is_unsupported(path) and (not patterns or _any(patterns, path)):
                    self._skip(path, "unsupported", why_unsupported(path))
                return False
            return not patterns or _any(patterns, path)

        def maybe(path: str) -> bool:
            return bool(sniffed_format(path)) and (not patterns or _any(patterns, path))

        for file in self._below((), wanted, maybe):
            if not sniffed_format(file.path) or self._describes(file):
                yield file
            elif file.path in named:
                self._skip(file.path, "unsupported", "it is no OpenAPI description")

    def _describes(self, file: FoundFile) -> bool:
        """Tell whether a file of data is a document by how it begins.

        One that carries it in its name is searched whole, since its keys may be sorted, or is
        taken for one where it is very large: whoever reads it says so.
        """
        whole = is_named_description(file.path)
        if whole and file.size > _SEARCHED_BYTES:
            return True
        with suppress(OSError, FileRefusedError):
            descriptor = self._open_file(file)
            try:
                head = _read_all(descriptor, SNIFFED_BYTES, file.size if whole else SNIFFED_BYTES)
            finally:
                os.close(descriptor)
            return says_openapi(head.decode("utf-8", "replace"))
        return False

    def _below(
        self,
        parts: tuple[str, ...],
        wanted: Callable[[str], bool],
        maybe: Callable[[str], bool],
    ) -> Iterator[FoundFile]:
        try:
            entries = self._entries(parts)
        except (OSError, FileRefusedError) as error:
            self._skip("/".join(parts), *why_refused(error))
            return
        for name, status in entries:
            below = (*parts, name)
            path = readable("/".join(below))
            if stat.S_ISDIR(status.st_mode):
                if is_ignored_folder(name) or not self._leads_on(below):
                    continue
                if len(below) > MAX_DEPTH:
                    self._skip(path, "limit", f"more than {MAX_DEPTH} folders deep")
                else:
                    yield from self._below(below, wanted, maybe)
                    self._close(below)
            elif stat.S_ISREG(status.st_mode):
                if maybe(path) or wanted(path):
                    yield FoundFile(
                        below, path, status.st_size, status.st_dev, status.st_ino, status.st_nlink
                    )
            elif stat.S_ISLNK(status.st_mode):
                self._link(below, path, wanted)
            elif format_of(path):
                self._skip(path, "not-regular", "a pipe, socket or device")

    def _leads_on(self, parts: tuple[str, ...]) -> bool:
        """Tell whether a folder can hold a document that is meant; others are none of ours."""
        return not self._include or any(may_hold(glob, parts) for glob in self._include)

    def _link(self, parts: tuple[str, ...], path: str, wanted: Callable[[str], bool]) -> None:
        """List a symlink that would have been a document or a folder of documents."""
        place = self.root.folder.joinpath(*parts)
        is_wanted = wanted(path)
        if not is_wanted and not self._leads_on(parts):
            return
        detail = "it leads nowhere"
        with suppress(OSError, RuntimeError, ValueError):
            inside = place.resolve(strict=True).is_relative_to(self.root.folder)
            detail = _INSIDE if inside else "it leads out of the folder"
        if is_wanted or (detail != _INSIDE and not is_ignored_folder(parts[-1])) or place.is_dir():
            self._skip(path, "symlink", detail)

    def _entries(self, parts: tuple[str, ...]) -> list[tuple[str, os.stat_result]]:
        place = self._open(parts) if _HAS_DIR_FD else self.root.folder.joinpath(*parts)
        found: list[tuple[str, os.stat_result]] = []
        with os.scandir(place) as entries:
            for entry in entries:
                try:
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
                except OSError as error:
                    self._skip("/".join((*parts, entry.name)), *why_refused(error))
        if parts and any(name == ENVIRONMENT_MARK for name, _ in found):
            raise FileRefusedError("ignored", "a Python virtual environment")
        return sorted(found, key=lambda one: one[0])

    def _open(self, parts: tuple[str, ...]) -> int:
        """Return a descriptor of a folder below the root, opened without following links."""
        known = self._descriptors.get(parts)
        if known is not None:
            return known
        above = self._open(parts[:-1])
        before = os.stat(parts[-1], dir_fd=above, follow_symlinks=False)
        descriptor = os.open(parts[-1], _DIRECTORY, dir_fd=above)
        after = os.fstat(descriptor)
        if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
            os.close(descriptor)
            raise FileRefusedError("changed-while-read", "the folder was replaced")
        self._descriptors[parts] = descriptor
        return descriptor

    def _close(self, parts: tuple[str, ...]) -> None:
        descriptor = self._descriptors.pop(parts, None)
        if descriptor is not None:
            os.close(descriptor)

    def _close_others(self, parts: tuple[str, ...]) -> None:
        """Close the folders that are not above a file in ``parts``."""
        for known in [one for one in self._descriptors if one != parts[: len(one)]]:
            self._close(known)

    def read(self, file: FoundFile, *, max_bytes: int) -> bytes:
        """Return the bytes of a file that was listed.

        Raises:
            FileRefusedError: It is too large, gone, no regular file any more, not the file
                that was listed, or changes each time that it is read.
            OSError: It may not be read.
        """
        if file.size > max_bytes:
            raise FileRefusedError("too-large", f"{_mib(file.size)}, limit {_mib(max_bytes)}")
        for _ in range(2):
            raw = self._read_once(file, max_bytes)
            if raw is not None:
                return raw
        raise FileRefusedError("changed-while-read", "it changed twice while it was read")

    def _read_once(self, file: FoundFile, max_bytes: int) -> bytes | None:
        """Return the bytes, ``None`` when the file changed meanwhile."""
        descriptor = self._open_file(file)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise FileRefusedError("not-regular", "it is no regular file any more")
            if before.st_size > max_bytes:
                raise FileRefusedError(
                    "too-large", f"{_mib(before.st_size)}, limit {_mib(max_bytes)}"
                )
            raw = _read_all(descriptor, before.st_size, max_bytes)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        steady = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        return raw if steady and len(raw) == after.st_size else None

    def _open_file(self, file: FoundFile) -> int:
        if not _HAS_DIR_FD:
            path = self.root.folder.joinpath(*file.parts)
            if not path.resolve().is_relative_to(self.root.folder) or path.is_symlink():
                raise FileRefusedError("symlink", "it leads out of the folder")
            return os.open(path, _REGULAR)
        self._close_others(file.parts[:-1])
        descriptor = os.open(file.parts[-1], _REGULAR, dir_fd=self._open(file.parts[:-1]))
        status = os.fstat(descriptor)
        # An editor that saves by renaming gives a new inode on the same device: that is fine.
        if status.st_dev != file.device or status.st_nlink > file.n_links:
            os.close(descriptor)
            raise FileRefusedError("changed-while-read", "the file was replaced")
        return descriptor

    def _skip(self, path: str, reason: str, detail: str) -> None:
        self.skipped.append(SkippedFile(self.shown(path), reason, detail))

    def shown(self, path: str) -> str:
        """Return the path of a file as people are shown it."""
        return f"{readable(self.root.shown)}/{readable(path)}".rstrip("/")


def read_below(folder: Path, path: str, max_bytes: int) -> bytes:
    """Return the bytes of one regular file below a folder, at most ``max_bytes`` and one more.

    Args:
        folder: Itself free of links.
        path: POSIX path relative to it; no part of it may be a link.
        max_bytes: More is not read.

    Raises:
        FileRefusedError: It is no regular file, or a link is on the way.
        OSError: It is not there or may not be read.
    """
    descriptor = _opened_below(folder, path.split("/"))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileRefusedError("not-regular", "it is no regular file any more")
        return _read_all(descriptor, status.st_size, max_bytes)
    finally:
        os.close(descriptor)


def _opened_below(folder: Path, parts: Sequence[str]) -> int:
    if any(part in ("", ".", "..") for part in parts):
        raise FileRefusedError("symlink", "it leads out of the folder")
    if not _HAS_DIR_FD:
        place = folder.joinpath(*parts)
        if place.resolve() != place:
            raise FileRefusedError("symlink", "it leads out of the folder")
        return os.open(place, _REGULAR)
    with ExitStack() as above:
        descriptor = os.open(folder, _DIRECTORY)
        above.callback(os.close, descriptor)
        try:
            for part in parts[:-1]:
                descriptor = os.open(part, _DIRECTORY, dir_fd=descriptor)
                above.callback(os.close, descriptor)
            return os.open(parts[-1], _REGULAR, dir_fd=descriptor)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise FileRefusedError("symlink", "it was replaced by a link") from error
            raise


def _read_all(descriptor: int, size: int, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    left = max_bytes + 1
    step = size + 1
    while left > 0:
        part = os.read(descriptor, min(step, left))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _any(patterns: list[re.Pattern[str]], path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern in patterns)


def readable(path: str) -> str:
    """Return a path that is valid Unicode; bytes that are not UTF-8 are shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def why_refused(error: OSError | FileRefusedError) -> tuple[str, str]:
    """Return reason and detail of `SkippedFile` for a file that could not be read."""
    if isinstance(error, FileRefusedError):
        return error.reason, error.detail
    if isinstance(error, FileNotFoundError):
        return "changed-while-read", "it is gone"
    if error.errno in _LINK_ERRORS:
        return "symlink", "it was replaced by a link"
    return "unreadable", error.strerror or type(error).__name__


def _mib(size: int) -> str:
    return f"{size / 1048576:.1f} MiB"
