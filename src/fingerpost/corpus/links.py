"""Links between documents: what is written in a page to a path of the corpus."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote

from fingerpost.stores.linking import WrittenLinks
from fingerpost.types.document import Link

_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".html", ".htm", ".ipynb")
_INDEXES = ("index", "README", "_index", "readme")
_MAX_TARGET = 500
_ANY = "."  # what a link ends in that names its folder or one above, so that any page counts


def written_links(targets: Iterable[str]) -> list[tuple[str, str]]:
    """Return (path, anchor) of the targets that may lead to another page of the corpus.

    Addresses with a scheme, of other hosts, and anchors of the same page are left out.
    """
    found: dict[tuple[str, str], None] = {}
    for target in targets:
        words = target.split(None, 1)
        if not words or len(words[0]) > _MAX_TARGET:
            continue
        address = words[0].strip("<>")
        path, _, anchor = address.partition("#")
        path = path.partition("?")[0]
        if not path or path.startswith("//") or ":" in path.partition("/")[0]:
            continue
        found[unquote(path, errors="replace"), anchor] = None
    return list(found)


class Paths:
    """Resolves links against the paths of one source.

    Attributes:
        paths: What links are resolved against.
    """

    def __init__(self, paths: Collection[str]) -> None:
        """Index the paths by what a link may say for them."""
        self.paths = frozenset(paths)
        self._bare: dict[str, str] = {}
        self._tails: dict[str, str | None] = {}
        for path in sorted(self.paths, reverse=True):
            bare = _without_suffix(path)
            self._bare[bare] = path
            folder, _, stem = bare.rpartition("/")
            if stem in _INDEXES and folder:
                self._bare[folder] = path
        for bare, path in self._bare.items():
            tail = "/".join(bare.split("/")[-2:]).lower()
            self._tails[tail] = path if self._tails.get(tail, path) == path else None

    def resolve(self, origin: str, written: str) -> str:
        """Return the path that a link in ``origin`` leads to, empty when it leads to none.

        A link may leave out the suffix, name a folder for its index page, or be absolute in
        the published site; an absolute one is found by its last two parts when only one page
        has them. A relative link to a document that is not there is kept as written.
        """
        if written.startswith("/"):
            return self._absolute(written)
        folder = posixpath.dirname(origin)
        path = posixpath.normpath(posixpath.join(folder, written))
        found = self._at(path)
        if found:
            return found
        # Published pages live one folder deeper than their files: /guide/page/ is guide/page.md.
        deeper = posixpath.normpath(posixpath.join(_without_suffix(origin), written))
        found = self._at(deeper)
        if found:
            return found
        missing = path.endswith(_SUFFIXES) and not path.startswith("..")
        return path if missing else ""

    def _at(self, path: str) -> str:
        if path in self.paths:
            return path
        return self._bare.get(path) or self._bare.get(_without_suffix(path), "")

    def _absolute(self, written: str) -> str:
        path = posixpath.normpath(written).strip("/")
        found = self._at(path)
        if found:
            return found
        parts = _without_suffix(path).split("/")
        for n_dropped in range(1, min(len(parts), 4)):
            found = self._at("/".join(parts[n_dropped:]))
            if found:
                return found
        return self._tails.get("/".join(parts[-2:]).lower()) or "" if len(parts) > 1 else ""


def resolve_links(
    origin: str, written: Sequence[tuple[int, str, str]], paths: Paths
) -> tuple[Link, ...]:
    """Return the links of a document, each target once for each chunk, none to itself.

    Args:
        origin: Path of the document.
        written: (chunk ordinal, path as written, anchor).
        paths: The paths of its source.
    """
    links: dict[Link, None] = {}
    for ordinal, path, anchor in written:
        target = paths.resolve(origin, path)
        if target and target != origin:
            links[Link(ordinal, target, anchor)] = None
    return tuple(links)


def as_written(links: Sequence[tuple[int, str, str]]) -> WrittenLinks:
    """Return links as a store keeps them, to be found by `page_names`."""
    return WrittenLinks(links, {_link_name(path) for _, path, _ in links})


def page_names(paths: Iterable[str]) -> set[str]:
    """Return what a link ends in that may lead elsewhere when one of the pages comes or goes.

    Every look-up of `Paths.resolve` ends in the name of a page or of an index page's folder:
    a link of none of these names leads where it led before. Empty without paths.
    """
    names: set[str] = set()
    for path in paths:
        folder, _, last = path.rpartition("/")
        names |= {_ANY, _plain_name(last)}
        if _without_suffix(last) in _INDEXES:
            names.add(_plain_name(folder.rpartition("/")[2]))
    return names


@lru_cache(maxsize=4096)
def _link_name(written: str) -> str:
    last = posixpath.normpath(written).rpartition("/")[2]
    return _ANY if last in (".", "..") else _plain_name(last)


def _plain_name(name: str) -> str:
    """Return a name by which two are equal whenever a look-up takes them for the same."""
    name = name.lower()
    while (shorter := _without_suffix(name)) != name:
        name = shorter
    return name.casefold() or _ANY  # of "guide/.md" the folder is looked up


def _without_suffix(path: str) -> str:
    lowered = path.lower()
    for suffix in _SUFFIXES:
        if lowered.endswith(suffix):
            return path[: -len(suffix)]
    return path.rstrip("/")
