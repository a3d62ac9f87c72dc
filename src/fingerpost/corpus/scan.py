"""One pass over the roots: what is there, what changed, what left."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote

from fingerpost.corpus.formats import format_of
from fingerpost.corpus.links import Paths
from fingerpost.corpus.locate import CorpusRoot, pattern_of
from fingerpost.corpus.plain import MAX_LINES
from fingerpost.corpus.prepare import FileToPrepare
from fingerpost.corpus.site import MAX_LIST_BYTES, SITE_FILES, Site, read_site
from fingerpost.corpus.walk import (
    FileRefusedError,
    Folder,
    FoundFile,
    read_below,
    readable,
    why_refused,
)
from fingerpost.types.document import SkippedFile
from fingerpost.types.ids import document_id

_OF_LINES = frozenset({"markdown", "mdx", "rst"})
# What these say may be over in a moment: what was indexed of the file stays.
_MAX_MISSING = 100
_PASSING = frozenset({"unreadable", "changed-while-read"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read.

    Attributes:
        max_file_bytes: A larger file is skipped.
        max_files: Files beyond it are skipped.
        max_total_bytes: Files beyond this sum are skipped.
    """

    max_file_bytes: int
    max_files: int
    max_total_bytes: int


@dataclass(slots=True)
class Scan:
    """The files of all roots. Use as a context manager, which holds the folders open.

    Attributes:
        kept: Names of sources whose documents stay though they have no root now.
        files: What was found, with the open folder that it is read through.
        skipped: What was passed over, in the order met.
        sites: Source → the saved website that it is, by the lists in its folder.
        unchanged: Ids of the documents whose files are those that are known.
        paths: Paths of each source, for links.
    """

    roots: Sequence[CorpusRoot]
    limits: Limits
    kept: Sequence[str] = ()
    files: list[tuple[Folder, FoundFile]] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    paths: dict[str, Paths] = field(default_factory=dict)
    unchanged: set[str] = field(default_factory=set)
    sites: dict[str, Site] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _kept: set[str] = field(default_factory=set)
    _refused: set[str] = field(default_factory=set)
    _kept_prefixes: list[tuple[str, str]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Open the roots and list their files."""
        self._kept_prefixes.extend((name, "") for name in self.kept)
        for root in self.roots:
            folder = Folder(root)
            try:
                self._stack.enter_context(folder)
            except OSError as error:
                reason, detail = why_refused(error)
                self.skipped.append(SkippedFile(str(root.folder), reason, detail))
                self._kept_prefixes.append((root.name, ""))
                continue
            self._list(folder)
        self._refuse_hard_links()
        self._cap()
        for root in self.roots:
            self.paths[root.name] = Paths(
                [file.path for folder, file in self.files if folder.root is root]
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folders."""
        self._stack.close()

    def _list(self, folder: Folder) -> None:
        taken = {(file.device, file.inode) for _, file in self.files}
        asked = [name for name in SITE_FILES if name in folder.root.include]
        found = list(folder.files(everything=bool(asked)))
        site = self._site(folder, asked, found)
        if asked:
            include = [pattern_of(glob) for glob in folder.root.include]
            found = [
                one
                for one in found
                if one.path in site.pages or any(glob.fullmatch(one.path) for glob in include)
            ]
            folder.skipped[:] = [one for one in folder.skipped if one.reason != "unsupported"]
        for file in found:
            if (file.device, file.inode) not in taken or file.n_links > 1:
                self.files.append((folder, file))
        for item in folder.skipped:
            if item.reason in _PASSING:
                below = item.path.removeprefix(folder.shown("")).lstrip("/")
                self._kept_prefixes.append((folder.root.name, below))
        self.skipped.extend(folder.skipped)
        folder.skipped.clear()

    def _site(self, folder: Folder, asked: Sequence[str], found: Sequence[FoundFile]) -> Site:
        """Return the saved website that a folder is, one without pages when it is none."""

        def read(path: str) -> bytes | None:
            with suppress(OSError, FileRefusedError, ValueError):
                return read_below(folder.root.folder, path, MAX_LIST_BYTES)
            return None

        if folder.root.origin is not None:
            return Site()
        base = f"file://{quote(folder.shown(''))}/"
        site = read_site(asked or SITE_FILES, read, [file.path for file in found], base)
        if site.pages:
            self.sites[folder.root.name] = site
        self.skipped += [
            SkippedFile(folder.shown(name), "broken", why) for name, why in site.problems
        ]
        shown = site.missing[:_MAX_MISSING] if asked else []
        self.skipped += [SkippedFile(one, "not-saved", "no saved file") for one in shown]
        n_more = len(site.missing) - len(shown)
        if n_more:
            n_all = len(site.pages) + len(site.missing)
            detail = f"{n_more:,} of {n_all:,} listed addresses have no saved file"
            self.skipped.append(SkippedFile(folder.shown(""), "not-saved", detail))
        return site

    def _refuse_hard_links(self) -> None:
        """Refuse files that have another name outside the roots: they may be anyone's."""
        names = Counter((file.device, file.inode) for _, file in self.files if file.n_links > 1)
        kept = []
        for folder, file in self.files:
            if file.n_links > names.get((file.device, file.inode), 1):
                self._skip(folder, file, "not-regular", "it has another name outside the folder")
            else:
                kept.append((folder, file))
        self.files = kept

    def _cap(self) -> None:
        total = 0
        for place, (folder, file) in enumerate(self.files):
            total += file.size if file.size <= self.limits.max_file_bytes else 0
            if place >= self.limits.max_files or total > self.limits.max_total_bytes:
                rest = len(self.files) - place
                what = "files" if place >= self.limits.max_files else "bytes"
                self._skip(folder, file, "limit", f"too many {what}; {rest} files left out")
                del self.files[place:]
                return

    def _skip(self, folder: Folder, file: FoundFile, reason: str, detail: str) -> None:
        self.skipped.append(SkippedFile(folder.shown(file.path), reason, detail))
        ids = self._kept if reason in _PASSING else self._refused
        ids.add(document_id(folder.root.name, file.path))

    def skip(self, file: FileToPrepare, reason: str, detail: str) -> None:
        """List a file that gave nothing after it was read."""
        root = next(root for root in self.roots if root.name == file.source)
        path = f"{readable(root.shown)}/{file.path}"
        self.skipped.append(SkippedFile(path, reason, detail))

    def changed(
        self, known: Mapping[str, str], max_tokens: int, seen: Callable[[FoundFile], None]
    ) -> Iterator[FileToPrepare]:
        """Yield the files whose bytes are not those that are known.

        Files of one name come one after the other: versions and translations of a page repeat
        each other, and what was cleaned, counted and analysed just before is remembered.

        Args:
            known: Document id → content hash.
            max_tokens: Chunk limit.
            seen: Called with each file once it was looked at.
        """
        for folder, file in sorted(self.files, key=_by_name):
            try:
                raw = folder.read(file, max_bytes=self.limits.max_file_bytes)
            except (OSError, FileRefusedError) as error:
                self._skip(folder, file, *why_refused(error))
                seen(file)
                continue
            content_hash = hashlib.sha256(raw).hexdigest()
            plain = _has_too_many_lines(file.path, raw)
            if plain:
                detail = f"more than {MAX_LINES:,} lines; it was read as plain text"
                self.skipped.append(SkippedFile(folder.shown(file.path), "limit", detail))
            seen(file)
            identity = document_id(folder.root.name, file.path)
            if known.get(identity) == content_hash:
                self.unchanged.add(identity)
                continue
            uri = "file://" + quote("/".join((folder.shown(""), file.path)))
            yield FileToPrepare(
                raw, folder.root.name, file.path, uri, content_hash, max_tokens, plain
            )

    def gone(self, known: Mapping[str, tuple[str, str, str]]) -> set[str]:
        """Return the ids of known documents that are not there any more.

        One that could only not be read this time is kept. Call it after `changed`.
        """
        there = {document_id(folder.root.name, file.path) for folder, file in self.files}
        kept = self._kept | {
            identity
            for identity, (source, path, _) in known.items()
            if any(
                source == name and (not below or path == below or path.startswith(f"{below}/"))
                for name, below in self._kept_prefixes
            )
        }
        return (set(known) - there - kept) | (set(known) & self._refused)


def _by_name(found: tuple[Folder, FoundFile]) -> tuple[str, str, str]:
    folder, file = found
    return file.path.rpartition("/")[2], folder.root.name, file.path


def _has_too_many_lines(path: str, raw: bytes) -> bool:
    """Tell whether blocks of lines would take more memory than one file may."""
    if format_of(path) not in _OF_LINES or len(raw) <= MAX_LINES:
        return False
    return max(raw.count(b"\n"), raw.count(b"\r")) > MAX_LINES
