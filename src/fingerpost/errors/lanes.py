"""What can go wrong with a model call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fingerpost.errors.core import FingerpostError

if TYPE_CHECKING:  # so that the command line's --help loads no types
    from fingerpost.types.result import Usage


class LaneError(FingerpostError):
    """A model call failed.

    Attributes:
        usage: What was spent on it, one item per attempt.
    """

    usage: tuple[Usage, ...] = ()


class EmbeddingError(LaneError):
    """An embedding model could not be loaded, or gave no usable vector."""


class ProviderError(LaneError):
    """A provider gave no usable reply.

    Attributes:
        provider: ``openai``, ``anthropic``, …
        model: The model that was asked.
        status: HTTP status, 0 when there was none.
        request_id: The provider's own id of the call, empty when none.
        retry_after_s: Seconds after which it may be asked again, ``None`` when it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str = "",
        model: str = "",
        status: int = 0,
        request_id: str = "",
        retry_after_s: float | None = None,
        hint: str = "",
    ) -> None:
        """Keep whom was asked and what came back."""
        super().__init__(message, hint=hint)
        self.provider = provider
        self.model = model
        self.status = status
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class ProviderTimeoutError(ProviderError):
    """No reply in time.

    Attributes:
        phase: ``first byte``, ``idle`` or ``total``; ``pool`` when this machine had no connection
            free, and the provider was not asked.
    """

    retryable = True
    phase: str = "total"


class ProviderUnreachableError(ProviderError):
    """No connection: refused, no such host, not made in time, reset."""

    retryable = True


class ProviderUnavailableError(ProviderError):
    """The provider failed on its own side (5xx)."""

    retryable = True


class ProviderOverloadedError(ProviderUnavailableError):
    """The provider is overloaded for everybody (529)."""


class ProviderConflictError(ProviderError):
    """The provider is busy with something that stands in the way (409)."""

    retryable = True


class ProviderTLSError(ProviderError):
    """The connection cannot be trusted. Never tried in plain text instead."""


class ProviderRedirectedError(ProviderError):
    """The provider answered with a redirect, which is not followed: it may lead a key away."""


class RateLimitedError(ProviderError):
    """Too many calls (429)."""

    retryable = True


class QuotaError(ProviderError):
    """The account has nothing left to spend."""


class AuthenticationError(ProviderError):
    """The key is missing, wrong, or not allowed to do this."""


class ModelNotFoundError(ProviderError):
    """The provider has no model of this name; the hint names the setting to change."""


class RequestRejectedError(ProviderError):
    """The provider did not accept the request: a mistake on our side."""


class ContextTooLongError(RequestRejectedError):
    """The request has more tokens than the model can read."""


class RequestTooLargeError(RequestRejectedError):
    """The request has more bytes than the provider takes."""


class RefusedError(ProviderError):
    """The model or a content filter declined to answer."""


class BadResponseError(ProviderError):
    """What came back is no reply: no JSON, a page of HTML, the wrong fields."""

    retryable = True


class EmptyCompletionError(BadResponseError):
    """The reply holds no text."""


class ResponseTooLargeError(BadResponseError):
    """The reply passed the size limit and was cut off."""


class InvalidDecisionResponseError(BadResponseError):
    """A decision model's answers do not fit its questions.

    One is missing, names an unknown option, or holds a probability outside 0 to 1.
    """


class StreamTruncatedError(BadResponseError):
    """A stream ended before its end was announced.

    Attributes:
        text: What had come by then.
    """

    text: str = ""


class BadEmbeddingError(ProviderError, EmbeddingError):
    """Vectors of the wrong number, order, length or value came back."""

    retryable = True


class EmbeddingDriftError(LaneError):
    """A provider's embedding model gives other vectors than it gave the index before."""


class MalformedOutputError(LaneError):
    """A reply could not be read as what was asked for, after one repair."""


class MissingRecordingError(FingerpostError):
    """A replay has no record of a call. No `LaneError`, so that nothing takes its place."""


class PageRefusedError(LaneError):
    """A page of the web was not read: its address is not public, or what is there is no text."""


class UnroutedModelError(LaneError):
    """No route serves the model and there is no fallback, or the route is not a model."""


class BudgetExceededError(LaneError):
    """A call would pass what may be spent.

    Attributes:
        spent_usd: US dollars spent by then.
        allowed_usd: US dollars allowed.
    """

    def __init__(
        self, message: str, *, spent_usd: float, allowed_usd: float, hint: str = ""
    ) -> None:
        """Keep what was spent and allowed."""
        super().__init__(message, hint=hint)
        self.spent_usd = spent_usd
        self.allowed_usd = allowed_usd


class LaneExhaustedError(LaneError):
    """Every endpoint of a lane failed.

    Attributes:
        attempts: The error of each attempt, in order; at least one.
    """

    def __init__(self, message: str, *, attempts: Sequence[LaneError], hint: str = "") -> None:
        """Keep what each attempt ended in."""
        super().__init__(message, hint=hint)
        self.attempts = tuple(attempts)
