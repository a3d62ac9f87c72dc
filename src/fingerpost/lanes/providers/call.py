"""One call under way: its limits, and the errors that it can end in."""

from __future__ import annotations

import ssl
from collections.abc import Callable

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    ProviderError,
    ProviderTimeoutError,
    ProviderTLSError,
    ProviderUnreachableError,
    StreamTruncatedError,
)
from fingerpost.lanes.providers.limits import CallLimits

__all__ = ["Call", "without_frames"]


class Call:
    """A call at one endpoint.

    Args:
        endpoint: Whom it asks.
        clock: Monotonic seconds.
        until: When it must have ended, by the clock.
        limits: Its other limits.
    """

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
            f"{endpoint.name} {what}.",
            provider=endpoint.provider,
            model=endpoint.model,
        )

    def timeout(self, phase: str) -> ProviderError:
        """Return the error of a limit that passed."""
        error = ProviderTimeoutError(
            f"{self.endpoint.name} was too slow ({phase}).",
            provider=self.endpoint.provider,
            model=self.endpoint.model,
        )
        error.phase = phase
        return error

    def transport_error(self, error: Exception, *, in_body: bool = False) -> ProviderError:
        """Return our error for one of the HTTP client."""
        import h11  # noqa: PLC0415 - comes with the HTTP client
        import httpx2  # noqa: PLC0415 - loaded by now

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


def _cause(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error


def without_frames(error: BaseException) -> BaseException:
    """Drop the stack frames of ``error`` and its causes: their locals hold the signed request."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error
