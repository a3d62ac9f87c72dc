"""How the text of each kind of block is cleaned for search."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Final

from fingerpost.corpus.prose import clean_fence, clean_prose, clean_table, tidy
from fingerpost.corpus.rst import clean_rst

_SILENT: Final = frozenset({"rule", "comment", "hidden"})
# Neighbours of these kinds are cleaned together, as prose.
PROSE: Final = frozenset({"paragraph", "list", "quote", "html", "heading"})


def search_text_of(kind: str, text: str, targets: list[str]) -> str:
    """Return what is searched of one block's text.

    Args:
        kind: Kind of the block.
        text: Its text.
        targets: Takes the targets of its links, as written.
    """
    if kind in PROSE:
        return tidy(clean_prose(text, targets))
    if kind in _SILENT:
        return ""
    if kind == "table":
        return tidy(clean_table(text, targets))
    if kind == "rst":
        return tidy(clean_rst(text, targets))
    return _CLEANERS[kind](text)


def _after_first_line(text: str) -> str:
    return text.partition("\n")[2].strip("\n")


_CLEANERS: Final[dict[str, Callable[[str], str]]] = {
    "fence": clean_fence,
    "code": lambda text: text.strip("\n").rstrip(),
    "plain": str.strip,
    "woven": lambda text: tidy(unescape(text)),
    "wovencode": lambda text: unescape(text).strip("\n").rstrip(),
    "rstcode": _after_first_line,
}
