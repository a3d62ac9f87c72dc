"""Number words outside the tables: Chinese and Japanese numerals, once and twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_DIGITS = {mark: value for value, mark in enumerate("〇一二三四五六七八九")} | {"两": 2, "零": 0}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_NUMERAL = re.compile(
    r"([〇零一二三四五六七八九十百千两]+)(?=[个個名次支册只张家所座间辆台天年月日号小分秒种種つ人回件本枚条條倍倍层項项节點点])"
)
_TIMES = re.compile(
    r"\b(once|twice|thrice)(?=\s+(?:an?|per|every|each|daily|weekly|monthly|in)\b)", re.IGNORECASE
)
_HALF_OF = re.compile(
    r"\b(?:half\s+(?:of|the)|die\s+hälfte|la\s+moitié|la\s+mitad)\b", re.IGNORECASE
)
_PART_OF = re.compile(
    r"\b(?P<count>a|one|two|three|four|ein|zwei|drei|vier|un|deux|trois|quatre|dos|tres)[ -]"
    r"(?:(?P<t>thirds?|drittel|tiers|tercios?)|(?P<q>quarters?|viertel|quarts?|cuartos?)"
    r"|(?P<f>fifths?|fünftel|cinquièmes?|quintos?))"
    r"(?=\s+(?:of|de[rs]?|del|aller|von)\b|\s+d')",
    re.IGNORECASE,
)
_COUNTS = {
    word: count
    for count, words in enumerate(
        ("a one ein un", "two zwei deux dos", "three drei trois tres", "four vier quatre"), start=1
    )
    for word in words.split()
}
_FRACTION_OF = re.compile(r"(?<![\w/.,-])([1-9]\d?)/([1-9]\d?)(?=\s+of\b)")
_HALF_A = re.compile(r"\bhalf\s+an?\b", re.IGNORECASE)
_AND_A_HALF = re.compile(
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten)\s+and\s+a\s+half\b", re.IGNORECASE
)
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDED = re.compile(
    r"hal[fv]|hälfte|moitié|mitad|once|twice|thrice"
    r"|third|drittel|tiers|tercio|quart|viertel|cuarto|fifth|fünftel|cinqui|quinto|\d/\d",
    re.IGNORECASE,
)
_TIMES_VALUES = {"once": 1.0, "twice": 2.0, "thrice": 3.0}


class Numeral(NamedTuple):
    """A number word.

    Attributes:
        value: Its value.
        start: Where it stands.
        end: Where it ends.
        noun: A word for what it counts; empty when scale and unit follow.
        dimension: ``percent`` for a half or another part of something, else empty.
    """

    value: float
    start: int
    end: int
    noun: str
    dimension: str = ""


def numerals(text: str) -> Iterator[Numeral]:
    """Yield halves, how often something happens, and Chinese numerals before a counter."""
    if _WORDED.search(text):
        yield from _worded(text)
    if text.isascii():
        return
    for match in _NUMERAL.finditer(text):
        yield Numeral(_value(match[1]), match.start(), match.end(), counted(text, match.end()))


def _worded(text: str) -> Iterator[Numeral]:
    for match in _AND_A_HALF.finditer(text):
        value = _SMALL.index(match[1].lower()) + 1.5
        yield Numeral(value, match.start(), match.end(), "")
    for match in _HALF_A.finditer(text):
        yield Numeral(0.5, match.start(), match.end(), "")
    for match in _HALF_OF.finditer(text):
        yield Numeral(50.0, match.start(), match.end(), "", "percent")
    for match in _PART_OF.finditer(text):
        parts = 3 if match["t"] else 4 if match["q"] else 5
        value = 100.0 * _COUNTS[match["count"].lower()] / parts
        yield Numeral(value, match.start(), match.end(), "", "percent")
    for match in _FRACTION_OF.finditer(text):
        value = 100.0 * int(match[1]) / int(match[2])
        yield Numeral(value, match.start(), match.end(), "", "percent")
    for match in _TIMES.finditer(text):
        yield Numeral(_TIMES_VALUES[match[1].lower()], match.start(), match.end(), "times")


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
