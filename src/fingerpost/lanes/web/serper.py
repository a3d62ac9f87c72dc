"""The search service Serper."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import BadResponseError
from fingerpost.lanes.providers.failure import error_for
from fingerpost.lanes.providers.fields import as_items, as_mapping, as_text, parse_json
from fingerpost.lanes.providers.http import Http
from fingerpost.lanes.providers.limits import CallLimits

__all__ = ["Found", "Serper"]

_MAX_BYTES: Final = 2**20
_SHOWN_BYTES: Final = 4_096
_MAX_QUERY: Final = 400
_MOST: Final = 20
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Found:
    """One result of a search.

    Attributes:
        url: Where it is, as the service tells it; may be anything.
        title: Of the page.
        snippet: Its words that speak to the question, as the service chose them.
        date: When it was published, as the service words it; empty when unknown.
    """

    url: str
    title: str
    snippet: str
    date: str = ""


class Serper:
    """Asks the service; its key goes to its own address only, and no redirect is followed.

    Args:
        endpoint: Address and key.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._http = Http(endpoint)

    async def search(self, query: str, n: int, *, seconds: float) -> list[Found]:
        """Return at most ``n`` results, best first; none when nothing fits.

        Args:
            query: What is searched, at most 400 characters of it.
            n: 1 to 20.
            seconds: How long it may take.

        Raises:
            ProviderError: The service could not be asked, or what it said not be read.
        """
        told = {"q": query[:_MAX_QUERY], "num": max(1, min(n, _MOST))}
        reply = await self._http.send(
            f"{self._endpoint.base_url.rstrip('/')}/search",
            json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"),
            self._sign,
            CallLimits(seconds, seconds, seconds, _MAX_BYTES),
        )
        try:
            if reply.status != _OK:
                start = await reply.beginning(_SHOWN_BYTES)
                raise error_for(reply.status, reply.headers, start, endpoint=self._endpoint)
            body = await reply.read()
        finally:
            await reply.close()
        return self._read(body)[:n]

    def _sign(self) -> dict[str, str]:
        key = self._endpoint.key
        # Searches are rare: a connection that is kept would only have to be closed by someone.
        plain = {"connection": "close"}
        return plain if key is None else {**plain, "x-api-key": key.reveal()}

    def _read(self, body: bytes) -> list[Found]:
        try:
            said = as_mapping(parse_json(body))
        except ValueError:
            said = {}
        if not isinstance(said.get("organic"), list):
            raise BadResponseError("serper answered with something that is no list of results.")
        return [
            Found(
                url=as_text(item.get("link")),
                title=" ".join(as_text(item.get("title")).split()),
                snippet=" ".join(as_text(item.get("snippet")).split()),
                date=as_text(item.get("date")),
            )
            for item in map(as_mapping, as_items(said["organic"]))
            if as_text(item.get("link"))
        ]
