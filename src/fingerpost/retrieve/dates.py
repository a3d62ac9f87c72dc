"""How old a document is, and what that is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from fingerpost.types.evidence import Hit

_FIELDS: Final = (
    "last_updated", "lastupdated", "last_modified", "lastmod", "modified", "updated",
    "ms.date", "date", "published", "created",
)  # fmt: skip
_DATE: Final = re.compile(
    r"\b(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|\b(\d{1,2})/(\d{1,2})/(\d{4})\b"
)
_DAY_S: Final = 86_400.0
BOOST: Final = 0.25
"""Most that a document of today gains over an ageless one, as a share of its score."""
HALF_LIFE_DAYS: Final = 180.0


def time_of(hit: Hit) -> float | None:
    """Return when a document was last changed, in seconds since the epoch, ``None`` if unknown.

    Front matter says so, else the file's own time.
    """
    fields = {str(name).casefold(): value for name, value in hit.document.metadata.items()}
    for name in _FIELDS:
        if name in fields and (told := _read(str(fields[name]))) is not None:
            return told
    address = urlsplit(hit.document.uri)
    if address.scheme != "file":
        return None
    try:
        return Path(unquote(address.path)).stat().st_mtime
    except (OSError, ValueError):
        return None


def _read(text: str) -> float | None:
    """Return the time of an ISO date, a year and month, or an American date."""
    found = _DATE.search(text)
    if found is None:
        return None
    year, month, day, us_month, us_day, us_year = found.groups()
    parts = (us_year, us_month, us_day) if us_year else (year, month, day or "1")
    try:
        y, m, d = map(int, parts)
        return datetime(y, m, d, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def recent_first(hits: Sequence[Hit], now: float, *, half_life_days: float) -> list[Hit]:
    """Return the hits with newer documents raised, best first, scores still 0 to 1.

    A document of age ``a`` gains ``BOOST * 2 ** (-a / half_life)`` of its score; one without a
    known date gains nothing.
    """
    scored = []
    for hit in hits:
        at = time_of(hit)
        age = None if at is None else max(0.0, now - at) / _DAY_S
        gain = 0.0 if age is None else BOOST * 0.5 ** (age / half_life_days)
        scored.append(replace(hit, score=hit.score * (1 + gain) / (1 + BOOST)))
    return sorted(scored, key=lambda hit: -hit.score)


def young_enough(hits: Sequence[Hit], now: float, most_days: float) -> list[Hit]:
    """Return the hits whose document is not known to be older than so many days."""
    oldest = now - most_days * _DAY_S
    when: Callable[[Hit], float | None] = time_of
    return [hit for hit in hits if (at := when(hit)) is None or at >= oldest]
