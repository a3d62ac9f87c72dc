"""Reading a page of the web that nobody vouches for."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

import anyio

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import PageRefusedError, ProviderUnreachableError
from fingerpost.lanes.providers.call import Call, without_frames
from fingerpost.lanes.providers.limits import CONNECT_S, CallLimits
from fingerpost.lanes.providers.pool import Group
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.web.charset import decoded
from fingerpost.lanes.web.public import IpAddress, is_public
from fingerpost.lanes.web.target import Target, read_redirect, read_target
from fingerpost.observe.hooks import call_hook

__all__ = ["Page", "PageReader", "look_up"]

MAX_BYTES: Final = 2 * 2**20
MAX_REDIRECTS: Final = 3
_MOST_ADDRESSES: Final = 2
_KINDS: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "text/plain": "text",
}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200
_HEADERS: Final = {
    "accept": "text/html, text/markdown, text/plain;q=0.8",
    "accept-encoding": "identity",
    "connection": "close",
    "user-agent": "fingerpost",
}

LookUp = Callable[[str, int], Sequence[IpAddress]]


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


def look_up(host: str, port: int) -> list[IpAddress]:
    """Return the addresses of a name; blocking.

    Raises:
        OSError: There are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(item[4][0]).partition("%")[0]) for item in found))


class PageReader:
    """Reads pages at public addresses, and nothing else.

    A name is looked up once, all of its addresses must be public, and the connection goes to
    one of these, whatever the name leads to later. Each redirect, of at most three, is held to
    the same. No cookie, key, proxy or setting of the environment takes part; scripts do not
    run. Compressed bodies are refused, and bodies end at 2 MiB.

    Args:
        is_allowed: Which addresses may be connected to.
        look_up: Returns the addresses of a name; may block.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        *,
        is_allowed: Callable[[IpAddress], bool] = is_public,
        look_up: LookUp = look_up,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_allowed = is_allowed
        self._look_up = look_up
        self._clock = clock

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
        left = max(0.0, until - self._clock())
        limits = CallLimits(left, left, left, MAX_BYTES)
        endpoint = Endpoint("web", "page", target.host, target.url, job="search")
        call = Call(endpoint, self._clock, until, limits)
        addresses = await self._addresses(target, call)
        error: Exception | None = None
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                return await _sent(target, address, call)
            except ProviderUnreachableError as failure:
                error = failure
        raise error or call.error(ProviderUnreachableError, "has no address")

    async def _addresses(self, target: Target, call: Call) -> Sequence[IpAddress]:
        """Return where a page is served.

        Raises:
            PageRefusedError: One of the addresses is not allowed.
        """
        found: Sequence[IpAddress] = () if target.address is None else (target.address,)
        if not found:
            left = call.until - call.clock()
            try:
                found = await call_hook(self._look_up, None, left, target.host, target.port)
            except TimeoutError:
                raise call.timeout("total") from None
            except (OSError, UnicodeError):
                raise call.error(ProviderUnreachableError, "has no address") from None
        if not all(map(self._is_allowed, found)):
            raise PageRefusedError("the address is not public")
        return found


async def _sent(target: Target, address: IpAddress, call: Call) -> Reply:
    """Send the request to one address, under the name of the target."""
    import httpx2  # noqa: PLC0415 - 0.1 s, and only where a page is read

    place = f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004
    extensions: dict[str, Any] = {
        "timeout": {"connect": CONNECT_S, "pool": None, "read": None, "write": None}
    }
    if target.address is None:
        extensions["sni_hostname"] = target.host
    request = httpx2.Request(
        "GET",
        httpx2.URL(f"{target.scheme}://{place}:{target.port}{target.path}"),
        headers={**_HEADERS, "host": target.authority},
        extensions=extensions,
    )
    patience = call.until - call.clock()
    if patience <= 0:
        raise call.timeout("total")
    group = Group()
    response: httpx2.Response | None = None
    try:
        with anyio.move_on_after(patience):
            response = await group.transport.handle_async_request(request)
    except httpx2.TransportError as error:
        raise call.transport_error(error) from without_frames(error)
    finally:
        if response is None:
            await group.close()
    if response is None:
        raise call.timeout("total")
    return Reply(response, call, httpx2, group.close)


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
