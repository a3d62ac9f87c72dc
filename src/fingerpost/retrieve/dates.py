"""How old a document is, and what that is worth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from fingerpost.types.document import Document
from fingerpost.types.evidence import Hit

_FIELDS: Final = (
    "last_updated", "lastupdated", "last_modified", "lastmod", "modified", "updated",
    "ms.date", "date", "published", "created",
)  # fmt: skip
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_YEAR_FIRST: Final = re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?")
_AMERICAN: Final = re.compile(r"\b(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})\b")
_DAY_FIRST: Final = re.compile(r"\b(?P<d>\d{1,2})[./](?P<m>\d{1,2})[./](?P<y>\d{4})\b")
_MONTH_NAMED: Final = re.compile(
    r"\b(?P<m>[a-z]{3})[a-z]{0,6}\.?\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})\b",
    re.IGNORECASE,
)
_DAY_NAMED: Final = re.compile(
    r"\b(?P<d>\d{1,2})(?:st|nd|rd|th)?\.?\s+(?P<m>[a-z]{3})[a-z]{0,6}\.?,?\s+(?P<y>\d{4})\b",
    re.IGNORECASE,
)
_WRITINGS: Final = (_YEAR_FIRST, _AMERICAN, _DAY_FIRST, _MONTH_NAMED, _DAY_NAMED)
_LONGEST: Final = 100
_DAY_S: Final = 86_400.0
BOOST: Final = 0.25
"""Most that a document of today gains over an ageless one, as a share of its score."""
HALF_LIFE_DAYS: Final = 180.0


def time_of(hit: Hit) -> float | None:
    """Return when a document was last changed, in seconds since the epoch, ``None`` if unknown.

    Front matter says so, else the file's own time.
    """
    told = told_time(hit.document)
    if told is not None:
        return told
    address = urlsplit(hit.document.uri)
    if address.scheme != "file":
        return None
    try:
        return Path(unquote(address.path)).stat().st_mtime
    except (OSError, ValueError):
        return None


def told_time(document: Document) -> float | None:
    """Return when a document says that it was last changed, ``None`` when it does not."""
    fields = dates_told(document.metadata)
    read = (_read(fields[name]) for name in _FIELDS if name in fields)
    return next((told for told in read if told is not None), None)


def dates_told(metadata: object) -> dict[str, str]:
    """Return those fields of some metadata that may tell a date, their names in lower case."""
    if not isinstance(metadata, Mapping):
        return {}
    named = ((str(name).casefold(), value) for name, value in metadata.items())
    return {name: str(value)[:_LONGEST] for name, value in named if name in _FIELDS}


def _read(text: str) -> float | None:
    """Return the time that a text tells: ISO, American, day first, or an English month by name.

    Without a time zone it is UTC. Of two readings of ``03/04/2024`` it is the American one. A
    year and month alone are their last possible day, so that nothing is taken for older than it
    is known to be.
    """
    try:
        whole = datetime.fromisoformat(text.strip())
        return (whole if whole.tzinfo else whole.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass
    for writing in _WRITINGS:
        found = writing.search(text)
        told = _day(**found.groupdict()) if found is not None else None
        if told is not None:
            return told
    return None


def _day(y: str, m: str, d: str | None) -> float | None:
    month = int(m) if m.isdecimal() else 1 + (*_MONTHS, m.lower()).index(m.lower())
    for day in (int(d),) if d else (31, 30, 29, 28):
        try:
            return datetime(int(y), month, day, tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None


def recent_first(hits: Sequence[Hit], now: float, *, half_life_days: float) -> list[Hit]:
    """Return the hits with newer documents raised, best first, scores still 0 to 1.

    A document of age ``a`` gains ``BOOST * 2 ** (-a / half_life)`` of its score; one without a
    known date gains nothing, one of the future what one of now does.
    """
    scored = []
    for hit in hits:
        at = time_of(hit)
        age = None if at is None else max(0.0, now - at) / _DAY_S
        gain = 0.0 if age is None else BOOST * 0.5 ** (age / half_life_days)
        scored.append(replace(hit, score=hit.score * (1 + gain) / (1 + BOOST)))
    return sorted(scored, key=lambda hit: -hit.score)


def is_young_enough(hit: Hit, now: float, most_days: float) -> bool:
    """Return whether a hit's document is not known to be older than so many days."""
    at = time_of(hit)
    return at is None or at >= now - most_days * _DAY_S
