"""Rules of links: to files that are not there, to anchors that no heading has.

What a link leads to depends on the renderer. A link that names a page's file is judged by the
files, and one that names another file (``img/shot.png``) where a link into the same folder leads
to a file of the same kind, so that the folder's files are known to be here.
One that names no file (``/guides/install``, ``../install``) is judged only where other links
of its form lead to pages of the corpus: else the form is not ours to judge.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from fingerpost.corpus.formats import FORMATS, is_unsupported
from fingerpost.corpus.links import Paths
from fingerpost.lint import docusaurus
from fingerpost.lint.finding import Finding
from fingerpost.lint.page import Page, PageLink

_MIN_PROOF: Final = 10
_PROOF_SHARE: Final = 0.9
_MOST_COMPARED: Final = 20_000
"""Anchors that are compared with broken ones; comparing all with all would be quadratic."""
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
# Made by the browser or the site, not by a heading.
_ALWAYS_THERE = re.compile(
    r"top|readme|L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?|:~:.*|!.*|/.*|tab/.*|.*=.*"
)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A link and the page that it leads to.

    Attributes:
        page: That it stands in.
        link: As written.
        target: Path that it leads to; empty when to none.
        form: How it is written: links of a form are judged together.
        is_file: It leads to a file that is no page.
    """

    page: Page
    link: PageLink
    target: str
    form: str
    is_file: bool = False


class Links:
    """The links of one root's pages, judged together."""

    def __init__(self, pages: Sequence[Page], exists: Callable[[str], bool]) -> None:
        """Index the pages.

        Args:
            pages: All pages of the root.
            exists: Tells whether a path of the root is a file or folder, page or not.
        """
        self._pages = {page.path: page for page in pages}
        self._paths = Paths(self._pages)
        self._exists = exists
        self._published = {
            name.casefold(): page.path for page in pages for name in _published(page)
        }
        self._names: dict[str, list[str]] = defaultdict(list)
        for path in self._pages:
            self._names[path.rpartition("/")[2].casefold()].append(path)
        self._is_docusaurus = docusaurus.is_one(self._pages, exists)
        self._near: dict[tuple[str, str], str] = {}
        self._n_compared = 0

    def findings(self) -> Iterator[Finding]:
        """Yield the links that lead nowhere, in the order of the pages."""
        judged = [self._judge(page, link) for page in self._pages.values() for link in page.links]
        proven, filled = _proven(judged), _filled(judged)
        for one in judged:
            if one.is_file or not one.link.path:
                pass
            elif not one.target:
                if one.form in proven or _kind_in_folder(one) in filled:
                    yield self._broken(one)
                continue
            if one.link.anchor and one.target in self._pages:
                yield from self._anchor(one)

    def _judge(self, page: Page, link: PageLink) -> _Judged:
        if not link.path:
            return _Judged(page, link, page.path, "own")
        form = _form(link.path)
        if form == "outside":
            return _Judged(page, link, "", form, is_file=True)
        target = self._paths.resolve(page.path, link.path)
        if target in self._pages:
            return _Judged(page, link, target, form)
        path = _joined(page.path, link.path)
        published = self._published.get(path.casefold(), "")
        if published:
            return _Judged(page, link, published, form)
        for place in self._other_places(page.path, link.path):
            if place in self._pages:
                return _Judged(page, link, place, form)
            if self._exists(place):
                return _Judged(page, link, "", form, is_file=True)
        return _Judged(page, link, "", form, is_file=_is_outside(path) or self._exists(path))

    def _other_places(self, origin: str, written: str) -> Iterator[str]:
        if self._is_docusaurus:
            yield from docusaurus.places(origin, written)

    def _broken(self, one: _Judged) -> Finding:
        path = _joined(one.page.path, one.link.path)
        twins = self._names.get(path.rpartition("/")[2].casefold(), [])
        same = next((twin for twin in twins if twin.casefold() == path.casefold()), "")
        said = f"there is no {one.link.path}"
        if same:
            todo = f"The file is {same}: write it with the same capitals."
            return Finding("link-case", one.page.shown, one.link.line, said, todo)
        todo = f"{twins[0]} has that name; is it meant?" if len(twins) == 1 else ""
        return Finding("broken-link", one.page.shown, one.link.line, said, todo)

    def _anchor(self, one: _Judged) -> Iterator[Finding]:
        target = self._pages[one.target]
        anchor = one.link.anchor.casefold().removeprefix("user-content-")
        if (
            target.has_open_anchors
            or target.kind not in ("markdown", "mdx", "html")
            or _ALWAYS_THERE.fullmatch(one.link.anchor)
            or anchor in target.anchors
        ):
            return
        near = self._nearest(anchor, target)
        todo = f"#{near} is there; is it meant?" if near else ""
        where = "this page" if target is one.page else one.target
        said = f"no heading of {where} has the anchor #{one.link.anchor}"
        yield Finding("broken-anchor", one.page.shown, one.link.line, said, todo)

    def _nearest(self, anchor: str, target: Page) -> str:
        """Return the anchor of a page most like one that it has not, empty when none is."""
        asked = anchor, target.path
        if asked not in self._near:
            self._n_compared += len(target.anchors)
            known = target.anchors if self._n_compared <= _MOST_COMPARED else ()
            self._near[asked] = next(iter(get_close_matches(anchor, known, 1, 0.7)), "")
        return self._near[asked]


def _published(page: Page) -> Iterator[str]:
    """Yield the paths a page may be published under: a slug stands in any of its folders."""
    folder = posixpath.dirname(page.path)
    for name in page.permalinks:
        yield name
        above = folder
        while above:
            yield posixpath.join(above, name)
            above = posixpath.dirname(above)


def _form(path: str) -> str:
    """Return how a link is written; ``file`` names a page's file and is always judged."""
    suffix = posixpath.splitext(path)[1].lower()
    if path.startswith("/"):
        return f"/{path.split('/')[1]}/"
    if suffix in FORMATS or is_unsupported(path):
        return "file"
    return suffix if _SUFFIX.search(path) else "bare"


def _joined(origin: str, written: str) -> str:
    if written.startswith("/"):
        return posixpath.normpath(written).strip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), written))


def _is_outside(path: str) -> bool:
    return path == ".." or path.startswith("../")


def _kind_in_folder(one: _Judged) -> tuple[str, str]:
    """Return the folder that a link leads into and the suffix of what it names there."""
    return posixpath.dirname(_joined(one.page.path, one.link.path)), one.form


def _filled(judged: Iterable[_Judged]) -> frozenset[tuple[str, str]]:
    """Return the folders and suffixes of which a link leads to a file that is no page."""
    led = (one for one in judged if one.is_file and one.form.startswith("."))
    return frozenset(found for found in map(_kind_in_folder, led) if not _is_outside(found[0]))


def _proven(judged: Iterable[_Judged]) -> frozenset[str]:
    """Return the forms of which nearly all links lead somewhere, so that the others should."""
    all_of: Counter[str] = Counter()
    led: Counter[str] = Counter()
    for one in judged:
        all_of[one.form] += 1
        led[one.form] += bool(one.target) or one.is_file
    return frozenset(
        form
        for form, count in all_of.items()
        if form == "file" or (led[form] >= _MIN_PROOF and led[form] >= _PROOF_SHARE * count)
    )


def link_findings(
    pages: Sequence[Page], exists: Mapping[str, Callable[[str], bool]]
) -> Iterator[Finding]:
    """Yield the links that lead nowhere.

    Args:
        pages: Of all roots.
        exists: Root → what tells whether a path of it is there.
    """
    by_root: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_root[page.root].append(page)
    for root, own in by_root.items():
        yield from Links(own, exists[root]).findings()
