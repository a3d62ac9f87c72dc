"""Near-duplicates: versions and copies of one page are one piece of evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache

from fingerpost.types.evidence import Hit

SAME = 0.9
_SHOWN = 4
_NUMBERS = re.compile(r"\d+")


def distinct(hits: Iterable[Hit], query_text: str = "") -> list[Hit]:
    """Return the hits with (almost) equal texts collapsed into one, order kept.

    Of equal texts the newest stands in the place of the best: the one whose path the question
    names (``7.4``), else the later date in its front matter, else the higher version in its
    path, else the first. Its note lists the others. Texts that differ in a word of the
    question are never equal: there the difference is what was asked.

    Args:
        hits: Best first.
        query_text: The question, for versions and words that it names.
    """
    asked = frozenset(query_text.casefold().split())
    groups: list[list[Hit]] = []
    shapes: list[tuple[str, frozenset[str]]] = []
    seen: set[str] = set()
    for hit in hits:
        if hit.chunk.id in seen:
            continue
        seen.add(hit.chunk.id)
        shape = hit.chunk.language, _words(hit.chunk.text)
        for group, other in zip(groups, shapes, strict=True):
            if other[0] == shape[0] and _alike(other[1], shape[1], asked):
                group.append(hit)
                break
        else:
            groups.append([hit])
            shapes.append(shape)
    return [_newest(group, query_text) for group in groups]


def _alike(first: AbstractSet[str], second: AbstractSet[str], asked: AbstractSet[str]) -> bool:
    """Return whether two texts share nine tenths of their words and all that was asked for."""
    small, large = sorted((len(first), len(second)))
    if small < SAME * large:
        return False
    shared = len(first & second)
    if shared < SAME * (small + large - shared):
        return False
    return first == second or not ((first ^ second) & asked)


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


def _newest(group: list[Hit], query_text: str) -> Hit:
    if len(group) == 1:
        return group[0]
    first = group[0]
    ages = [(_age(hit, query_text), -place) for place, hit in enumerate(group)]
    kept = group[ages.index(max(ages))]
    others = [hit.document.path for hit in group if hit is not kept]
    shown = ", ".join(dict.fromkeys(others[:_SHOWN]))
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return replace(
        kept,
        score=first.score,
        fused_rank=first.fused_rank,
        fused_score=first.fused_score,
        note=_joined(kept.note, f"same text in {shown}{more}"),
    )


def _age(hit: Hit, query_text: str) -> tuple[int, str, tuple[int, ...]]:
    """Return what orders versions of a page, newest greatest."""
    folders = hit.document.path.split("/")
    named = sum(bool(_NUMBERS.search(part)) and part in query_text for part in folders)
    metadata = hit.document.metadata
    date = str(metadata.get("date") or metadata.get("ms.date") or "")
    iso = date if re.match(r"\d{4}-\d\d-\d\d", date) else ""
    numbers = tuple(int(n[:9]) for part in folders[:-1] for n in _NUMBERS.findall(part))
    return named, iso, numbers


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
