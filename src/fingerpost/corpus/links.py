"""Links between documents: what is written in a page to a path of the corpus."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import unquote

from fingerpost.types.document import Link

_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".html", ".htm", ".ipynb")
_INDEXES = ("index", "README", "_index", "readme")
_MAX_TARGET = 500


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
    """Resolves links against the paths of one source."""

    def __init__(self, paths: Collection[str]) -> None:
        """Index the paths by what a link may say for them."""
        self._paths = frozenset(paths)
        self._bare: dict[str, str] = {}
        self._tails: dict[str, str | None] = {}
        for path in sorted(self._paths, reverse=True):
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
        if path in self._paths:
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


def _without_suffix(path: str) -> str:
    lowered = path.lower()
    for suffix in _SUFFIXES:
        if lowered.endswith(suffix):
            return path[: -len(suffix)]
    return path.rstrip("/")
