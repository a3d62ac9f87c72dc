"""What the API of GitHub means by a status."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from fingerpost.config.repository import RepositoryAddress
from fingerpost.errors import (
    RepositoryError,
    RepositoryNotFoundError,
    RepositoryUnavailableError,
)
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.providers.retry_after import retry_after_s

_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _GONE, _UNPROCESSABLE, _TOO_MANY, _LEGAL = (
    401, 403, 404, 409, 410, 422, 429, 451,
)  # fmt: skip
_SERVER: Final = 500
_ACCESS: Final = "Set github_repos.token or GITHUB_TOKEN to a token that may read its contents."


def error_of(
    reply: Reply, address: RepositoryAddress, *, has_key: bool, now: float | None = None
) -> RepositoryError:
    """Return the error of a reply that carries nothing.

    Args:
        reply: With a status that is no success.
        address: What was asked for.
        has_key: A token was sent.
        now: Seconds since the epoch; ``None`` takes the clock.
    """
    status, what = reply.status, address.ref or "its default branch"
    if status in (_FORBIDDEN, _TOO_MANY):
        limited = _limited(reply.headers, time.time() if now is None else now, has_key=has_key)
        if limited is not None or status == _TOO_MANY:
            return limited or RepositoryUnavailableError("too many requests")
        return RepositoryNotFoundError("the API refuses access (status 403)", hint=_ACCESS)
    if status >= _SERVER:
        return RepositoryUnavailableError(f"the API failed (status {status})")
    if status == _UNAUTHORIZED:
        return RepositoryNotFoundError("the API does not accept the token", hint=_ACCESS)
    if status in (_NOT_FOUND, _GONE):
        return RepositoryNotFoundError(
            f"the repository or {what} does not exist, or is private"
            + (" to this token" if has_key else " and no token is set"),
            hint=_ACCESS,
        )
    said = {
        _CONFLICT: "the repository is empty",
        _UNPROCESSABLE: f"it has no branch, tag or commit {address.ref or 'HEAD'}",
        _LEGAL: "the repository was taken away for legal reasons",
    }
    return RepositoryNotFoundError(said.get(status, f"the API answered with status {status}"))


def _limited(
    headers: Mapping[str, str], now: float, *, has_key: bool
) -> RepositoryUnavailableError | None:
    """Return the error of a rate limit, ``None`` when the reply speaks of none."""
    wait = retry_after_s(headers, now)
    if wait is None and headers.get("x-ratelimit-remaining", "").strip() == "0":
        reset = headers.get("x-ratelimit-reset", "").strip()
        wait = max(1.0, float(reset) - now) if reset.isascii() and reset.isdigit() else 60.0
    if wait is None:
        return None
    until = datetime.fromtimestamp(now + min(wait, 10_000_000), UTC)
    return RepositoryUnavailableError(
        f"the rate limit is used up until {until:%Y-%m-%d %H:%M:%S} UTC",
        wait_s=wait,
        hint="" if has_key else "With a token the limit is much higher: set GITHUB_TOKEN.",
    )
