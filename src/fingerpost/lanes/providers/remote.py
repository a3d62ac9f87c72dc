"""What every model behind an address has."""

from __future__ import annotations

import time
from collections.abc import Callable

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.http import Http

__all__ = ["Remote"]


class Remote:
    """A model at one endpoint.

    Args:
        endpoint: Provider, model, address and key.
        clock: Monotonic seconds, the clock of deadlines.
        now: Seconds since the epoch, for ``retry-after`` dates.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._endpoint = endpoint
        self._now = now
        self._http = Http(endpoint, clock)
        self._scrubber = self._http.scrubber
        self._name = f"{endpoint.provider}/{endpoint.model}"

    @property
    def provider(self) -> str:
        """The word that routes it."""
        return self._endpoint.provider

    @property
    def model(self) -> str:
        """The provider's name of the model."""
        return self._endpoint.model

    @property
    def server(self) -> str:
        """Host and port: models of one provider and server fail and rest together."""
        return self._http.server

    async def close(self) -> None:
        """Close idle connections of the running event loop. The model can still be used."""
        await self._http.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name})"
