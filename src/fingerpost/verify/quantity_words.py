"""Number words, units, months and bounds of several languages, as tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product

from fingerpost.verify.words import fold

_TEN = 10


@dataclass(frozen=True, slots=True)
class QuantityWords:
    """Folded words that make up quantities.

    Attributes:
        cardinals: Word → value, 0 to 99 and compounds; hyphens kept.
        soft: Cardinals that are also common words (one, six in Italian): they may match a
            number but never ask for one.
        ordinals: Word → rank.
        scales: Word → factor (thousand, Mio.).
        units: Word or sign → (dimension, factor to the dimension's base unit).
        months: Word → 1 to 12.
        approximate: Words such as about.
        bounds: Phrase → ``more``, ``less`` or ``limit``, longest first.
        bounds_after: Word → ``more`` or ``less``, as in *5 or less*.
    """

    cardinals: dict[str, float]
    soft: frozenset[str]
    ordinals: dict[str, int]
    scales: dict[str, float]
    units: dict[str, tuple[str, float]]
    months: dict[str, int]
    approximate: frozenset[str]
    bounds: tuple[tuple[str, str], ...]
    bounds_after: dict[str, str]


def _below_twenty(raw: dict[str, str]) -> tuple[dict[str, float], set[str], set[str]]:
    """Return (word → value, soft words, words that are hard in some language)."""
    values: dict[str, float] = {}
    soft: set[str] = set()
    hard: set[str] = set()
    for words in raw.values():
        for value, word in enumerate(words.split()):
            name = fold(word.lstrip("_"))
            values.setdefault(name, value)
            (soft if word.startswith("_") else hard).add(name)
    return values, soft, hard


def _tens(raw: dict[str, dict[str, str]]) -> dict[str, float]:
    """Return the words from 20 to 99 in English, German, French and Spanish."""
    found: dict[str, float] = {}
    digits = {
        code: [fold(w.lstrip("_")) for w in raw["digits"][code].split()] for code in raw["tens"]
    }
    for code, words in raw["tens"].items():
        tens = [fold(word) for word in words.split()]
        for (place, ten), unit in product(enumerate(tens, start=2), range(1, 20)):
            one = digits[code][unit]
            # soixante and quatre-vingt count on to nineteen, so soixante-dix adds nothing.
            counts_on = code == "fr" and ten in ("soixante", "quatre-vingt")
            if not counts_on and (unit >= _TEN or (code == "fr" and ten.endswith("-dix"))):
                continue
            for form in _compounds(code, ten, one, unit):
                found.setdefault(form, place * _TEN + unit)
        found.update({ten: place * 10 for place, ten in enumerate(tens, start=2)})
    found["quatre-vingts"] = 80
    return found


def _compounds(code: str, ten: str, one: str, unit: int) -> list[str]:
    if code == "en":
        return [f"{ten}-{'one' if unit == 1 else one}"]
    if code == "de":
        return [f"{'ein' if unit == 1 else one}und{ten}"]
    if code == "fr":
        return (
            [f"{ten}-et-un", f"{ten}-et-une", f"{ten}-et-{one}"]
            if unit in (1, 11)
            else [f"{ten}-{one}"]
        )
    spaced = f"{ten}-y-{one}"
    return [f"veinti{one}", spaced] if ten == "veinte" else [spaced]


def _spread(table: dict[str, float]) -> dict[str, float]:
    return {fold(word): factor for words, factor in table.items() for word in words.split()}


def _ranked(table: dict[str, str]) -> dict[str, int]:
    return {
        fold(word.lstrip("_")): rank
        for words in table.values()
        for rank, word in enumerate(words.split(), start=1)
    }


@cache
def quantity_words() -> QuantityWords:
    """Return the tables, read once from the package."""
    raw = json.loads(
        resources.files("fingerpost.verify").joinpath("quantities.json").read_text("utf-8")
    )
    small, soft, hard = _below_twenty(raw["digits"])
    units = {
        word: (dimension, factor)
        for dimension, table in raw["units"].items()
        for word, factor in _spread(table).items()
    }
    bounds = [(fold(phrase), side) for side, phrases in raw["bounds"].items() for phrase in phrases]
    return QuantityWords(
        cardinals={**_tens(raw), **_spread(raw["hundreds"]), **small},
        soft=frozenset(soft - hard),
        ordinals=_ranked(raw["ordinals"]),
        scales=_spread(raw["scales"]),
        units=units,
        months={**_ranked(raw["months"]), "sept": 9},
        approximate=frozenset(fold(word) for word in raw["approximate"].split()),
        bounds=tuple(sorted(bounds, key=lambda pair: -len(pair[0]))),
        bounds_after={
            fold(word): side
            for side, words in raw["bounds_after"].items()
            for word in words.split()
        },
    )
