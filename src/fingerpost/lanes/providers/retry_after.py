"""When a provider may be asked again, by what it said itself."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

__all__ = ["retry_after_s"]

_NUMBER: Final = re.compile(r"\d{1,15}(?:\.\d{1,15})?")


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return seconds to wait, > 0 and finite; ``None`` when nothing usable was said.

    Reads ``retry-after-ms``, then ``retry-after`` in seconds or as an HTTP date. A date is held
    against the reply's own ``date``, so that a wrong clock on either side does not matter.

    Args:
        headers: Of the reply, names in lower case.
        now: Seconds since the epoch, for a reply that carries no date.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    until = _date(said)
    if until is None:
        return None
    sent = _date(headers.get("date", ""))
    wait = until - (now if sent is None else sent)
    return wait if wait > 0 else None


def _number(text: str) -> float | None:
    text = text.strip()
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return value if value > 0 and math.isfinite(value) else None


def _date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.fromtimestamp(0, UTC)).total_seconds()
