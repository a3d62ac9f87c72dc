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
    folders = hit.document.path.split("/")
    named = sum(bool(_NUMBERS.search(part)) and part in query_text for part in folders)
    metadata = hit.document.metadata
    date = str(metadata.get("date") or metadata.get("ms.date") or "")
    iso = date if re.match(r"\d{4}-\d\d-\d\d", date) else ""
    numbers = tuple(int(n[:9]) for part in folders[:-1] for n in _NUMBERS.findall(part))
    return named, iso, numbers


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
