"""One request and the reply to it, byte for byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fingerpost.testing.provider.answer import Received

__all__ = ["Exchange", "read_request"]


class Exchange:
    """Writes a reply in whatever way a fault wants it.

    Attributes:
        received: The request.
        is_over: The connection cannot be used again.
    """

    def __init__(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.received = received
        self.is_over = False
        self._reader = reader
        self._writer = writer

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send status line and headers."""
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Scripted"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in headers.items())]
        await self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def chunk(self, data: bytes) -> None:
        """Send bytes as a chunk of a chunked body; none for no bytes, which would end it."""
        if data:
            await self.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def reply(
        self, status: int, body: bytes | Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole reply; a mapping goes out as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"content-type": "application/json", "content-length": str(len(data))}
        await self.head(status, {**own, **(headers or {})})
        await self.send(data)

    async def start_stream(self, content_type: str, *, chunked: bool = True) -> None:
        """Send the head of a body whose length is not known; unchunked it ends with the line."""
        framing = {"transfer-encoding": "chunked"} if chunked else {"connection": "close"}
        self.is_over = not chunked
        await self.head(200, {"content-type": content_type, **framing})

    def reset(self) -> None:
        """Break the connection off in the hard way."""
        self.is_over = True
        connection = self._writer.get_extra_info("socket")
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def hang_up(self) -> None:
        """End the connection after what was sent."""
        self.is_over = True

    async def until_the_client_leaves(self) -> None:
        """Say nothing more."""
        self.is_over = True
        with contextlib.suppress(ConnectionError):
            while await self._reader.read(65536):
                pass


async def read_request(
    reader: asyncio.StreamReader,
) -> tuple[str, str, Mapping[str, str], bytes] | None:
    """Return method, path, headers and body of the next request, ``None`` when none comes."""
    try:
        start = await reader.readexactly(1)
        if not start.isalpha():
            return None  # a TLS handshake, for one
        head = start + await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        return None
    return method, path, headers, body
