"""The reply to one request: its head, and its body as it comes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import anyio

from fingerpost.errors import ProviderError, ResponseTooLargeError
from fingerpost.lanes.providers.call import Call, without_frames
from fingerpost.lanes.providers.lines import LineTooLongError, split_lines

if TYPE_CHECKING:
    import httpx2

__all__ = ["Reply"]

_CLOSE_S: Final = 1.0
_DRAIN_S: Final = 0.05


class Reply:
    """The reply to one request: its head, and its body as it comes.

    Attributes:
        status: HTTP status.
        headers: Names in lower case; of several the last.
        is_compressed: The body is, although nobody asked for that; it is not unpacked.
        n_bytes: Bytes of the body read so far.
        has_open_line: The last of its `lines` had no end, as when the body was cut off.
    """

    def __init__(
        self,
        response: httpx2.Response,
        call: Call,
        httpx: Any,
        give_back: Callable[[], Awaitable[None]],
    ) -> None:
        self.status: int = response.status_code
        self.headers: dict[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers.raw
        }
        encoding = self.headers.get("content-encoding", "").strip().lower()
        self.is_compressed = encoding not in {"", "identity"}
        self.n_bytes = 0
        self.has_open_line = False
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
        return b"".join([part async for part in self.pieces()])

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Yield the body as it comes; raises as `read` does."""
        while part := await self._part():
            self.content_came()
            yield part

    async def beginning(self, n_bytes: int) -> bytes:
        """Return up to about ``n_bytes`` of the body, less when it breaks off: for an error.

        Nothing of a compressed one, which says nothing to people.
        """
        parts: list[bytes] = []
        if self.is_compressed:
            return b""
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
            self.has_open_line = True
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
            raise call.transport_error(error, in_body=True) from without_frames(error)
        if scope.cancelled_caught:
            raise call.timeout("total" if until == call.until else "idle")
        self._is_read = not part
        self.n_bytes += len(part)
        if self.n_bytes > call.limits.max_bytes:
            raise call.error(
                ResponseTooLargeError, f"sent more than {call.limits.max_bytes:,} bytes"
            )
        return part
