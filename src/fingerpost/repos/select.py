"""Which files of a repository are its documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from fingerpost.types.document import SkippedFile

_README: Final = re.compile(r"readme(?:[._-].*)?", re.IGNORECASE)
_DOCS: Final = frozenset({"doc", "docs", "documentation", "guide", "guides", "wiki"})
_MAX_PART_BYTES: Final = 255
_MAX_PATH_BYTES: Final = 1024
_MAX_LISTED: Final = 200
_UNUSUAL: Final = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')


@dataclass(frozen=True, slots=True)
class Entry:
    """What a commit has at a path.

    Attributes:
        path: As it is written there; may be anything.
        size: Bytes, 0 when unknown.
        kind: ``special`` is what git has no word for: devices, hard links of an archive.
        key: Git's hash of the content, empty when unknown.
    """

    path: str
    size: int = 0
    kind: Literal["file", "symlink", "submodule", "special"] = "file"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a repository is taken.

    Attributes:
        max_files: Files beyond it are left out, those far from the root first.
        max_file_bytes: A larger file is skipped.
        max_bytes: More is not fetched.
        max_depth: A file in more folders is skipped.
        is_document: Tells by a path whether a file of it would be read.
    """

    max_files: int
    max_file_bytes: int
    max_bytes: int
    max_depth: int
    is_document: Callable[[str], bool]


@dataclass(slots=True)
class Selection:
    """The documentation of one commit.

    Attributes:
        entries: What is read, in the order of their rank.
        skipped: What is passed over though a reader may miss it; the first 200.
        n_left_out: Documents beyond the limits.
    """

    entries: list[Entry] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    n_left_out: int = 0

    def skip(self, path: str, reason: str, detail: str) -> None:
        """List something that is passed over."""
        if len(self.skipped) < _MAX_LISTED:
            self.skipped.append(SkippedFile(shown_path(path), reason, detail))


def select(entries: Iterable[Entry], limits: Limits) -> Selection:
    """Return the documents nearest to the root, and what is passed over.

    Of files in folders equally deep a README comes first, then those in a folder of
    documentation, then the others, each by path.
    """
    found = Selection()
    documents: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind != "submodule" and not limits.is_document(entry.path):
            continue
        fault = _fault(entry, limits)
        if fault is None and entry.path in documents:
            fault = "not-regular", "a second file of the same name"
        if fault is None:
            documents[entry.path] = entry
        else:
            found.skip(entry.path, *fault)
    ranked = sorted(documents.values(), key=rank)
    total = 0
    for place, entry in enumerate(ranked):
        total += entry.size
        if place >= limits.max_files or total > limits.max_bytes:
            found.n_left_out = len(ranked) - place
            break
        found.entries.append(entry)
    return found


def _fault(entry: Entry, limits: Limits) -> tuple[str, str] | None:
    """Return why an entry is passed over (reason, detail), ``None`` when it is not."""
    if entry.kind == "submodule":
        return "not-regular", "a submodule: another repository"
    if fault := path_fault(entry.path):
        return "not-regular", fault
    if entry.kind == "symlink":
        return "symlink", "links are not followed"
    if entry.kind == "special":
        return "not-regular", "neither a file nor a folder"
    if entry.path.count("/") > limits.max_depth:
        return "limit", f"more than {limits.max_depth} folders deep"
    if entry.size > limits.max_file_bytes:
        return "too-large", f"{entry.size:,} bytes, limit {limits.max_file_bytes:,}"
    return None


def rank(entry: Entry) -> tuple[int, bool, bool, str]:
    """Return what files are ordered by."""
    *folders, name = entry.path.split("/")
    is_docs = any(part.lower() in _DOCS for part in folders)
    return len(folders), not _README.fullmatch(name), not is_docs, entry.path


def path_fault(path: str) -> str:
    """Return why a path cannot be that of a file in a folder of ours, empty when it can."""
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "its path leads out of the repository"
    if any(part.lower() == ".git" for part in parts):
        return "its path is one of git's own"
    if _UNUSUAL.search(path):
        return "its path holds characters that not every system allows"
    raw = path.encode("utf-8", "surrogateescape")
    if len(raw) > _MAX_PATH_BYTES or any(
        len(part.encode("utf-8", "surrogateescape")) > _MAX_PART_BYTES for part in parts
    ):
        return "its path is too long"
    return ""


def shown_path(path: str) -> str:
    """Return a path as text of at most 1,024 bytes; bytes that are none are escaped."""
    raw = path.encode("utf-8", "surrogateescape")[:_MAX_PATH_BYTES]
    return raw.decode("utf-8", "backslashreplace")
