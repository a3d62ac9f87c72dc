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
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def distinct(hits: Iterable[Hit], query_text: str = "") -> list[Hit]:
    """Return the hits with (almost) equal texts collapsed into one, order kept.

    Texts of the same words are equal anywhere; texts that share nine tenths of them are equal
    under the same heading of another file, as versions of a page are.

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
    words: list[frozenset[str]] = []
    seen: set[str] = set()
    for hit in hits:
        if hit.chunk.id in seen:
            continue
        seen.add(hit.chunk.id)
        own = _words(hit.chunk.text)
        for group, other in zip(groups, words, strict=True):
            if own == other or (_versions(group[0], hit) and _alike(own, other, asked)):
                group.append(hit)
                break
        else:
            groups.append([hit])
            words.append(own)
    return [_newest(group, query_text) for group in groups]


def _versions(left: Hit, right: Hit) -> bool:
    """Return whether two hits may be versions of one section: same heading, another file."""
    return (
        left.chunk.heading_path[-1:] == right.chunk.heading_path[-1:]
        and left.document.id != right.document.id
        and left.chunk.language == right.chunk.language
    )


def _alike(first: AbstractSet[str], second: AbstractSet[str], asked: AbstractSet[str]) -> bool:
    """Return whether two texts share nine tenths of their words and all that was asked for."""
    small, large = sorted((len(first), len(second)))
    if small < SAME * large:
        return False
    shared = len(first & second)
    return shared >= SAME * (small + large - shared) and not (first ^ second) & asked


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
    numbered, numbers = _path_numbers(hit.document.path)
    metadata = hit.document.metadata
    date = str(metadata.get("date") or metadata.get("ms.date") or "")
    iso = date if _ISO_DATE.match(date) else ""
    return sum(part in query_text for part in numbered), iso, numbers


@lru_cache(maxsize=4096)
def _path_numbers(path: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the parts of a path that hold a number, and the numbers of its folders."""
    parts = path.split("/")
    numbers = tuple(int(n[:9]) for part in parts[:-1] for n in _NUMBERS.findall(part))
    return tuple(part for part in parts if _NUMBERS.search(part)), numbers


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
