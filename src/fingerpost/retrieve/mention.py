"""The second hop: a page that a good hit names comes right behind the hit that names it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from fingerpost.retrieve.weights import weights
from fingerpost.types.evidence import Hit

_NAMING = 3
_FEWEST_CHARS = 4
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
_JUST_BEHIND = 1e-6


def raise_named(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return the hits with those raised whose title one of the first three names.

    The question 'who leads the firm that made X' is answered on a page that it does not name
    and the page about X does. A raised hit never passes the one that names it. Titles that
    the question itself holds are left alone: words and vectors saw them.

    Args:
        hits: Best first, each chunk once.
        question: The question's text.
    """
    asked = question.casefold()
    raised: list[Hit] = []
    for hit in hits:
        name = _name(hit.document.title)
        told = name and name.casefold() not in asked
        namer = _namer(name, hit, hits[:_NAMING]) if told else None
        raised.append(hit if namer is None else _behind(hit, namer))
    return sorted(raised, key=lambda hit: -hit.score)


@lru_cache(maxsize=4096)
def _name(title: str) -> str:
    """Return the name that a title is, empty for a lone common word: it is found everywhere."""
    name = _QUALIFIER.sub("", title).strip()
    inner = any(c.isupper() or c.isdigit() for c in name[1:])
    return name if len(name) >= _FEWEST_CHARS and (len(name.split()) > 1 or inner) else ""


def _namer(name: str, hit: Hit, first: Sequence[Hit]) -> Hit | None:
    for other in first:
        if other.score <= hit.score:  # best first: none behind it is better
            return None
        if other.document.id != hit.document.id and _stands_in(name, other.chunk.text):
            return other
    return None


def _stands_in(name: str, text: str) -> bool:
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        free_before = at == 0 or not text[at - 1].isalnum()
        if free_before and (end == len(text) or not text[end].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False


def _behind(hit: Hit, namer: Hit) -> Hit:
    score = hit.score + weights().named * namer.score
    bounded = max(hit.score, min(score, namer.score - _JUST_BEHIND))
    note = f"named in {namer.document.path}:{namer.chunk.line_start}"
    return replace(hit, score=bounded, note=f"{hit.note}; {note}" if hit.note else note)
