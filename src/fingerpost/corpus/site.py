"""A website saved on disk: which address each of its files was saved from.

The lists that a site publishes of its pages (``sitemap.xml``, an index of such lists,
``llms.txt``) are read where they were saved with the pages. Nothing is fetched.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urlsplit
from xml.parsers import expat

from fingerpost.corpus.formats import format_of
from fingerpost.types.document import Document

SITE_FILES: Final = ("sitemap.xml", "sitemap_index.xml", "sitemap-index.xml", "sitemap.xml.gz",
                     "llms.txt", "llms-full.txt")  # fmt: skip
"""Names of the lists, in the order in which they are read."""
MAX_LIST_BYTES: Final = 50 * 1024**2
_MAX_LISTS = 500
_MAX_ADDRESSES = 200_000
_MAX_ADDRESS = 2_000
_URL = r"https?://[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*"
# A link, a line that is an address, the definition of a reference.
_LINK = re.compile(
    rf"\]\([ \t]*<?({_URL})"
    r"|^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?<?(https?://[^\s<>]+)>?[ \t]*\r?$"
    r"|^[ \t]*\[[^\[\]\n]+\]:[ \t]*<?(https?://[^\s<>]+)",
    re.MULTILINE,
)
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_SAVED_AS = (".html", "/index.html", ".md", "/index.md", ".htm", "/index.htm", ".mdx", ".txt")


class SiteError(ValueError):
    """A list cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site.

    Attributes:
        address: Where it is published.
        date: When it changed last, an ISO date; empty when the list does not say.
        order: Its place among the listed addresses, from 0.
    """

    address: str
    date: str
    order: int


@dataclass(slots=True)
class Site:
    """The pages of a saved site, by the path of their file.

    Attributes:
        pages: Path → page.
        base: ``uri`` of the folder that paths are relative to.
        missing: Addresses that have no saved file, in order.
        problems: (list, why it was not read, or not to its end).
    """

    base: str = ""
    pages: dict[str, SitePage] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    def label(self, document: Document) -> Document:
        """Return the document with its address as ``uri``, and its date and order.

        One that the lists do not name, or do not name any more, is at its file.
        """
        page = self.pages.get(document.path)
        if page is None:
            return replace(document, uri=self.base + quote(document.path))
        metadata: dict[str, object] = {**document.metadata, "order": page.order}
        if page.date:
            metadata["date"] = page.date
        return replace(document, uri=page.address, metadata=metadata)


def read_site(
    names: Sequence[str],
    read: Callable[[str], bytes | None],
    paths: Collection[str],
    base: str = "",
) -> Site:
    """Return the pages that the lists of a saved site name.

    Args:
        names: Paths of the lists.
        read: Gives the bytes of a file of the site, ``None`` where there is none.
        paths: Of all its documents.
        base: ``uri`` of its folder.
    """
    reader = _Reader(read, Site(base))
    reader.read_lists(names)
    site, saved = reader.site, frozenset(paths)
    above = _folders_above(reader.listed)
    for order, (address, (place, date)) in enumerate(reader.listed.items()):
        files = _files_of(place, above[place.netloc])
        path = next((one for one in files if one in saved), "")
        if path:
            site.pages.setdefault(path, SitePage(address, date, order))
        elif address not in reader.unsure:
            site.missing.append(address)
    return site


@dataclass(slots=True)
class _Reader:
    """Gathers the addresses of lists and of the lists that they name."""

    read: Callable[[str], bytes | None]
    site: Site
    listed: dict[str, tuple[SplitResult, str]] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _named: list[SplitResult] = field(default_factory=list)

    def read_lists(self, names: Sequence[str]) -> None:
        """Add the addresses of lists and of those they name; where one fails, the reason."""
        waiting: list[tuple[str, ...]] = [(name,) for name in reversed(names)]
        while waiting:
            name, raw = self._first(waiting.pop())
            if raw is None:
                continue
            if len(self._seen) >= _MAX_LISTS:
                self.site.problems.append((name, f"one list more than the {_MAX_LISTS} read"))
                return
            self._seen.add(name)
            try:
                self._add(name, raw)
            except SiteError as error:
                self.site.problems.append((name, str(error)))
            waiting += [_places_of(place) for place in reversed(self._named)]
            self._named.clear()

    def _first(self, paths: Sequence[str]) -> tuple[str, bytes | None]:
        """Return the first path that there is, and its bytes unless they were read before."""
        for path in paths:
            if path in self._seen:
                break
            if (raw := self.read(path)) is not None:
                return path, raw
        return "", None

    def _add(self, name: str, raw: bytes) -> None:
        if len(raw) > MAX_LIST_BYTES:
            raise SiteError(f"it is larger than {MAX_LIST_BYTES // 1024**2} MiB")
        if name.endswith(".txt"):
            for found in _LINK.finditer(raw.decode("utf-8", "replace")):
                self._note(found[found.lastindex or 0], "", unsure="full" in name)
            return
        for kind, address, date in _sitemap(_unpacked(raw)):
            if kind == "url":
                self._note(address, date)
            elif (place := _split(address)) is not None:
                self._named.append(place)

    def _note(self, address: str, date: str, *, unsure: bool = False) -> None:
        """Note an address; one that is only mentioned need not be saved."""
        address = address.partition("#")[0]
        place = _split(address)
        if place is None or address in self.listed:
            return
        if len(self.listed) >= _MAX_ADDRESSES:
            raise SiteError(f"there are more than {_MAX_ADDRESSES:,} addresses")
        if unsure:
            self.unsure.add(address)
        self.listed[address] = place, date


def _split(address: str) -> SplitResult | None:
    """Return the parts of an address, ``None`` of what is none ("https://[your-host]/").

    One that carries a password is none: addresses are shown.
    """
    if len(address) <= _MAX_ADDRESS:
        with suppress(ValueError):
            place = urlsplit(address)
            return place if place.netloc and "@" not in place.netloc else None
    return None


def _places_of(place: SplitResult) -> tuple[str, ...]:
    """Return the paths that a list may have been saved at."""
    below = unquote(place.path).strip("/")
    return below, f"{place.netloc}/{below}", below.rpartition("/")[2]


def _unpacked(raw: bytes) -> bytes:
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    try:
        with gzip.open(io.BytesIO(raw)) as file:
            unpacked = file.read(MAX_LIST_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise SiteError("it is no valid gzip file, or is cut off") from error
    if len(unpacked) > MAX_LIST_BYTES:
        raise SiteError(f"it unpacks to more than {MAX_LIST_BYTES // 1024**2} MiB")
    return unpacked


def _sitemap(raw: bytes) -> list[tuple[str, str, str]]:
    """Return (``url`` or ``sitemap``, address, date) of a sitemap or an index of sitemaps."""
    entries: list[tuple[str, str, str]] = []
    fields: dict[str, str] = {}
    inside: list[str] = []

    def begin(name: str, _: object) -> None:
        inside.append(name.rpartition(":")[2])
        if inside[-1] in ("url", "sitemap"):
            fields.clear()

    def words(text: str) -> None:
        if inside and inside[-1] in ("loc", "lastmod") and len(inside) == _FIELD_DEPTH:
            said = fields.get(inside[-1], "")
            if len(said) <= _MAX_ADDRESS:
                fields[inside[-1]] = (said + text).lstrip()

    def end(_: str) -> None:
        kind = inside.pop()
        address = fields.get("loc", "").strip()
        if kind in ("url", "sitemap") and address.startswith(("https://", "http://")):
            date = _DATE.match(fields.get("lastmod", "").strip())
            entries.append((kind, address, date[0] if date else ""))

    def refuse(*_: object) -> None:
        raise SiteError("it declares a document type, which is refused")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler, parser.buffer_text = words, True
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    _parse(parser, raw)
    return entries


def _parse(parser: expat.XMLParserType, raw: bytes) -> None:
    try:
        parser.Parse(raw, True)
    except SiteError:
        raise
    except expat.ExpatError as error:
        raise SiteError(f"it is not valid XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise SiteError(f"its encoding is not read, save it as UTF-8: {error}") from error


_FIELD_DEPTH = 3  # urlset, url, loc


def _files_of(place: SplitResult, above: Iterable[str]) -> Iterator[str]:
    """Yield the paths that the page of an address may have been saved at.

    Args:
        place: The address.
        above: Folders that the saved ones may begin below.
    """
    whole = _path(place)
    below = [whole.removeprefix(folder).strip("/") for folder in above]
    for path in dict.fromkeys([whole, *below]):
        if not path:
            names = ["index.html", "index.md", "index.htm", "README.md"]
        else:
            suffix = PurePosixPath(path).suffix
            bare = path.removesuffix(suffix) if format_of(path) else path
            names = [path] if format_of(path) else []
            names += [f"{bare}{ending}" for ending in _SAVED_AS]
        for name in names:
            yield name
            yield f"{place.netloc}/{name}"


def _path(place: SplitResult) -> str:
    return unquote(place.path, errors="replace").strip("/")


def _folders_above(listed: dict[str, tuple[SplitResult, str]]) -> dict[str, list[str]]:
    """Return for each host the folders that all its addresses are below.

    The first is the one that holds them all; the second is the page that all others are below,
    where there is one: a site below ``/docs/`` lists that too.
    """
    paths: dict[str, list[list[str]]] = {}
    for place, _ in listed.values():
        paths.setdefault(place.netloc, []).append(_path(place).split("/"))
    return {
        host: [_shared([path[:-1] for path in all_paths]), _shared(all_paths)]
        for host, all_paths in paths.items()
    }


def _shared(paths: Sequence[list[str]]) -> str:
    """Return what all paths begin with."""
    first, last = min(paths), max(paths)
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    return "/".join(first[:shared])
