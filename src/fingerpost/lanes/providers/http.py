"""One thin layer over the HTTP client: whole-call limits, size caps, one origin for a key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import anyio
import anyio.lowlevel

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import BadResponseError, ConfigError
from fingerpost.lanes.providers.call import Call, without_frames
from fingerpost.lanes.providers.limits import CONNECT_S, CallLimits
from fingerpost.lanes.providers.log_filter import keep_out_of_logs
from fingerpost.lanes.providers.pool import Pool
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.providers.scrub import Scrubber

if TYPE_CHECKING:
    import httpx2

__all__ = ["Http"]

_PORTS: Final = 2**16


class Http:
    """Sends requests to one endpoint; may be used from several event loops at once.

    Follows no redirect, keeps no cookie, reads no environment, and sends the endpoint's key to
    the endpoint's origin only.

    Args:
        endpoint: Whom to ask.
        clock: Monotonic seconds, the clock of deadlines.

    Attributes:
        scrubber: Takes the endpoint's key out of texts.

    Raises:
        ConfigError: The address is no http or https URL, or the key cannot stand in a header.
    """

    def __init__(self, endpoint: Endpoint, clock: Callable[[], float] = time.monotonic) -> None:
        import httpx2  # noqa: PLC0415 - 0.1 s, and only where a provider is called

        self.endpoint = endpoint
        self.scrubber = Scrubber(endpoint.key)
        self.clock = clock
        self._httpx = httpx2
        self._origin = _origin(_address(httpx2, endpoint))
        self._pools: WeakKeyDictionary[Any, Pool] = WeakKeyDictionary()
        self._lock = threading.Lock()
        _check_key(endpoint)
        keep_out_of_logs(self.scrubber)

    async def send(
        self,
        url: str,
        body: bytes | None,
        sign: Callable[[], Mapping[str, str]],
        limits: CallLimits,
        deadline: float | None = None,
    ) -> Reply:
        """Send a request and return its reply when the head has come; close it afterwards.

        Args:
            url: The whole address.
            body: JSON to post; ``None`` makes it a GET.
            sign: Gives the headers with the key in them, which no variable here holds: a
                traceback may be written with its variables.
            limits: Of this call.
            deadline: By the clock; shortens the total.

        Raises:
            ProviderTimeoutError: The head did not come in time.
            ProviderUnreachableError: No connection, or it broke.
            ProviderTLSError: The other side is not who it should be.
            BadResponseError: What came is no HTTP, or status 200 with a body that is compressed
                without having been asked.
        """
        start = self.clock()
        until = start + limits.total_s
        if deadline is not None:
            until = min(until, deadline)
        call = Call(self.endpoint, self.clock, until, limits)
        patience = min(limits.first_byte_s, until - start)
        if patience <= 0:
            raise call.timeout("total")
        request = self._request(url, body, sign)
        pool = self._pool()
        group = pool.take()
        response: httpx2.Response | None = None
        try:
            with anyio.move_on_after(patience):
                response = await group.transport.handle_async_request(request)
        except self._httpx.TransportError as error:
            raise call.transport_error(error) from without_frames(error)
        finally:
            if response is None:
                await pool.give_back(group)
        if response is None:
            raise call.timeout("total" if patience < limits.first_byte_s else "first byte")
        reply = Reply(response, call, self._httpx, lambda: pool.give_back(group))
        if reply.is_compressed and reply.status == HTTPStatus.OK:
            await reply.close()
            raise call.error(BadResponseError, "answered with a compressed body, unasked")
        return reply

    @property
    def server(self) -> str:
        """Host and port."""
        return f"{self._origin[1]}:{self._origin[2]}"

    async def close(self) -> None:
        """Close the idle connections of the running event loop."""
        with self._lock:
            pool = self._pools.pop(_loop_key(), None)
        if pool is not None:
            await pool.close()

    def _request(
        self, url: str, body: bytes | None, sign: Callable[[], Mapping[str, str]]
    ) -> httpx2.Request:
        address = self._httpx.URL(url)
        if _origin(address) != self._origin:
            raise ConfigError(
                f"A request for {self.endpoint.provider} would have left its address."
            )
        common = {"accept-encoding": "identity", "user-agent": "fingerpost"}
        if body is not None:
            common["content-type"] = "application/json"
        timeout = {"connect": CONNECT_S, "pool": None, "read": None, "write": None}
        return self._httpx.Request(
            "GET" if body is None else "POST",
            address,
            headers={**common, **sign()},
            content=body,
            extensions={"timeout": timeout},
        )

    def _pool(self) -> Pool:
        """Return the running event loop's connections."""
        key = _loop_key()
        with self._lock:
            found = self._pools.get(key)
            if found is None:
                for loop in [k for k in self._pools if _is_over(k)]:
                    del self._pools[loop]
                found = self._pools[key] = Pool()
            return found


def _address(httpx: Any, endpoint: Endpoint) -> httpx2.URL:
    try:
        url: httpx2.URL = httpx.URL(endpoint.base_url)
    except (httpx.InvalidURL, TypeError):
        raise ConfigError(f"base_url of {endpoint.provider} is no URL.") from None
    is_usable = url.scheme in {"http", "https"} and url.host and (url.port or 0) < _PORTS
    if not is_usable or url.userinfo:
        raise ConfigError(
            f"base_url of {endpoint.provider} must be http:// or https:// with a host and "
            "without a user name."
        )
    return url


def _check_key(endpoint: Endpoint) -> None:
    value = endpoint.key.reveal() if endpoint.key is not None else ""
    if not (value.isascii() and value.isprintable()) or value != value.strip():
        raise ConfigError(
            f"{endpoint.key_name or 'The key'} holds characters that no key has "
            "(blanks at an end, line ends, or letters beyond ASCII)."
        )


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    default = 443 if url.scheme == "https" else 80
    return url.scheme, url.host.lower(), url.port or default


def _loop_key() -> Any:
    """Return what stands for the running event loop as long as it runs."""
    token = anyio.lowlevel.current_token()
    return getattr(token, "native_token", token)


def _is_over(loop: Any) -> bool:
    """Return whether an event loop has ended, as far as that can be known."""
    is_closed = getattr(loop, "is_closed", None)
    return bool(is_closed is not None and is_closed())
