"""A website saved on disk: which address each of its files was saved from.

The lists that a site publishes of its pages (``sitemap.xml``, an index of such lists,
``llms.txt``) are read where they were saved with the pages. Nothing is fetched.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote, unquote, urlsplit
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
_GZIP = 31  # zlib's word for a gzip header
_LINK = re.compile(r"\]\((https?://[^\s)]+)\)|^\s*(?:[-*]\s+)?(https?://\S+)\s*$", re.MULTILINE)
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
        problems: (list, why it was not read).
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
    for name in names:
        reader.read_list(name)
    site, saved = reader.site, frozenset(paths)
    common = _common_folder(list(reader.listed))
    for order, (address, date) in enumerate(reader.listed.items()):
        path = next((one for one in _files_of(address, common) if one in saved), "")
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
    listed: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)

    def read_list(self, name: str) -> None:
        """Add the addresses of a list; of one that cannot be read the reason."""
        if name in self._seen or len(self._seen) >= _MAX_LISTS:
            return
        self._seen.add(name)
        raw = self.read(name)
        if raw is None:
            return
        try:
            self._add(name, raw)
        except SiteError as error:
            self.site.problems.append((name, str(error)))

    def _add(self, name: str, raw: bytes) -> None:
        if len(raw) > MAX_LIST_BYTES:
            raise SiteError(f"it is larger than {MAX_LIST_BYTES // 1024**2} MiB")
        if name.endswith(".txt"):
            for found in _LINK.finditer(raw.decode("utf-8", "replace")):
                self._note(found[1] or found[2], "", unsure="full" in name)
            return
        for kind, address, date in _sitemap(_unpacked(raw)):
            if kind == "url":
                self._note(address, date)
                continue
            place = urlsplit(address)
            below = unquote(place.path).strip("/")
            for path in (below, f"{place.netloc}/{below}", below.rpartition("/")[2]):
                self.read_list(path)

    def _note(self, address: str, date: str, *, unsure: bool = False) -> None:
        """Note an address; one that is only mentioned need not be saved."""
        address = address.partition("#")[0]
        if len(address) <= _MAX_ADDRESS and len(self.listed) < _MAX_ADDRESSES:
            if unsure and address not in self.listed:
                self.unsure.add(address)
            self.listed.setdefault(address, date)


def _unpacked(raw: bytes) -> bytes:
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(raw, MAX_LIST_BYTES)
    except zlib.error as error:
        raise SiteError("it is no valid gzip file") from error
    if not unpacker.eof:
        raise SiteError(f"it unpacks to more than {MAX_LIST_BYTES // 1024**2} MiB, or is cut off")
    return unpacked


def _sitemap(raw: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (``url`` or ``sitemap``, address, date) of a sitemap or an index of sitemaps."""
    entries: list[tuple[str, str, str]] = []
    fields: dict[str, str] = {}
    inside: list[str] = []

    def begin(name: str, _: object) -> None:
        inside.append(name.rpartition(":")[2])
        if inside[-1] in ("url", "sitemap"):
            fields.clear()

    def words(text: str) -> None:
        if inside and inside[-1] in ("loc", "lastmod") and len(inside) == _FIELD_DEPTH:
            fields[inside[-1]] = fields.get(inside[-1], "") + text

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
    parser.CharacterDataHandler = words
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise SiteError(f"it is not valid XML: {error}") from error
    yield from entries


_FIELD_DEPTH = 3  # urlset, url, loc


def _files_of(address: str, common: str) -> Iterator[str]:
    """Yield the paths that the page of an address may have been saved at."""
    place = urlsplit(address)
    whole = unquote(place.path, errors="replace").strip("/")
    for path in dict.fromkeys([whole, whole.removeprefix(common).strip("/")]):
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


def _common_folder(addresses: Sequence[str]) -> str:
    """Return the folder that all addresses are below, empty when there is none."""
    if not addresses:
        return ""
    folders = [
        unquote(urlsplit(one).path, errors="replace").strip("/").split("/")[:-1]
        for one in addresses
    ]
    first, last = min(folders), max(folders)
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    return "/".join(first[:shared])
