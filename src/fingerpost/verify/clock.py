"""Times of day in text: 3 pm, 15:00, 15 Uhr, 15h30."""

from __future__ import annotations

import re
from typing import NamedTuple

_TIME = re.compile(
    r"(?<![\w.:/,])(?:"
    r"(?P<h12>1[0-2]|0?[1-9])(?:[:.](?P<m12>[0-5]\d))?\s?(?P<half>[ap])(?:\.m\.|m\b)"
    r"|(?P<h24>[01]?\d|2[0-3]):(?P<m24>[0-5]\d)(?::[0-5]\d)?(?:\s?Uhr\b)?"
    r"|(?P<hour>[01]?\d|2[0-3])(?:\.(?P<minute>[0-5]\d))?\s?Uhr\b"
    r"|(?P<hh>[01]?\d|2[0-3])h(?P<mm>[0-5]\d)"
    r")(?![\w:])",
    re.IGNORECASE,
)
_NOON = 12


class ClockTime(NamedTuple):
    """A time of day: minutes since midnight, and where it stands."""

    minutes: int
    start: int
    end: int


def clock_times(text: str) -> list[ClockTime]:
    """Return the times of day of the text in order; a bare number is none."""
    found = []
    for match in _TIME.finditer(text):
        hour = int(match["h12"] or match["h24"] or match["hour"] or match["hh"])
        minute = int(match["m12"] or match["m24"] or match["minute"] or match["mm"] or 0)
        if match["half"]:
            hour = hour % _NOON + _NOON * (match["half"].lower() == "p")
        found.append(ClockTime(60 * hour + minute, *match.span()))
    return found
