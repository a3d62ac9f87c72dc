"""Versions of one page among the hits: which of them is meant, and where it stands.

A page is the same page in another version when its path is the same but for the version and its
title but for numbers. A version that the question names is meant, else the newest released one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from fingerpost.retrieve.features import identifiers
from fingerpost.retrieve.pack import HELPS
from fingerpost.stores.base import Reader, VersionFolder
from fingerpost.text.versions import (
    AskedVersion,
    VersionedPath,
    asked_versions,
    current_folder,
    is_of,
    label_version,
    version_order,
    versioned_path,
    without_numbers,
)
from fingerpost.types.document import Document
from fingerpost.types.evidence import Hit
from fingerpost.types.ids import document_id

Preference = tuple[int, tuple[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question says of versions.

    Attributes:
        versions: That it names.
        names: Casefolded identifiers in it that are no versions: where only one version has
            them, that one answers.
    """

    versions: tuple[AskedVersion, ...]
    names: tuple[str, ...]
    _known: dict[str, Preference] = field(default_factory=dict, compare=False)

    def fitting(self, document: Document) -> frozenset[AskedVersion]:
        """Return which of the named versions a document is of."""
        return frozenset(one for one in self.versions if is_of(one, document))

    def of_both(self, hits: Sequence[Hit], hit: Hit) -> bool:
        """Return whether a hit and one of some others are of two versions that are named."""
        if len(self.versions) < 2:  # noqa: PLR2004 - two
            return False
        mine = self.fitting(hit.document)
        others = [self.fitting(one.document) for one in hits]
        return bool(mine) and any(other and not mine & other for other in others)

    def preference(self, document: Document) -> Preference:
        """Return what orders the versions of a page, the one that is meant greatest."""
        known = self._known.get(document.id)
        if known is None:
            fit = max((is_of(one, document) for one in self.versions), default=0)
            known = fit, version_order(placed(document).version or document.version)
            self._known[document.id] = known
        return known


def asked_of(text: str) -> Asked:
    """Return what a question says of versions."""
    names = (name.casefold() for name in identifiers(text))
    return Asked(asked_versions(text), tuple(name for name in names if not label_version(name)))


def placed(document: Document) -> VersionedPath:
    """Return what a document's path tells of the version."""
    return versioned_path(document.source, document.path)


def are_versions(left: Hit, right: Hit) -> bool:
    """Return whether two hits are of one page in two versions."""
    one, other = placed(left.document), placed(right.document)
    if one.page != other.page or one.version == other.version:
        return False
    if not (one.version and other.version) and not (one.version + other.version)[:1].isdigit():
        return False  # a folder called ``next`` beside a page need not hold a version of it
    mine, its = left.document.title, right.document.title
    same_title = mine == its or without_numbers(mine) == without_numbers(its)
    return same_title and left.chunk.language == right.chunk.language


def may_stand_for(newer: Hit, older: Hit, asked: Asked) -> bool:
    """Return whether one version of a page can take the place of another.

    Not where the question names both versions, or a name that only the other one holds.
    """
    if asked.of_both([older], newer):
        return False
    if not asked.names:
        return True
    new, old = newer.chunk.text.casefold(), older.chunk.text.casefold()
    return not any(name in old and name not in new for name in asked.names)


def same_section(left: Hit, right: Hit) -> bool:
    """Return whether two hits stand under headings that are equal but for numbers."""
    one, other = left.chunk.heading_path[-1:], right.chunk.heading_path[-1:]
    return one == other or (
        bool(one and other) and without_numbers(one[0]) == without_numbers(other[0])
    )


def without_other_versions(hits: Sequence[Hit], asked: Asked) -> list[Hit]:
    """Return the hits without those whose page is there in the version that is meant.

    One that fits clearly better stays beside it.

    Args:
        hits: Best first.
        asked: What the question says of versions.
    """
    pages: dict[str, list[Hit]] = {}
    for hit in hits:
        pages.setdefault(placed(hit.document).page, []).append(hit)
    added: dict[str, list[str]] = {}
    gone: set[str] = set()
    for beside in pages.values():
        if len({hit.document.id for hit in beside}) == 1:
            continue
        for hit in beside:
            meant = _meant_instead(hit, beside, asked)
            if meant is not None:
                gone.add(hit.chunk.id)
                added.setdefault(meant.chunk.id, []).append(hit.document.path)
    return [
        _with_copies(hit, added[hit.chunk.id]) if hit.chunk.id in added else hit
        for hit in hits
        if hit.chunk.id not in gone
    ]


def _meant_instead(hit: Hit, beside: Sequence[Hit], asked: Asked) -> Hit | None:
    """Return the hit that stands for another one, of the hits of its page."""
    mine = asked.preference(hit.document)
    better = [
        other
        for other in beside
        if other.score >= HELPS * hit.score
        and asked.preference(other.document) > mine
        and are_versions(other, hit)
        and may_stand_for(other, hit, asked)
    ]
    return max(better, key=lambda other: asked.preference(other.document), default=None)


def _with_copies(hit: Hit, paths: Sequence[str]) -> Hit:
    copies = dict.fromkeys((*hit.copies, *paths))
    copies.pop(hit.document.path, None)
    return replace(hit, copies=tuple(copies))


def in_meant_version(reader: Reader, hits: Sequence[Hit], asked: Asked) -> list[Hit]:
    """Return the hits, each from the version of its page that is meant, where the index has it.

    A hit that has no counterpart there (no section of that heading) stays.

    Args:
        reader: The index.
        hits: Best first.
        asked: What the question says of versions.
    """
    folders = reader.version_folders()
    newest = max((version_order(label_version(one.label)) for one in folders), default=(2, ()))
    better = {
        hit.chunk.id: _better(hit.document, folders, asked)
        if asked.versions or asked.preference(hit.document)[1] < newest
        else []
        for hit in hits
    }
    ids = [document.id for some in better.values() for document in some]
    if not ids:
        return list(hits)
    there = reader.keys_of_documents(ids)
    found: dict[str, Hit] = {}
    for hit in hits:
        known = [document for document in better[hit.chunk.id] if document.id in there]
        if known:
            best = max(known, key=asked.preference)
            hit = _counterpart(reader, hit, there[best.id], asked) or hit  # noqa: PLW2901 - the same place in the list
        found.setdefault(hit.chunk.id, hit)
    return list(found.values())


def _better(document: Document, folders: Iterable[VersionFolder], asked: Asked) -> list[Document]:
    """Return the documents that would be the page of a document in versions more meant."""
    found, mine = placed(document), asked.preference(document)
    if found.place < 0 and found.version:  # the name of its source tells the version
        return []
    paths = {found.plain: ""}
    for source, above, label in folders:
        start = f"{current_folder(above)}/" if above else ""
        if source == document.source and found.plain.startswith(start):
            rest = found.plain[len(start) :]
            paths["/".join(filter(None, (above, label, rest)))] = label
    paths.pop(document.path, None)
    others = [
        replace(document, id=document_id(document.source, path), path=path, metadata={})
        for path, label in paths.items()
        if asked.versions or version_order(label_version(label)) > mine[1]
    ]
    return [other for other in others if asked.preference(other) > mine]


def _counterpart(reader: Reader, hit: Hit, keys: Sequence[int], asked: Asked) -> Hit | None:
    """Return the chunk of another version that says what a hit says, ``None`` without any."""
    words = frozenset(hit.chunk.text.casefold().split())
    best, shared = None, -1.0
    for stored in reader.chunks(keys):
        other = replace(hit, chunk=stored.chunk, document=stored.document)
        own = frozenset(stored.chunk.text.casefold().split())
        share = len(words & own) / max(1, len(words | own))
        if share > shared and same_section(other, hit) and are_versions(other, hit):
            best, shared = other, share
    if best is None or not may_stand_for(best, hit, asked):
        return None
    path = hit.document.path
    return replace(
        _with_copies(best, [path]),
        lexical_rank=None,
        lexical_score=None,
        vector_rank=None,
        vector_score=None,
        note="; ".join(filter(None, (hit.note, f"found in {path}"))),
    )
