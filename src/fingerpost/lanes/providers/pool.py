"""Connections of one event loop to one endpoint, in groups that stay small."""

from __future__ import annotations

import functools
import ssl
from typing import Final

import anyio

__all__ = ["Group", "Pool"]

# The client looks at each connection of a group for each call: one group of 1,000 calls under
# way costs four times the CPU of groups of 64.
_GROUP: Final = 64
_IDLE_CONNECTIONS: Final = 8
_KEEP_S: Final = 30.0
_CLOSE_S: Final = 1.0


class Group:
    """A transport with connections of its own.

    Attributes:
        transport: Sends requests.
        n_busy: Calls under way.
    """

    def __init__(self) -> None:
        import httpx2  # noqa: PLC0415 - 0.1 s, and only where a provider is called

        limits = httpx2.Limits(
            max_keepalive_connections=_IDLE_CONNECTIONS, keepalive_expiry=_KEEP_S
        )
        self.transport = httpx2.AsyncHTTPTransport(verify=_trust(), trust_env=False, limits=limits)
        self.n_busy = 0

    async def close(self) -> None:
        """Close its connections, even when the calling task is being cancelled."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await self.transport.aclose()


class Pool:
    """Hands out groups; used by one event loop only. At most 8 connections are kept idle."""

    def __init__(self) -> None:
        self._groups = [Group()]

    def take(self) -> Group:
        """Return a group with room for one more call; give it back when the call is over."""
        group = next((group for group in self._groups if group.n_busy < _GROUP), None)
        if group is None:
            group = Group()
            self._groups.append(group)
        group.n_busy += 1
        return group

    async def give_back(self, group: Group) -> None:
        """Note that a call is over; a group that was needed for a rush is closed after it."""
        group.n_busy -= 1
        if group.n_busy == 0 and group is not self._groups[0]:
            self._groups.remove(group)
            await group.close()

    async def close(self) -> None:
        """Close all connections."""
        for group in self._groups:
            await group.close()


@functools.cache
def _trust() -> ssl.SSLContext:
    """Return the one TLS context of the process: loading certificates takes 15 ms."""
    import httpx2  # noqa: PLC0415 - loaded by now

    return httpx2.create_ssl_context(trust_env=False)
