"""Wide tables: only the cells of a row that matter to a question."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from fingerpost.generate.units import Unit, row_text
from fingerpost.text.analyse import analyse

_WIDE = 4
_COUNTER = re.compile(r"[\W\d]*")


def narrowed(unit: Unit, terms: Collection[str]) -> Unit:
    """Return a row of a wide table with its label and the cells that the question mentions.

    The first column that is no counter is the label; a row of which the question mentions no
    cell and no column keeps its first four.

    Args:
        unit: Any unit; only rows with more than four cells change.
        terms: Index tokens of the question.
    """
    if len(unit.cells) <= _WIDE:
        return unit
    cells = [pair for pair in unit.cells if not _COUNTER.fullmatch(pair[0])] or list(unit.cells)
    wanted = [at for at, pair in enumerate(cells) if at and _mentions(pair, terms)]
    kept = [0, *wanted] if wanted else list(range(min(_WIDE, len(cells))))
    return replace(unit, text=row_text([cells[at] for at in kept]))


def _mentions(pair: tuple[str, str], terms: Collection[str]) -> bool:
    return any(token in terms for text in pair for token in analyse(text))
