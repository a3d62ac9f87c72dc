"""One call under way: its limits, and the errors that it can end in."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Final

from fingerpost.config.address import host_of
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

_NONE_FREE: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL})


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

    def error(self, kind: type[ProviderError], what: str, hint: str = "") -> ProviderError:
        """Return an error of ``kind`` that says whom it is about."""
        endpoint = self.endpoint
        return kind(
            f"{endpoint.name} {what}.",
            provider=endpoint.provider,
            model=endpoint.model,
            hint=hint,
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

        if isinstance(error, httpx2.ConnectError) and _has_cause(error, ssl.SSLError):
            hint = f"Check the certificate of {self._host}, and that it is the host you meant."
            return self.error(ProviderTLSError, "could not prove who it is (TLS)", hint)
        if isinstance(error, httpx2.LocalProtocolError):
            return self.error(AuthenticationError, "was not asked: a header is not allowed")
        if isinstance(error, httpx2.RemoteProtocolError):
            if in_body:
                return self.error(StreamTruncatedError, "broke off in the middle of its reply")
            if _has_cause(error, h11.RemoteProtocolError):
                return self.error(BadResponseError, "answered with something that is no HTTP")
        kind = type(error).__name__
        if in_body:
            return self.error(ProviderUnreachableError, f"broke the connection ({kind})")
        if _is_none_free(error):
            return self._no_connection()
        hint = f"Check that {self._host} is the host you meant and can be reached from here."
        is_unknown = _has_cause(error, socket.gaierror)
        why = ": no such host (DNS)" if is_unknown else f" ({kind})"
        return self.error(ProviderUnreachableError, f"could not be reached{why}", hint)

    @property
    def _host(self) -> str:
        return host_of(self.endpoint.base_url)

    def _no_connection(self) -> ProviderError:
        """Return the error of a call that could not begin for a reason of this machine's."""
        error = ProviderTimeoutError(
            f"{self.endpoint.name} was not asked: no connection is free here.",
            provider=self.endpoint.provider,
            model=self.endpoint.model,
            hint="Ask less at once, or raise the limit of open files (ulimit -n).",
        )
        error.phase = "pool"
        return error


def _is_none_free(error: BaseException) -> bool:
    return any(isinstance(one, OSError) and one.errno in _NONE_FREE for one in _causes(error))


def _has_cause(error: BaseException, kind: type[BaseException]) -> bool:
    return any(isinstance(one, kind) for one in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and what led to it; trio tells of each address that it tried."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from error.exceptions
        error = error.__cause__ or error.__context__


def without_frames(error: BaseException) -> BaseException:
    """Drop the stack frames of ``error`` and its causes: their locals hold the signed request."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error
