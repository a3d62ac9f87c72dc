"""A web search as a source of passages."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import Final

import anyio
from anyio import to_thread

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.providers import SERPER
from fingerpost.config.secrets import Secret
from fingerpost.errors import LaneError, PageRefusedError
from fingerpost.lanes.web.page import Page, PageReader
from fingerpost.lanes.web.pieces import Piece, best_pieces, pieces_of
from fingerpost.lanes.web.public import is_public
from fingerpost.lanes.web.serper import Found, Serper
from fingerpost.lanes.web.target import read_target
from fingerpost.types.source import Passage

__all__ = ["WebSearch"]

PATIENCE_S: Final = 8.0
_SHARE: Final = 0.85
"""Of the caller's time; the rest is for the passages of what has come by then."""
_OF_A_PAGE: Final = 2
_LOG: Final = logging.getLogger("fingerpost.lanes")


class WebSearch:
    """Searches the web with Serper and reads the first pages found; a `Retriever`.

    Only the question is sent to the service, and only public pages are read, as `PageReader`
    does. A page that cannot be read in time leaves the service's own excerpt of it. What comes
    back is the text of strangers: it is quoted, never obeyed.

    Args:
        api_key: Of the service.
        base_url: Where the service is.
        n_pages: How many pages are read, from 0 (excerpts only).
        seconds: How long one search may take in all, unless the caller cancels it before.
        reader: Reads the pages.
        key_name: Where the key came from, for errors.

    Raises:
        ConfigError: The address is no http or https URL, or the key cannot stand in a header.
    """

    def __init__(
        self,
        api_key: str | Secret | None,
        *,
        base_url: str = SERPER.base_url,
        n_pages: int = 3,
        seconds: float = PATIENCE_S,
        reader: PageReader | None = None,
        key_name: str = "api_key",
    ) -> None:
        key = Secret(api_key.strip()) if isinstance(api_key, str) else api_key
        endpoint = Endpoint("serper", "serper", "search", base_url, key or None, key_name, "search")
        self._service = Serper(endpoint)
        self._n_pages = max(0, n_pages)
        self._seconds = seconds
        self._reader = reader or PageReader()

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return at most ``top_k`` passages, best first; none when nothing fits.

        The best piece of each page comes first, in the order of the service, then second ones.

        Raises:
            ProviderError: The service could not be asked, or what it said not be read.
        """
        question = " ".join(query.split())
        if not question or top_k < 1:
            return []
        until = time.monotonic() + min(self._seconds, _SHARE * _seconds_left())
        n = max(top_k, self._n_pages)
        found = await self._service.search(question, n, seconds=until - time.monotonic())
        usable = {url: one for one in found if (url := _address(one))}
        pages = await self._pages(list(usable)[: self._n_pages], until)
        best = await to_thread.run_sync(_best, question, pages)
        return _passages(usable, pages, best)[:top_k]

    async def _pages(self, urls: Sequence[str], until: float) -> dict[str, Page]:
        """Return the pages that could be read in time."""
        pages: dict[str, Page] = {}

        async def read(url: str) -> None:
            try:
                pages[url] = await self._reader.read(url, until=until)
            except LaneError as error:
                _LOG.info("a result of the web search was not read: %s", error)

        async with anyio.create_task_group() as group:
            for url in urls:
                group.start_soon(read, url)
        return pages


def _seconds_left() -> float:
    """Return the seconds until whoever waits for this stops waiting, ``inf`` without a limit."""
    deadline = anyio.current_effective_deadline()
    return math.inf if deadline == math.inf else max(0.0, deadline - anyio.current_time())


def _address(found: Found) -> str:
    """Return the address of a result in one way of writing, empty when it is none to show."""
    try:
        target = read_target(found.url)
    except PageRefusedError:
        return ""
    return "" if target.address is not None and not is_public(target.address) else target.url


def _best(question: str, pages: Mapping[str, Page]) -> dict[str, list[Piece]]:
    every = [pieces_of(page) for page in pages.values()]
    return dict(zip(pages, best_pieces(question, every, _OF_A_PAGE), strict=True))


def _passages(
    usable: Mapping[str, Found], pages: Mapping[str, Page], best: Mapping[str, Sequence[Piece]]
) -> list[Passage]:
    """Return the passages of all results, what leads to the same place once."""
    passages: dict[tuple[str, str], Passage] = {}
    for place in range(_OF_A_PAGE):
        for url, found in usable.items():
            pieces = best.get(url) or [Piece("", found.snippet)]
            if place < len(pieces) and pieces[place].text.strip():
                where = pages[url].url if url in pages else url
                one = _passage(where, found, pieces[place])
                passages.setdefault((one.uri, one.text), one)
    return list(passages.values())


def _passage(url: str, found: Found, piece: Piece) -> Passage:
    told = {"date": found.date} if found.date else {}
    heading = "" if piece.heading == found.title else piece.heading
    return Passage(piece.text, url, found.title or url, heading, metadata=told)
