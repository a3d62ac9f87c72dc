"""Numbers in words of several parts: two thousand three hundred, neunundneunzigtausend."""

from __future__ import annotations

import math
import re

from fingerpost.verify.quantity_words import QuantityWords
from fingerpost.verify.words import fold

_STANDALONE_SCALES = frozenset(
    ("hundert", "tausend", "mil", "mille", "cien", "dozen", "dutzend", "douzaine", "docena")
)
BEGINS_A_NUMBER = frozenset(("cent", "ciento", "cento"))
"""A hundred before other number words; alone they are something else (a coin, per cent)."""
_ARTICLE = re.compile(r"\b(?:an?|une?|uno|eine?|einer?)\s+$", re.IGNORECASE)
_ONES = frozenset(("un", "une", "uno", "una", "ein", "one"))
_CONTINUATION = re.compile(r"\s+(?:(?:and|und|et|y|e)\s+)?([^\W\d_]+(?:-[^\W\d_]+)*)")
_GERMAN = tuple(re.compile(rf"^(\w*?)({scale})(\w*)$") for scale in ("tausend", "hundert"))
_LONGEST_NUMERAL = 80
_TWENTY = 20
_HUNDRED = 100
_THOUSAND = 1000


def article_before(text: str, start: int) -> int | None:
    """Return where an indefinite article begins right before: *a million*, *eine Million*."""
    window = max(0, start - 8)
    match = _ARTICLE.search(text[window:start])
    return None if match is None else window + match.start()


def continued(text: str, end: int, value: float, tables: QuantityWords) -> tuple[float, int]:
    """Return the value of a number after the words that go on with it, and where they end.

    Hundreds multiply what stands before them, thousands and millions all since the last greater
    one; tens and units add up.
    """
    whole, part, least = 0.0, value, math.inf
    if value >= _THOUSAND and value % _THOUSAND == 0:  # mil, zweitausend
        whole, part, least = value, 0.0, float(_THOUSAND)
    while match := _CONTINUATION.match(text, end):
        word = fold(match[1])
        scale = tables.scales.get(word, 0.0) if len(word) > 1 else 0.0
        if scale:
            if not part or word in tables.units or scale >= least:
                break
            if scale >= _THOUSAND:
                whole, part, least = whole + part * scale, 0.0, scale
            elif part < _HUNDRED:
                part *= scale
            else:
                break
        else:
            more = 1.0 if word in _ONES and whole + part >= _TWENTY else cardinal(word, tables)
            if more is None or not _goes_on(part, more, least):
                break
            part += more
        end = match.end()
    return whole + part, end


def _goes_on(part: float, more: float, least: float) -> bool:
    """Return whether ``more`` completes ``part``: hundreds by tens, tens by units."""
    if not part:
        return more < least
    tens = _TWENTY <= part < _HUNDRED and part % 10 == 0 and more < 10  # noqa: PLR2004 - decimal
    return tens or (part % _HUNDRED == 0 and more < _HUNDRED)


def cardinal(word: str, tables: QuantityWords) -> float | None:
    """Return the value of one folded number word, ``None`` when it is none."""
    value = tables.cardinals.get(word)
    if value is not None:
        return value
    if word in _STANDALONE_SCALES:
        return tables.scales[word]
    if word in tables.scales or len(word) > _LONGEST_NUMERAL:
        return None
    match = next(filter(None, (pattern.match(word) for pattern in _GERMAN)), None)
    if not match:
        return None
    head = 1.0 if match[1] in ("", "ein") else cardinal(match[1], tables)
    rest = 0.0 if not match[3] else cardinal(match[3].removeprefix("und"), tables)
    if head is None or rest is None:
        return None
    return head * tables.scales[match[2]] + rest
