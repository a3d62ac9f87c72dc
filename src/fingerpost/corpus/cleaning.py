"""How the text of each kind of block is cleaned for search."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from html import unescape
from typing import Final

from fingerpost.corpus.prose import (
    clean_cell,
    clean_cell_fence,
    clean_fence,
    clean_prose,
    clean_table,
    tidy,
)
from fingerpost.corpus.rst import clean_rst

_SILENT: Final = frozenset({"rule", "comment", "hidden"})
# Neighbours of these kinds are cleaned together, as prose.
PROSE: Final = frozenset({"paragraph", "list", "quote", "html", "heading"})
FENCES: Final = frozenset({"fence", "cellfence"})
_CELLS: Final = frozenset({"cell", "celltable"})
TABLES: Final = frozenset({"table", "celltable"})


def search_text_of(kind: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what is searched of one block's text, and the targets of its links as written.

    Documentation repeats itself (versions, languages, shared notes): what was cleaned lately
    is remembered.
    """
    if kind in _SILENT:
        return "", ()
    return _remembered(kind, text) if len(text) <= _MAX_REMEMBERED else _cleaned(kind, text)


def _cleaned(kind: str, text: str) -> tuple[str, tuple[str, ...]]:
    targets: list[str] = []
    if kind in PROSE:
        found = tidy(clean_prose(text, targets))
    elif kind in _CELLS:
        found = tidy(clean_cell(text, targets))
    elif kind == "table":
        found = tidy(clean_table(text, targets))
    elif kind == "rst":
        found = tidy(clean_rst(text, targets))
    else:
        found = _CLEANERS[kind](text)
    return found, tuple(targets)


_MAX_REMEMBERED = 8_000
_remembered = lru_cache(maxsize=16_384)(_cleaned)


def _fenced(code: str) -> str:
    """Return code between fences, so that it is told from prose wherever it is shown."""
    if not code.strip():
        return ""
    fence = "~~~~~~~~" if "```" in code else "```"
    return f"{fence}\n{code}\n{fence}"


def _after_first_line(text: str) -> str:
    return text.partition("\n")[2].strip("\n")


_CLEANERS: Final[dict[str, Callable[[str], str]]] = {
    "fence": clean_fence,
    "cellfence": clean_cell_fence,
    "code": lambda text: text.strip("\n").rstrip(),
    "plain": str.strip,
    "woven": lambda text: tidy(unescape(text)),
    "wovencode": lambda text: _fenced(unescape(text).strip("\n").rstrip()),
    "rstcode": _after_first_line,
}
