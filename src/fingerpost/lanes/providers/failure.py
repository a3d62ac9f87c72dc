"""What a provider's reply that is no answer means: status and error code to our errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from fingerpost.config.address import host_of
from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    ContextTooLongError,
    ModelNotFoundError,
    ProviderConflictError,
    ProviderError,
    ProviderOverloadedError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    QuotaError,
    RateLimitedError,
    RefusedError,
    RequestRejectedError,
    RequestTooLargeError,
)
from fingerpost.lanes.providers.fields import as_items, as_mapping, as_text, parse_json
from fingerpost.lanes.providers.retry_after import retry_after_s
from fingerpost.lanes.providers.scrub import Scrubber

__all__ = ["error_for", "error_in", "request_id"]

_BY_CODE: Final[Mapping[str, type[ProviderError]]] = {
    **dict.fromkeys(
        ("context_length_exceeded", "exceed_context_size_error", "1039"), ContextTooLongError
    ),
    **dict.fromkeys(
        (
            "insufficient_quota",
            "insufficient_balance",
            "insufficient_credits",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "enforced_spend_limit_reached",
            "contract_spend_limit_reached",
            "linked_organization_spend_limit_reached",
            "linked_organization_billing_unavailable",
            "spend_limit_reached",
            "payment_required",
            "1008",
        ),
        QuotaError,
    ),
    **dict.fromkeys(
        (
            "invalid_api_key",
            "api_key_invalid",
            "authentication_error",
            "permission_error",
            "permission_denied",
            "unauthenticated",
            "1004",
            "2049",
        ),
        AuthenticationError,
    ),
    **dict.fromkeys(
        ("model_not_found", "model_decommissioned", "not_found_error"), ModelNotFoundError
    ),
    **dict.fromkeys(("content_filter", "content_policy_violation", "1026", "1027"), RefusedError),
    **dict.fromkeys(
        ("rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "1002"),
        RateLimitedError,
    ),
    **dict.fromkeys(("overloaded_error", "overloaded"), ProviderOverloadedError),
    **dict.fromkeys(
        ("api_error", "server_error", "internal_server_error", "internal", "unavailable", "1000"),
        ProviderUnavailableError,
    ),
    **dict.fromkeys(("timeout_error", "deadline_exceeded", "1001"), ProviderTimeoutError),
    "request_too_large": RequestTooLargeError,
}
_BY_STATUS: Final[Mapping[int, type[ProviderError]]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    404: ModelNotFoundError,
    408: ProviderTimeoutError,
    409: ProviderConflictError,
    413: RequestTooLargeError,
    429: RateLimitedError,
    529: ProviderOverloadedError,
}
# Statuses that say too little, and what their code may make of them.
_REFINED: Final[Mapping[int, tuple[type[ProviderError], ...]]] = {
    400: (
        ContextTooLongError,
        QuotaError,
        AuthenticationError,
        ModelNotFoundError,
        RefusedError,
        RequestTooLargeError,
    ),
    403: (QuotaError, RefusedError, ModelNotFoundError),
    413: (ContextTooLongError,),
    422: (ContextTooLongError, RefusedError, ModelNotFoundError),
    429: (QuotaError,),
    500: (ProviderOverloadedError,),
    503: (ProviderOverloadedError,),
}
_REQUEST_IDS: Final = (
    "x-request-id",
    "request-id",
    "x-typesafe-request-id",
    "x-goog-request-id",
    "cf-ray",
)
_MODEL_SETTING: Final = {
    "classify": "classifier_model",
    "generate": "generation_model",
    "generate_deep": "generation_model_deep",
    "embed": "embedding_model",
    "decide": "decision_model",
}


def error_for(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    endpoint: Endpoint,
    model: str = "",
    now: float = 0.0,
) -> ProviderError:
    """Return the error that a reply with this status stands for. Pure.

    Args:
        status: HTTP status, any but one of an answer; 200 for an error told in a body.
        headers: Of the reply, names in lower case.
        body: Its first bytes; at most 200 characters of them, without keys, are shown.
        endpoint: Whom was asked.
        model: The model that was asked for; empty takes the endpoint's.
        now: Seconds since the epoch, for a ``retry-after`` date in a reply without a date.
    """
    try:
        said = as_mapping(parse_json(body))
    except ValueError:
        said = {}
    return _error(status, headers, said, body, endpoint, model or endpoint.model, now)


def error_in(
    data: Mapping[str, Any],
    headers: Mapping[str, str],
    *,
    endpoint: Endpoint,
    model: str = "",
    now: float = 0.0,
) -> ProviderError | None:
    """Return the error that a reply of status 200 tells in its body, ``None`` when it tells none.

    Args:
        data: The body, or one event of a stream.
        headers: Of the reply, names in lower case.
        endpoint: Whom was asked.
        model: The model that was asked for; empty takes the endpoint's.
        now: Seconds since the epoch.
    """
    state = as_mapping(data.get("base_resp")).get("status_code", 0)
    is_error = data.get("error") or "error" in (data.get("type"), data.get("object"))
    if not is_error and state == 0:
        return None
    return _error(200, headers, data, b"", endpoint, model or endpoint.model, now)


def _error(
    status: int,
    headers: Mapping[str, str],
    said: Mapping[str, Any],
    body: bytes,
    endpoint: Endpoint,
    model: str,
    now: float,
) -> ProviderError:
    codes = tuple(_codes(said))
    kind = _kind(status, codes)
    text = _message(said) or body[:4096].decode("utf-8", "replace")
    scrubber = Scrubber(endpoint.key)
    shown = scrubber.clean(text)
    what = f"answered {status}" if status != HTTPStatus.OK else "answered with an error"
    wait = retry_after_s(headers, now)
    return kind(
        f"{replace(endpoint, model=model).name} {what}" + (f": {shown}" if shown else "."),
        provider=endpoint.provider,
        model=model,
        status=status,
        request_id=scrubber.without_key(request_id(headers, said)),
        retry_after_s=wait if wait is not None else _told_delay(said),
        hint=_hint(kind, endpoint, _where_to(headers, scrubber)),
    )


def request_id(headers: Mapping[str, str], data: Mapping[str, Any]) -> str:
    """Return the provider's own id of a call, empty when it gave none."""
    for name in _REQUEST_IDS:
        if headers.get(name):
            return headers[name][:100]
    return as_text(data.get("request_id"))[:100]


def _kind(status: int, codes: tuple[str, ...]) -> type[ProviderError]:
    known = [_BY_CODE[code] for code in codes if code in _BY_CODE]
    if status == HTTPStatus.OK:
        numbers = [int(c) for c in codes if len(c) == 3 and c.isdecimal()]  # noqa: PLR2004
        return next(iter(known), None) or next(
            (_kind(n, codes) for n in numbers if n >= HTTPStatus.BAD_REQUEST), BadResponseError
        )
    refined = next((kind for kind in known if kind in _REFINED.get(status, ())), None)
    if refined is not None:
        return refined
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return BadResponseError
    if status < HTTPStatus.BAD_REQUEST:
        return ProviderRedirectedError
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return RequestRejectedError
    return ProviderUnavailableError


def _codes(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield every code that an error body may carry, in lower case, the most telling first."""
    error = said.get("error")
    inner = as_mapping(error)
    details = [as_mapping(item) for item in as_items(inner.get("details"))]
    values = [
        *(item.get("reason") for item in details),
        as_mapping(inner.get("details")).get("error_code"),
        inner.get("code"),
        inner.get("status"),
        inner.get("type"),
        as_mapping(said.get("detail")).get("error_type"),
        said.get("error_type"),
        said.get("code"),
        said.get("status"),
        said.get("type"),
        as_mapping(said.get("base_resp")).get("status_code"),
    ]
    for value in values:
        if isinstance(value, str | int):
            yield str(value).lower()[:64]


def _message(said: Mapping[str, Any]) -> str:
    error = said.get("error")
    candidates = (
        as_mapping(error).get("message"),
        error,
        said.get("message"),
        as_mapping(said.get("base_resp")).get("status_msg"),
        said.get("detail"),
        as_mapping(said.get("detail")).get("message"),
        *(as_mapping(item).get("msg") for item in as_items(said.get("detail"))),
    )
    return next((text for text in map(as_text, candidates) if text), "")


def _told_delay(said: Mapping[str, Any]) -> float | None:
    """Return the delay in the details of a Google error, ``"34s"``."""
    for item in as_items(as_mapping(said.get("error")).get("details")):
        delay = as_text(as_mapping(item).get("retryDelay"))
        if delay.endswith("s"):
            return retry_after_s({"retry-after": delay[:-1]}, 0.0)
    return None


def _hint(kind: type[ProviderError], endpoint: Endpoint, where: str) -> str:
    setting = _MODEL_SETTING.get(endpoint.job, "generation_model")
    if kind is ModelNotFoundError:
        return f"Set {setting} to a model that {endpoint.provider} serves; check base_url."
    if kind is AuthenticationError:
        key = endpoint.key_name or "the key (none was sent)"
        return f"Check {key} for {endpoint.provider}."
    if kind is QuotaError:
        return f"The account at {endpoint.provider} has nothing left to spend."
    if kind is RateLimitedError:
        return "Ask less at once, or later, or name other providers to go on to."
    if kind is ProviderRedirectedError and where:
        return f"It leads to {where}: set base_url to an address there, if you trust it."
    return "Check base_url." if kind is ProviderRedirectedError else ""


def _where_to(headers: Mapping[str, str], scrubber: Scrubber) -> str:
    """Return the server that a redirect names, without path and query: they may hold a secret."""
    with suppress(ValueError):
        parts = urlsplit(headers.get("location", "").strip())
        if parts.scheme in {"http", "https"} and parts.hostname:
            return scrubber.clean(f"{parts.scheme}://{host_of(parts.geturl())}")
    return ""
