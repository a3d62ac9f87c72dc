"""A request to a public address, and to nothing else."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final

import anyio

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import PageRefusedError, ProviderUnreachableError
from fingerpost.lanes.providers.call import Call, without_frames
from fingerpost.lanes.providers.limits import CONNECT_S, CallLimits
from fingerpost.lanes.providers.pool import Group
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.web.public import IpAddress, is_public
from fingerpost.lanes.web.target import Target
from fingerpost.observe.hooks import call_hook

__all__ = ["LookUp", "Visitor", "look_up"]

_MOST_ADDRESSES: Final = 2
_HEADERS: Final = {
    "accept-encoding": "identity",
    "connection": "close",
    "user-agent": "fingerpost",
}

LookUp = Callable[[str, int], Sequence[IpAddress]]


def look_up(host: str, port: int) -> list[IpAddress]:
    """Return the addresses of a name; blocking.

    Raises:
        OSError: There are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(item[4][0]).partition("%")[0]) for item in found))


class Visitor:
    """Asks at public addresses, and nowhere else.

    A name is looked up once, all of its addresses must be public, and the connection goes to
    one of these, whatever the name leads to later. No cookie, key, proxy or setting of the
    environment takes part, and no redirect is followed.

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
        self.clock = clock
        self._is_allowed = is_allowed
        self._look_up = look_up

    async def ask(
        self, target: Target, limits: CallLimits, headers: Mapping[str, str], job: str
    ) -> Reply:
        """Return the reply to a GET request; close it afterwards.

        Args:
            target: What is asked for.
            limits: Of the request.
            headers: Besides those that say who asks.
            job: What for, in errors.

        Raises:
            PageRefusedError: An address that the target leads to is not public.
            ProviderError: It could not be asked: unreachable, too slow.
        """
        endpoint = Endpoint("web", job, target.host, target.url, job="search")
        call = Call(endpoint, self.clock, self.clock() + limits.total_s, limits)
        error: Exception | None = None
        for address in (await self._addresses(target, call))[:_MOST_ADDRESSES]:
            try:
                return await _sent(target, address, call, headers)
            except ProviderUnreachableError as failure:
                error = failure
        raise error or call.error(ProviderUnreachableError, "has no address")

    def addresses(self, target: Target) -> Sequence[IpAddress]:
        """Return where a target is served; blocking.

        Raises:
            PageRefusedError: One of the addresses is not public.
            OSError: There are none.
        """
        given = target.address
        found = self._look_up(target.host, target.port) if given is None else (given,)
        return self._allowed(found)

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
        return self._allowed(found)

    def _allowed(self, found: Sequence[IpAddress]) -> Sequence[IpAddress]:
        if not all(map(self._is_allowed, found)):
            raise PageRefusedError("the address is not public")
        return found


async def _sent(
    target: Target, address: IpAddress, call: Call, headers: Mapping[str, str]
) -> Reply:
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
        headers={**_HEADERS, **headers, "host": target.authority},
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
