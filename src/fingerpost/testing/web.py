"""A piece of the web on a free local port: pages, and a search service that finds them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final

from fingerpost.lanes.web.page import PageReader
from fingerpost.lanes.web.public import IpAddress
from fingerpost.lanes.web.visit import Visitor
from fingerpost.testing.provider.exchange import Exchange
from fingerpost.testing.provider.faults import Fault
from fingerpost.testing.provider.server import ProviderServer

__all__ = ["WebServer"]

_HOME: Final = ip_address("127.0.0.1")


class WebServer(ProviderServer):
    """Serves pages, and at ``POST /search`` results in the shape of Serper.

    Start it with ``with``. Point a search at ``url`` and give it ``reader``: that one takes every
    name for this server's, so that pages have addresses as `link` makes them.

    Args:
        pages: Path → HTML, or a fault of the scripted provider in its place.
        results: What every search finds, each with ``link``, ``title`` and ``snippet``; a path
            as ``link`` stands for the page there. Or a fault.
    """

    def __init__(
        self,
        pages: Mapping[str, str | Fault] | None = None,
        results: Sequence[Mapping[str, str]] | Fault = (),
    ) -> None:
        super().__init__()
        self._pages = dict(pages or {})
        self._results = results

    @property
    def reader(self) -> PageReader:
        """Reads the pages of this server, which no reader of real pages would."""
        return PageReader(Visitor(is_allowed=_is_home, look_up=lambda *_: [_HOME]))

    @property
    def queries(self) -> tuple[str, ...]:
        """What was searched, in order."""
        return tuple(
            str(json.loads(one.raw)["q"]) for one in self.requests if one.path == "/search"
        )

    def link(self, path: str) -> str:
        """Return the address of a page."""
        return f"http://site.example:{self._port}{path}"

    async def _answer(self, exchange: Exchange) -> None:
        path = exchange.received.path.partition("?")[0]
        is_search = exchange.received.method == "POST" and path == "/search"
        step = self._results if is_search else self._pages.get(path)
        if isinstance(step, Fault):
            await step.play(exchange)
        elif isinstance(step, str):
            head = {"content-type": "text/html; charset=utf-8"}
            await exchange.reply(200, step.encode(), head)
        elif step is None:
            await exchange.reply(404, b"no such page", {"content-type": "text/plain"})
        else:
            await exchange.reply(200, {"organic": list(map(self._linked, step))})

    def _linked(self, result: Mapping[str, str]) -> dict[str, Any]:
        link = result["link"]
        return {**result, "link": self.link(link) if link.startswith("/") else link}


def _is_home(address: IpAddress) -> bool:
    return address == _HOME
