"""Reading a page of the web that nobody vouches for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fingerpost.errors import PageRefusedError
from fingerpost.lanes.providers.limits import CallLimits
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.web.charset import decoded
from fingerpost.lanes.web.target import Target, read_redirect, read_target
from fingerpost.lanes.web.visit import Visitor

__all__ = ["Page", "PageReader"]

MAX_BYTES: Final = 2 * 2**20
MAX_REDIRECTS: Final = 3
_KINDS: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "text/plain": "text",
}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200
_HEADERS: Final = {"accept": "text/html, text/markdown, text/plain;q=0.8"}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it came.

    Attributes:
        url: Where it was read, after redirects.
        kind: ``html`` or ``text`` (plain or Markdown).
        text: Decoded, nothing taken out.
    """

    url: str
    kind: str
    text: str


class PageReader:
    """Reads pages at public addresses, and nothing else.

    Each redirect, of at most three, is held to what the visitor holds an address to. Scripts do
    not run. Compressed bodies are refused, and bodies end at 2 MiB.

    Args:
        visitor: Who asks; ``None`` for one that asks at public addresses only.
    """

    def __init__(self, visitor: Visitor | None = None) -> None:
        self._visitor = visitor or Visitor()

    async def read(self, url: str, *, until: float) -> Page:
        """Return a page.

        Args:
            url: Its address; may be anything.
            until: When the reading must have ended, by the clock.

        Raises:
            PageRefusedError: The address or one that it leads to is not public, or what is
                there is no text.
            ProviderError: It could not be read: unreachable, too slow, too large, broken off.
        """
        target = read_target(url)
        for _ in range(MAX_REDIRECTS + 1):
            reply = await self._asked(target, until)
            try:
                if reply.status not in _REDIRECTS:
                    return await _page(target, reply)
                target = read_redirect(target, reply.headers.get("location", ""))
            finally:
                await reply.close()
        raise PageRefusedError(f"there were more than {MAX_REDIRECTS} redirects")

    async def _asked(self, target: Target, until: float) -> Reply:
        """Return the reply to a request for a page; close it afterwards."""
        left = max(0.0, until - self._visitor.clock())
        limits = CallLimits(left, left, left, MAX_BYTES)
        return await self._visitor.ask(target, limits, _HEADERS, "page")


async def _page(target: Target, reply: Reply) -> Page:
    """Return the page in a reply that is no redirect."""
    kind, _, parameters = reply.headers.get("content-type", "").partition(";")
    found = _KINDS.get(kind.strip().lower())
    if reply.status != _OK:
        raise PageRefusedError(f"the page was answered with status {reply.status}")
    if found is None:
        raise PageRefusedError("what is there is no text")
    if reply.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise PageRefusedError("the body is compressed, unasked")
    body = await reply.read()
    return Page(target.url, found, decoded(body, parameters))
