"""The table of faults: what each error of a call means for the next step of its lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    ContextTooLongError,
    EmptyCompletionError,
    InvalidDecisionResponseError,
    LaneError,
    LaneExhaustedError,
    ModelNotFoundError,
    ProviderConflictError,
    ProviderError,
    ProviderOverloadedError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    ProviderTLSError,
    ProviderUnavailableError,
    ProviderUnreachableError,
    QuotaError,
    RateLimitedError,
    RefusedError,
    RequestRejectedError,
    RequestTooLargeError,
    ResponseTooLargeError,
    StreamTruncatedError,
)


class Again(StrEnum):
    """When the same endpoint may be asked once more."""

    NEVER = "never"
    ONCE = "once"
    EARLY = "once, when more than half of the time is left"
    ALONE = "once, when no other endpoint can be asked"


class Effect(StrEnum):
    """What it does to the circuit of the provider."""

    NONE = "none: it does not speak of the provider"
    ANSWERED = "as after a reply: the provider is well"
    COUNT = "counts as a failure"
    REST = "rests for a fixed time"
    REST_MODEL = "only the model rests for a fixed time"
    PACE = "rests for a growing time, unless it is the last that is healthy: then counts"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row.

    Attributes:
        again: May the same endpoint be asked again?
        move_on: May the next endpoint be asked? If not, the error ends the call.
        effect: On the circuit.
        weight: How much it counts as a failure, 0 to 1.
        rest_s: First rest.
        longest_rest_s: Where a growing rest ends.
        wait_s: Fixed wait before asking again; ``None`` waits by the backoff.
        billed: The provider may have counted tokens.
    """

    again: Again = Again.NEVER
    move_on: bool = True
    effect: Effect = Effect.COUNT
    weight: float = 1.0
    rest_s: float = 0.0
    longest_rest_s: float = 0.0
    wait_s: float | None = None
    billed: bool = False


_FIVE_MINUTES: Final = 300.0
_REST: Final = Rule(effect=Effect.REST, rest_s=_FIVE_MINUTES)
_STOP: Final = Rule(move_on=False, effect=Effect.ANSWERED)
_SLOW: Final = Rule(billed=True)

# Error, and for timeouts their phase or status → rule. An error without a row has that of the
# nearest class above it.
FAULTS: Final[Mapping[tuple[type[LaneError], str], Rule]] = {
    (ProviderTimeoutError, "pool"): Rule(effect=Effect.NONE),  # this machine has none free
    (ProviderTimeoutError, "first byte"): Rule(again=Again.EARLY, billed=True),
    (ProviderTimeoutError, "idle"): _SLOW,
    (ProviderTimeoutError, "408"): Rule(again=Again.ONCE),
    (ProviderTimeoutError, ""): _SLOW,
    (ProviderUnreachableError, ""): Rule(),
    (ProviderTLSError, ""): _REST,
    (ProviderRedirectedError, ""): _REST,
    (RequestRejectedError, ""): _STOP,
    (ContextTooLongError, ""): Rule(effect=Effect.ANSWERED),
    (RequestTooLargeError, ""): Rule(effect=Effect.ANSWERED),
    (AuthenticationError, ""): _REST,
    (QuotaError, ""): Rule(effect=Effect.REST, rest_s=900.0),
    (ModelNotFoundError, ""): Rule(effect=Effect.REST_MODEL, rest_s=_FIVE_MINUTES),
    (ProviderConflictError, ""): Rule(again=Again.ONCE, effect=Effect.ANSWERED, wait_s=0.5),
    (RateLimitedError, ""): Rule(
        again=Again.ALONE, effect=Effect.PACE, weight=0.0, rest_s=5.0, longest_rest_s=60.0
    ),
    (ProviderOverloadedError, ""): Rule(
        again=Again.ALONE, effect=Effect.PACE, rest_s=10.0, longest_rest_s=120.0
    ),
    (ProviderUnavailableError, ""): Rule(again=Again.ONCE),
    (BadResponseError, ""): Rule(again=Again.ONCE, billed=True),
    (EmptyCompletionError, ""): Rule(again=Again.ONCE, weight=0.5, billed=True),
    (InvalidDecisionResponseError, ""): Rule(billed=True),  # it would decide the same again
    (ResponseTooLargeError, ""): Rule(billed=True),
    (StreamTruncatedError, ""): Rule(billed=True),
    (RefusedError, ""): Rule(move_on=False, effect=Effect.ANSWERED, billed=True),
    (ProviderError, ""): Rule(),
    (LaneExhaustedError, ""): Rule(effect=Effect.NONE),  # a lane within a lane
    (LaneError, ""): Rule(move_on=False, effect=Effect.NONE),
}


def rule_for(error: LaneError) -> Rule:
    """Return the row of an error."""
    detail = ""
    if isinstance(error, ProviderTimeoutError):
        is_told = error.status == HTTPStatus.REQUEST_TIMEOUT
        detail = str(int(HTTPStatus.REQUEST_TIMEOUT)) if is_told else error.phase
    keys = ((kind, word) for kind in type(error).__mro__ for word in (detail, ""))
    return next(FAULTS[key] for key in keys if key in FAULTS)
