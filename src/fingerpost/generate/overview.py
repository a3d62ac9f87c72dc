"""What an overview quotes: how each page that stands for the rest begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fingerpost.generate.units import Unit, UnitKind

MOST: Final = 5
_SAYS_SOMETHING: Final = 4


def openings(units: Sequence[Unit], most: int = MOST) -> list[Unit]:
    """Return the first telling sentence of each hit, best hit first; what else there is without.

    Args:
        units: Of all hits, in reading order within each.
        most: How many.
    """
    of_hit: dict[int, list[Unit]] = {}
    for unit in units:
        of_hit.setdefault(unit.hit, []).append(unit)
    found = [_opening(of_hit[hit]) for hit in sorted(of_hit)]
    said: dict[str, Unit] = {}
    for unit in found:
        said.setdefault(unit.text, unit)
    return list(said.values())[:most]


def _opening(units: Sequence[Unit]) -> Unit:
    told = [
        unit
        for unit in units
        if unit.kind is UnitKind.SENTENCE and not unit.aside and len(unit.tokens) >= _SAYS_SOMETHING
    ]
    return (told or list(units))[0]
