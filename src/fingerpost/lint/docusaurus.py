"""Where Docusaurus looks for the file of a link besides the folder of the page.

``./b.md`` and ``../b.md`` are looked for from the page alone. ``b.md`` is looked for from the
page, then from the folder of its content, of a translation also from the folder of the original,
so that links to pages without a translation hold, and at last from the folder of the site.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_CONFIGS: Final = tuple(
    f"{folder}docusaurus.config.{suffix}"
    for folder in ("", "../")
    for suffix in ("js", "ts", "mjs", "cjs", "mts", "cts")
)
_PLUGIN: Final = re.compile(r"docusaurus-plugin-content-(docs|blog|pages)(?:-(.+))?")
_VERSIONED: Final = re.compile(r"(?:.+_)?versioned_docs")


def is_one(paths: Iterable[str], exists: Callable[[str], bool]) -> bool:
    """Tell whether a corpus is the site of Docusaurus, or its content.

    Args:
        paths: Of its pages.
        exists: Tells whether a path is there, seen from the corpus.
    """
    if any(map(exists, _CONFIGS)):
        return True
    return any(
        _VERSIONED.fullmatch(part) or _PLUGIN.fullmatch(part)
        for path in paths
        if "versioned_docs/" in path or "docusaurus-plugin-content-" in path
        for part in path.split("/")
    )


def places(origin: str, written: str) -> Iterator[str]:
    """Yield the other paths that a link may mean, in the order in which they are looked for.

    Args:
        origin: Path of the page.
        written: Path of the link.
    """
    if written.startswith(("/", "./", "../")):
        return
    for folder in _folders(origin.split("/")[:-1]):
        path = posixpath.normpath(posixpath.join(folder, written))
        if path != ".." and not path.startswith("../"):
            yield path


def _folders(above: list[str]) -> Iterator[str]:
    """Yield the folders that a page's links are looked for from, its own left out."""
    for place, part in enumerate(above):
        plugin = _PLUGIN.fullmatch(part)
        if plugin is not None:
            kind, name = plugin[1], plugin[2] or ""
            site = above[: above.index("i18n")] if "i18n" in above[:place] else []
            if kind == "docs":
                version = above[place + 1] if len(above) > place + 1 else "current"
                yield "/".join(above[: place + 2])
                yield "/".join([*site, *_original(name, version)])
            else:
                yield "/".join(above[: place + 1])
                yield "/".join([*site, name or ("blog" if kind == "blog" else "src/pages")])
            yield "/".join(site)
            return
        if _VERSIONED.fullmatch(part):
            yield "/".join(above[: place + 2])
            yield "/".join(above[:place])
            return
    yield from dict.fromkeys(("/".join(above[:1]), ""))


def _original(name: str, version: str) -> list[str]:
    """Return the folder of the pages that are translated, seen from the site's."""
    if version == "current":
        return [name or "docs"]
    return [f"{name}_versioned_docs" if name else "versioned_docs", version]
