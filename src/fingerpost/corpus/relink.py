"""Links of pages that stayed, resolved anew when other pages came or went."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fingerpost.corpus.links import Paths, as_written, page_names, resolve_links
from fingerpost.corpus.prepare import FileToPrepare, Prepared
from fingerpost.stores.base import Writer
from fingerpost.types.ids import document_id

Known = Mapping[str, tuple[str, str, str]]


@dataclass(slots=True)
class Relinking:
    """Keeps the links of an index as if every page had been read after all the others.

    A page is put with its links resolved against the files that were found. At the end of a run
    those links are resolved again that end in the name of a page which came, left or has no text.

    Attributes:
        writer: Of the index.
        before: The documents before the run, as `Writer.known` gives them.
        listed: Source → the files found, which documents are put by.
    """

    writer: Writer
    before: Known
    listed: Mapping[str, Paths]
    _put: set[str] = field(default_factory=set)
    _moved: dict[str, set[str]] = field(default_factory=dict)
    _unread: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Ask which links an older version did not keep."""
        self._unread = self.writer.unread_links()

    def hashes(self) -> dict[str, str]:
        """Return document id → content hash of what need not be read again."""
        return {one: row[2] for one, row in self.before.items() if one not in self._unread}

    def fills(self, file: FileToPrepare, prepared: Prepared) -> bool:
        """Give a stored document of an older version its links; tell whether that was enough.

        What was converted may have been split otherwise and is to be put as a whole.
        """
        identity = document_id(file.source, file.path)
        if identity not in self._unread or prepared.text is not None:
            return False
        if self.before[identity][2] != file.content_hash:
            return False
        links = prepared.resolved(self.listed[file.source]).links
        self.writer.relink(identity, links, as_written(prepared.written))
        self._put.add(file.source)
        return True

    @property
    def is_touched(self) -> bool:
        """Whether a document was put or came to another place."""
        return bool(self._put or self._moved)

    def put(self, source: str) -> None:
        """Note that a document of a source was put."""
        self._put.add(source)

    def moved(self, source: str, identity: str) -> None:
        """Note that a document came to its place with the links of another."""
        self._moved.setdefault(source, set()).add(identity)

    def finish(self) -> None:
        """Resolve anew what may lead elsewhere than it did."""
        after = self.writer.known()
        if after.keys() == self.before.keys() and not self._put:
            return
        were, are = _by_source(self.before), _by_source(after)
        for source, listed in self.listed.items():
            stored = are.get(source, set())
            differing = stored ^ were.get(source, set())
            if source in self._put:
                differing |= stored ^ listed.paths
            self._resolve(source, stored, differing)

    def _resolve(self, source: str, stored: set[str], differing: Collection[str]) -> None:
        moved = self._moved.get(source, ())
        if not differing and not moved:
            return
        listed = self.listed[source]
        paths = listed if listed.paths == stored else Paths(stored)
        for path, written in self.writer.written_links(source, page_names(differing), moved):
            links = resolve_links(path, written.links, paths)
            self.writer.relink(document_id(source, path), links)


def _by_source(known: Known) -> dict[str, set[str]]:
    paths: dict[str, set[str]] = {}
    for source, path, _ in known.values():
        paths.setdefault(source, set()).add(path)
    return paths
