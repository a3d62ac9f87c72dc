"""Number words outside the tables: Chinese and Japanese numerals, once and twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_DIGITS = {mark: value for value, mark in enumerate("〇一二三四五六七八九")} | {"两": 2, "零": 0}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_NUMERAL = re.compile(
    r"([〇零一二三四五六七八九十百千两]+)(?=[个個名次台天年月日号小分秒种種つ人回件本枚条條倍倍层項项节點点])"
)
_TIMES = re.compile(
    r"\b(once|twice|thrice)(?=\s+(?:an?|per|every|each|daily|weekly|monthly|in)\b)", re.IGNORECASE
)
_TIMES_VALUES = {"once": 1.0, "twice": 2.0, "thrice": 3.0}


class Numeral(NamedTuple):
    """A number word: its value, where it stands, and a word for what it counts."""

    value: float
    start: int
    end: int
    noun: str


def numerals(text: str) -> Iterator[Numeral]:
    """Yield Chinese and Japanese numerals before a counter, and how often something happens."""
    for match in _TIMES.finditer(text):
        yield Numeral(_TIMES_VALUES[match[1].lower()], match.start(), match.end(), "times")
    if text.isascii():
        return
    for match in _NUMERAL.finditer(text):
        yield Numeral(_value(match[1]), match.start(), match.end(), counted(text, match.end()))


def counted(text: str, at: int) -> str:
    """Return the two characters after a numeral: counter and first character of what is counted."""
    return text[at : at + 2]


def _value(numeral: str) -> float:
    total, digit = 0, 0
    for mark in numeral:
        if mark in _UNITS:
            total += (digit or 1) * _UNITS[mark]
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[mark]
    return float(total + digit)
