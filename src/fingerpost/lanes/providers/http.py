"""One thin layer over the HTTP client: whole-call limits, size caps, one origin for a key."""

from __future__ import annotations

import contextlib
import ssl
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import anyio
import anyio.lowlevel

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
    ProviderTLSError,
    ProviderUnreachableError,
    ResponseTooLargeError,
    StreamTruncatedError,
)
from fingerpost.lanes.providers.limits import CONNECT_S, POOL_S, CallLimits
from fingerpost.lanes.providers.lines import LineTooLongError, split_lines
from fingerpost.lanes.providers.log_filter import keep_out_of_logs
from fingerpost.lanes.providers.pool import Pool
from fingerpost.lanes.providers.scrub import Scrubber

if TYPE_CHECKING:
    import httpx2

__all__ = ["Http", "Reply"]

_CLOSE_S: Final = 1.0
_PORTS: Final = 2**16
_DRAIN_S: Final = 0.05


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
            BadResponseError: What came is no HTTP, or compressed without having been asked.
        """
        start = self.clock()
        until = start + limits.total_s
        if deadline is not None:
            until = min(until, deadline)
        call = _Call(self.endpoint, self.clock, until, limits)
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
            raise call.transport_error(error) from _without_frames(error)
        finally:
            if response is None:
                await pool.give_back(group)
        if response is None:
            raise call.timeout("total" if patience < limits.first_byte_s else "first byte")
        reply = Reply(response, call, self._httpx, lambda: pool.give_back(group))
        if reply.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await reply.close()
            raise call.error(BadResponseError, "answered with a compressed body, unasked")
        return reply

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
        timeout = {"connect": CONNECT_S, "pool": POOL_S, "read": None, "write": None}
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


class Reply:
    """The reply to one request: its head, and its body as it comes.

    Attributes:
        status: HTTP status.
        headers: Names in lower case; of several the last.
        n_bytes: Bytes of the body read so far.
    """

    def __init__(
        self,
        response: httpx2.Response,
        call: _Call,
        httpx: Any,
        give_back: Callable[[], Awaitable[None]],
    ) -> None:
        self.status: int = response.status_code
        self.headers: dict[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers.raw
        }
        self.n_bytes = 0
        self._call = call
        self._errors = httpx.TransportError
        self._give_back = give_back
        self._is_closed = False
        self._is_read = False
        self._stream: Any = response.stream
        self._parts: AsyncIterator[bytes] = response.stream.__aiter__()  # type: ignore[union-attr]
        self._idle_until = 0.0
        self.content_came()

    def content_came(self) -> None:
        """Start the idle limit anew; called by whoever reads the body, for real content only."""
        self._idle_until = self._call.clock() + self._call.limits.idle_s

    async def read(self) -> bytes:
        """Return the whole body.

        Raises:
            ProviderTimeoutError: It did not come in time.
            ProviderUnreachableError: The connection broke.
            StreamTruncatedError: It ended early.
            ResponseTooLargeError: It passed the size limit.
        """
        parts = []
        while part := await self._part():
            parts.append(part)
            self.content_came()
        return b"".join(parts)

    async def beginning(self, n_bytes: int) -> bytes:
        """Return up to about ``n_bytes`` of the body, less when it breaks off: for an error."""
        parts: list[bytes] = []
        # The status says more than that its explanation was cut.
        with contextlib.suppress(ProviderError):
            while self.n_bytes < n_bytes and (part := await self._part()):
                parts.append(part)
        return b"".join(parts)

    async def lines(self) -> AsyncGenerator[str]:
        """Yield the lines of the body as they come, the last one even when it has no end.

        Raises:
            ProviderTimeoutError: Too long without content, or in all.
            ProviderUnreachableError: The connection broke.
            StreamTruncatedError: The body ended early.
            ResponseTooLargeError: The body, or a line of it, passed the size limit.
        """
        rest = b""
        while part := await self._part():
            try:
                lines, rest = split_lines(rest, part)
            except LineTooLongError as error:
                raise self._call.error(ResponseTooLargeError, str(error)) from None
            for line in lines:
                yield line
        if rest:
            yield rest.decode("utf-8", "replace").removesuffix("\r")

    async def close(self, *, drain: bool = False) -> None:
        """Give the connection back, or close it when the body was not read to its end.

        Args:
            drain: All that matters was read: take the end of the body when it is there, so that
                the connection can be kept.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if drain:
            with anyio.move_on_after(_DRAIN_S), contextlib.suppress(ProviderError):
                while await self._part():
                    pass
        await self._leave()
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await self._stream.aclose()
        await self._give_back()

    async def _leave(self) -> None:
        """End a body that was not read to its end.

        By a cancelled read: closing the outermost of the client's nested generators would leave
        the inner ones to the garbage collector.
        """
        with anyio.CancelScope(shield=True) as scope, contextlib.suppress(self._errors):
            scope.cancel()
            while not self._is_read:
                self._is_read = not await anext(self._parts, b"")

    async def _part(self) -> bytes:
        call = self._call
        until = min(call.until, self._idle_until)
        patience = until - call.clock()
        if patience <= 0:
            raise call.timeout("total" if until == call.until else "idle")
        part = b""
        try:
            with anyio.move_on_after(patience) as scope:
                part = await anext(self._parts, b"")
        except self._errors as error:
            self._is_read = True
            raise call.transport_error(error, in_body=True) from _without_frames(error)
        if scope.cancelled_caught:
            raise call.timeout("total" if until == call.until else "idle")
        self._is_read = not part
        self.n_bytes += len(part)
        if self.n_bytes > call.limits.max_bytes:
            raise call.error(
                ResponseTooLargeError, f"sent more than {call.limits.max_bytes:,} bytes"
            )
        return part


class _Call:
    """One call under way: its limits, and the errors that it can end in."""

    def __init__(
        self, endpoint: Endpoint, clock: Callable[[], float], until: float, limits: CallLimits
    ) -> None:
        self.endpoint = endpoint
        self.clock = clock
        self.until = until
        self.limits = limits

    def error(self, kind: type[ProviderError], what: str) -> ProviderError:
        """Return an error of ``kind`` that says whom it is about."""
        endpoint = self.endpoint
        return kind(
            f"{endpoint.provider}/{endpoint.model} {what}.",
            provider=endpoint.provider,
            model=endpoint.model,
        )

    def timeout(self, phase: str) -> ProviderError:
        """Return the error of a limit that passed."""
        error = ProviderTimeoutError(
            f"{self.endpoint.provider}/{self.endpoint.model} was too slow ({phase}).",
            provider=self.endpoint.provider,
            model=self.endpoint.model,
        )
        error.phase = phase
        return error

    def transport_error(self, error: Exception, *, in_body: bool = False) -> ProviderError:
        """Return our error for one of the HTTP client."""
        import h11  # noqa: PLC0415 - comes with the HTTP client
        import httpx2  # noqa: PLC0415 - loaded by now

        if isinstance(error, httpx2.PoolTimeout):
            return self.timeout("pool")
        if isinstance(error, httpx2.ConnectError) and _cause(error, ssl.SSLError) is not None:
            return self.error(ProviderTLSError, "could not prove who it is (TLS)")
        if isinstance(error, httpx2.LocalProtocolError):
            return self.error(AuthenticationError, "was not asked: a header is not allowed")
        if isinstance(error, httpx2.RemoteProtocolError):
            if in_body:
                return self.error(StreamTruncatedError, "broke off in the middle of its reply")
            if _cause(error, h11.RemoteProtocolError) is not None:
                return self.error(BadResponseError, "answered with something that is no HTTP")
        what = "broke the connection" if in_body else "could not be reached"
        return self.error(ProviderUnreachableError, f"{what} ({type(error).__name__})")


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


def _cause(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error


def _without_frames(error: BaseException) -> BaseException:
    """Drop the stack frames of ``error`` and its causes: their locals hold the signed request."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error
