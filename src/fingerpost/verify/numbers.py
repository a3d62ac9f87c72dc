"""Quantities in text: numbers with units, percents, versions, dates, ordinals."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from fingerpost.verify.clock import ClockTime, clock_times
from fingerpost.verify.dates import Date, find_dates
from fingerpost.verify.lexicon import stop_words
from fingerpost.verify.number_words import BEGINS_A_NUMBER, article_before, cardinal, continued
from fingerpost.verify.numerals import Numeral, counted, numerals
from fingerpost.verify.quantity_words import QuantityWords, quantity_words
from fingerpost.verify.words import fold, stem

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_UNSPACED_NEXT = re.compile(f"[{_UNSPACED}]")
_NUMERIC = re.compile(
    rf"(?<![^\W{_UNSPACED}])(?<![\w.,][.,])(?<![^\W\d_]-)[-+−–]?"
    r"(\d{1,3}(?:[,.'’_ \u00a0\u202f]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
    r"|(?<![\w.,)\]])\.\d+)"
    r"(st\b|nd\b|rd\b|th\b|er\b|ère\b|ème\b|e\b|[ºª])?"
)
_VERSION = re.compile(
    r"(?:(?<![\w.])(?:(?:version|release|versión|versie)\s+v?|v\.?\s?)|版本\s*)(\d+(?:\.\d+)*)((?:-?(?:rc|alpha|beta|dev|pre)\.?\d*)?)(?![A-Za-z0-9_])"
    r"|(?<![\w.])(?!\d{1,3}(?:\.\d{3})+(?![\w.]\d|\d))(\d+(?:\.\d+){2,})((?:-?(?:rc|alpha|beta|dev|pre|b|a)\.?\d*)?)(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
# Python 3.10, Node 18.2: a capitalised name directly before a dotted number.
_NAMED_VERSION = re.compile(r"(?<=[a-z\d+#] )(?<!\w)(\d{1,3}\.\d{1,2})(?!\w|\.\d|,\d|\s*[%°€$])")
_CAPITAL_BEFORE = re.compile(r"(?:^|[^\w.])([A-Z][\w+#.]*)\s$")
_GROUPING = re.compile(r"['’_ \u00a0\u202f]")
_DIGIT = re.compile(r"\d")
_THREE = 3
_MOST_DIGITS = 200  # with any scale they are still a finite number
_PERCENT = re.compile(
    r"\s*(?:per\s+cent|pour\s*cent|por\s+ciento|percent|prozent|[%％])", re.IGNORECASE
)
_CURRENCY = {"$": "dollar", "€": "euro", "£": "sterling"}
_NEXT = re.compile(r"[\s\-\u00a0\u202f]{0,2}(°[CF]|[^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ONE_LETTER_SCALES = frozenset("kK")
# 5M is a million of something, never a length; $5B and $5m are money.
_MILLIONS = re.compile(r"M(?![A-Za-z0-9_/])")
_MONEY = re.compile(r"[MmBb](?![A-Za-z0-9_/])")
_LETTER_SCALES = {"M": 1e6, "B": 1e9}
_HUNDRED = 100
_OR_SIDE = re.compile(r"\s+(?:or|oder|ou|o|of|and|und)\s+([^\W\d_]+)\b")
_RANGE = re.compile(r"\s*[-–—~]\s*|\s+(?:to|bis|à|a|até|tot)\s+")
_PAIR = re.compile(r"\s+(?:and|und|et|y|e|en)\s+")
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre|tra|fra|tussen)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity.

    Attributes:
        kind: ``number``, ``version``, ``date`` or ``ordinal``.
        values: Every reading of the number, in base units (1.000 is 1 or 1000).
        dimension: ``time``, ``bytes``, ``percent`` …; empty for a bare number.
        nouns: Stems of the words counted, for bare numbers and ordinals.
        version: Numeric parts and pre-release tag.
        date: For kind ``date``.
        approximate: Said to be about right.
        bound: ``more``, ``less`` or ``limit`` (*up to*) when only a bound is given.
        soft: May match, never asks.
        text: As written.
        start: Where it stands.
        end: Where it ends.
    """

    kind: str
    text: str
    start: int
    end: int
    values: tuple[float, ...] = ()
    dimension: str = ""
    nouns: frozenset[str] = frozenset()
    version: tuple[int, ...] = ()
    tag: str = ""
    date: Date | None = None
    approximate: bool = False
    bound: str = ""
    soft: bool = False


class _Tail(NamedTuple):
    """What follows a number: factor, dimension and where it ends."""

    factor: float
    dimension: str
    end: int


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of the text in order, none inside another."""
    tables = quantity_words()
    found = [
        Quantity("date", text[date.start : date.end], date.start, date.end, date=date)
        for date in find_dates(text)
    ]
    _add(found, [_worded(text, one, tables) for one in numerals(text)])
    if _DIGIT.search(text) is not None:
        _add(found, [_at_time(text, one) for one in clock_times(text)])
        _add(found, _versions(text))
        _add(found, _numerals(text, tables))
    _add(found, _spelled(text, tables))
    return sorted(found, key=lambda quantity: quantity.start)


def _add(found: list[Quantity], more: list[Quantity]) -> None:
    covered = {at for one in found for at in range(one.start, one.end)}
    for quantity in more:
        place = range(quantity.start, quantity.end)
        if covered.isdisjoint(place):
            found.append(quantity)
            covered.update(place)


def _at_time(text: str, one: ClockTime) -> Quantity:
    return Quantity(
        "number", text[one.start : one.end], one.start, one.end, (float(one.minutes),), "clock"
    )


def _worded(text: str, one: Numeral, tables: QuantityWords) -> Quantity:
    """Return the quantity of a number word, with the scale and unit after it."""
    plain = bool(one.noun or one.dimension)
    tail = _Tail(1.0, one.dimension, one.end) if plain else _tail(text, one.end, tables)
    return Quantity(
        "number", text[one.start : tail.end], one.start, tail.end, (one.value * tail.factor,),
        tail.dimension, frozenset((one.noun,)) if one.noun else _nouns(text, tail.end),
        approximate=one.dimension == "percent" and one.value != round(one.value),  # a third
    )  # fmt: skip


def _versions(text: str) -> list[Quantity]:
    found = []
    for match in _VERSION.finditer(text):
        digits, tag = (match[1], match[2]) if match[1] else (match[3], match[4])
        found.append(_version(text, match.start(), match.end(), digits, tag or ""))
    for match in _NAMED_VERSION.finditer(text):
        following = _NEXT.match(text, match.end())
        measured = following and fold(following[1]) in quantity_words().units
        scaled = following and fold(following[1]) in quantity_words().scales
        if _CAPITAL_BEFORE.search(text[: match.start()]) and not measured and not scaled:
            found.append(_version(text, match.start(), match.end(), match[1], ""))
    return found


def _version(text: str, start: int, end: int, digits: str, tag: str) -> Quantity:
    parts = tuple(int(part) for part in digits.split(".") if len(part) < 10)  # noqa: PLR2004
    return Quantity(
        "version", text[start:end], start, end, version=parts, tag=tag.strip("-").lower()
    )


def readings(digits: str) -> tuple[float, ...]:
    """Return every value that the digits with separators can mean."""
    bare = _GROUPING.sub("", digits)[:_MOST_DIGITS]
    marks = [mark for mark in bare if mark in ".,"]
    if not marks:
        return (float(bare),)
    last = bare.rfind(marks[-1])
    decimal = float(bare[:last].replace(",", "").replace(".", "") + "." + bare[last + 1 :])
    grouped = float(bare.replace(",", "").replace(".", ""))
    if len(marks) > 1:
        return (decimal,) if marks[0] != marks[-1] else (grouped,)
    if len(bare) - last - 1 != _THREE or bare[0] in "0." or last > _THREE:
        return (decimal,)
    return (grouped, decimal) if marks[0] == "," else (decimal, grouped)


def _numerals(text: str, tables: QuantityWords) -> list[Quantity]:
    found = []
    for match in _NUMERIC.finditer(text):
        start, end = match.start(1), match.end(1)
        values = readings(match[1])
        if match[2] and match.end() == match.end(2):
            found.append(
                Quantity(
                    "ordinal", match[0], start, match.end(), values,
                    nouns=_nouns(text, match.end()),
                )
            )  # fmt: skip
            continue
        counts = _UNSPACED_NEXT.match(text, end) is not None
        glued = text[end : end + 1].isalpha() and not counts
        tail = _tail(text, end, tables)
        before = text[: match.start()].rstrip()
        currency = _CURRENCY.get(before[-1:], "") if len(before) == match.start() else ""
        if millions := (_MONEY if currency else _MILLIONS).match(text, end):
            tail = _Tail(_LETTER_SCALES[millions[0].upper()], "", millions.end())
        if glued and tail.end == end:  # 3d, 2nd half of an identifier
            continue
        sign = (
            -1
            if match[0][0] in "-−" and text[match.start() - 1 : match.start()].strip() == ""
            else 1
        )
        if found and (started := _begun(text, found[-1], start, tail)):
            found[-1] = started
        found.append(
            Quantity(
                "number", text[start : tail.end], start, tail.end,
                tuple(sign * value * tail.factor for value in values),
                tail.dimension or currency, _nouns(text, tail.end),
                approximate=_is_approximate(text, start, tables),
                bound=_bound(text, start, tables) or _bound_after(text, tail.end, tables),
            )
        )  # fmt: skip
    return found


def _begun(text: str, first: Quantity, start: int, tail: _Tail) -> Quantity | None:
    """Return the first number of a range with the scale and unit that stand after the second."""
    bare = first.kind == "number" and not first.dimension and _DIGIT.match(text[first.end - 1])
    between = text[first.end : start]
    ranges = _RANGE.fullmatch(between) or (
        _PAIR.fullmatch(between) and _BETWEEN.search(text[: first.start])
    )
    if not (bare and ranges and (tail.dimension or tail.factor != 1.0)):
        return None
    values = tuple(value * tail.factor for value in first.values)
    return replace(first, values=values, dimension=tail.dimension)


def _tail(text: str, end: int, tables: QuantityWords) -> _Tail:
    """Return the scale and unit after a number that ends at ``end``."""
    factor = 1.0
    for _ in range(2):
        following = _NEXT.match(text, end)
        word = fold(following[1]) if following else ""
        if following and word in tables.scales and word not in tables.units:
            if word in _ONE_LETTER_SCALES and following.start(1) != end:
                break
            factor *= tables.scales[word]
            end = following.end()
    percent = _PERCENT.match(text, end)
    if percent:
        return _Tail(factor, "percent", percent.end())
    sign = text[end : end + 2].strip()[:1]
    if sign in _CURRENCY:
        return _Tail(factor, _CURRENCY[sign], end + text[end : end + 2].index(sign) + 1)
    following = _NEXT.match(text, end)
    if following and _UNSPACED_NEXT.match(following[1]):
        return _unspaced_tail(following, factor, tables)
    if following and fold(following[1]) in tables.units:
        dimension, unit = tables.units[fold(following[1])]
        return _Tail(factor * unit, dimension, following.end())
    return _Tail(factor, "", end)


def _unspaced_tail(following: re.Match[str], factor: float, tables: QuantityWords) -> _Tail:
    """Return scale and unit where no blank ends them: 35万册, 30分钟后."""
    run, at = following[1], 0
    if run[:1] in tables.scales:
        factor, at = factor * tables.scales[run[0]], 1
    for length in (2, 1):
        unit = run[at : at + length]
        if unit in tables.units:
            dimension, base = tables.units[unit]
            return _Tail(factor * base, dimension, following.start(1) + at + length)
    return _Tail(factor, "", following.start(1) + at if at else following.start())


def _nouns(text: str, end: int) -> frozenset[str]:
    """Return the stems of up to two content words directly after ``end``."""
    if _UNSPACED_NEXT.match(text, end):
        return frozenset((counted(text, end),))
    found: list[str] = []
    for match in _WORD.finditer(text, end, end + 48):
        if text[end : match.start()].strip(" -\u00a0*_`\"'"):
            break
        end = match.end()
        word = fold(match[0])
        if word not in stop_words():
            found.append(stem(word))
        if len(found) > 1 or (not found and word in stop_words()):
            break
    return frozenset(found)


def _is_approximate(text: str, start: int, tables: QuantityWords) -> bool:
    before = text[max(0, start - 24) : start].split()[-2:]
    return any(fold(word.strip("(,")) in tables.approximate for word in before)


def _bound(text: str, start: int, tables: QuantityWords) -> str:
    before = fold(text[max(0, start - 28) : start]).rstrip(" $€£*_`(")
    for phrase, side in tables.bounds:
        if before.endswith(phrase):
            edge = before[: -len(phrase)]
            if not edge or not (edge[-1].isalnum() and phrase[0].isalnum()):
                return side
    return ""


def _bound_after(text: str, end: int, tables: QuantityWords) -> str:
    """Return the side that *or less* after the number tells."""
    match = _OR_SIDE.match(text, end)
    return tables.bounds_after.get(fold(match[1]), "") if match else ""


def _spelled(text: str, tables: QuantityWords) -> list[Quantity]:
    found: list[Quantity] = []
    previous: Quantity | None = None
    for match in _WORD.finditer(text):
        if previous and match.start() < previous.end:
            continue
        one = _ordinal(text, match, previous, tables) or _cardinal(text, match, tables)
        if one is not None:
            previous = one
            found.append(one)
    return found


def _ordinal(
    text: str, match: re.Match[str], previous: Quantity | None, tables: QuantityWords
) -> Quantity | None:
    word = fold(match[0])
    if word not in tables.ordinals or cardinal(word, tables) is not None:
        return None
    after_number = previous is not None and not text[previous.end : match.start()].strip()
    soft = word in tables.units and (
        after_number or re.search(r"\d\s*$", text[: match.start()]) is not None
    )
    return Quantity(
        "ordinal", match[0], match.start(), match.end(), (float(tables.ordinals[word]),),
        nouns=_nouns(text, match.end()), soft=soft,
    )  # fmt: skip


def _cardinal(text: str, match: re.Match[str], tables: QuantityWords) -> Quantity | None:
    word, start = fold(match[0]), match.start()
    value = cardinal(word, tables)
    article = article_before(text, start) if value is None else None
    if article is not None:
        value = tables.scales.get(word) if word not in tables.units else None
    begins = value is None and word in BEGINS_A_NUMBER
    if value is None and not begins:
        return None
    value, end = continued(text, match.end(), float(_HUNDRED) if value is None else value, tables)
    if begins and end == match.end():
        return None
    tail = _tail(text, end, tables)
    opens = start if article is None else article
    bound = _bound(text, opens, tables) or _bound_after(text, tail.end, tables)
    return Quantity(
        "number", text[start : tail.end], start, tail.end,
        (value * tail.factor,), tail.dimension, _nouns(text, tail.end),
        approximate=_is_approximate(text, opens, tables), bound=bound,
        # Over a billion is said of a hundred billions too.
        soft=end == match.end() and (word in tables.soft or (article is not None and bool(bound))),
    )  # fmt: skip
