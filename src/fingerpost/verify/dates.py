"""Calendar dates and years in text, in the ways several languages write them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from fingerpost.verify.quantity_words import quantity_words
from fingerpost.verify.words import fold

_MONTHS_IN_YEAR = 12
_CENTURY_TURN = 70


class Date(NamedTuple):
    """A date as far as it is written; every reading of an ambiguous one."""

    readings: tuple[tuple[int | None, int | None, int | None], ...]
    start: int
    end: int


_DIGIT = re.compile(r"\d")
_ISO = re.compile(r"(?<![\w-])(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?![\w-])")
_NUMERIC = re.compile(r"(?<![\w./])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\w./-]\w|\w)")
_CJK = re.compile(r"(\d{4})\s*年(?:\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*日)?)?")
# A bare year is a date after such a word, in brackets, or before punctuation.
_YEAR = re.compile(
    r"(?:(?<=\bin )|(?<=\bin the )|(?<=since )|(?<=\bby )|(?<=from )|(?<=until )|(?<=\bof )"
    r"|(?<=year )|(?<=\bim )|(?<=Jahr )|(?<=\bseit )|(?<=\ben )|(?<=depuis )|(?<=desde )"
    r"|(?<=\()|(?<=before )|(?<=after )|(?<=during )|(?<=and )|(?<=to )|(?<=\d[-–]))"
    r"(1\d{3}|20\d{2})(?=['’]?s\b|[\s).,;:!?–-]|$)(?![.,]\d)(?!\s*[%°$€])"
)


@cache
def _spelled() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    names = "|".join(sorted(quantity_words().months, key=len, reverse=True))
    month = rf"({names})\.?"
    day = r"(\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
    year = r"(1\d{3}|20\d{2})"
    link = r"(?:\s+(?:of|de|del|d'))?"
    return (
        re.compile(rf"(?<![\w.,]){day}{link}\s+{month}(?:,?{link}\s*{year})?(?!\w)"),
        re.compile(rf"(?<!\w){month}\s+{day}(?:\s*,?\s+{year})?(?![\w%]|[.,]\d)"),
        re.compile(rf"(?<!\w){month},?{link}\s+{year}(?!\w)"),
    )


def find_dates(text: str) -> list[Date]:
    """Return the dates of the text, longest readings first, none inside another."""
    if _DIGIT.search(text) is None:
        return []
    found: list[Date] = []
    for match in _ISO.finditer(text):
        _keep(found, match, [(int(match[1]), int(match[2]), int(match[3]))])
    for match in _NUMERIC.finditer(text):
        one, other, year = int(match[1]), int(match[3]), _full_year(match[4])
        _keep(found, match, [(year, other, one), (year, one, other)])
    for match in _CJK.finditer(text):
        _keep(found, match, [(int(match[1]), _int(match[2]), _int(match[3]))])
    _spelled_dates(text, found)
    for match in _YEAR.finditer(text):
        _keep(found, match, [(int(match[1]), None, None)])
    return found


def _spelled_dates(text: str, found: list[Date]) -> None:
    lowered = text.casefold()
    folded = fold(text) if len(lowered) == len(text) else lowered
    if len(folded) != len(text):
        return
    months = quantity_words().months
    day_first, month_first, month_year = _spelled()
    for match in day_first.finditer(folded):
        _keep(found, match, [(_int(match[3]), months[match[2]], int(match[1]))])
    for match in month_first.finditer(folded):
        _keep(found, match, [(_int(match[3]), months[match[1]], int(match[2]))])
    for match in month_year.finditer(folded):
        _keep(found, match, [(int(match[2]), months[match[1]], None)])


def _int(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:  # noqa: PLR2004 - two-digit years
        return year
    return year + (1900 if year >= _CENTURY_TURN else 2000)


def _keep(
    found: list[Date],
    match: re.Match[str],
    readings: list[tuple[int | None, int | None, int | None]],
) -> None:
    """Add the date unless it overlaps one that is there or has no valid reading."""
    start, end = match.span()
    if any(date.start < end and start < date.end for date in found):
        return
    valid = tuple(
        reading
        for reading in readings
        if (reading[1] is None or 1 <= reading[1] <= _MONTHS_IN_YEAR)
        and (reading[2] is None or 1 <= reading[2] <= 31)  # noqa: PLR2004 - days of a month
    )
    if valid:
        found.append(Date(valid, start, end))


def compare_dates(claim: Date, evidence: Date) -> str:
    """Return ``same``, ``differs``, or ``vaguer`` when the evidence names less than the claim."""
    best = "differs"
    for one in claim.readings:
        for other in evidence.readings:
            shared = [
                (a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None
            ]
            if not shared or any(a != b for a, b in shared):
                continue
            lacking = any(a is not None and b is None for a, b in zip(one, other, strict=True))
            if not lacking:
                return "same"
            best = "vaguer"
    return best
