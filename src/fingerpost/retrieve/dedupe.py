"""Near-duplicates: versions and copies of one page are one piece of evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import NamedTuple

from fingerpost.retrieve.dates import told_time
from fingerpost.retrieve.versions import (
    Asked,
    Preference,
    are_versions,
    asked_of,
    may_stand_for,
    placed,
    same_section,
    without_other_versions,
)
from fingerpost.types.evidence import Hit

SAME = 0.9
SAME_PAGE = 0.7
_SHOWN = 4
_NUMBERS = re.compile(r"\d+")


def distinct(hits: Iterable[Hit], query_text: str = "") -> list[Hit]:
    """Return the hits with (almost) equal texts collapsed into one, order kept.

    Texts of the same words are equal anywhere; texts that share nine tenths of them are equal
    under the same heading of another file, seven tenths where that file is the same page in a
    folder of another version (``7.4/page.md`` and ``7.5/page.md``). Versions of one section of
    a page are one whatever their texts, and so are versions of one page when the one that is
    meant fits about as well (see `retrieve.versions`).

    Of equal texts one stands in the place of the best: the version that the question names,
    else the newest released one, else the later date in its front matter, else the higher
    number in its path, else the first. Its ``copies`` lists the others. Texts of one version that
    differ in a word of the question are never equal: there the difference is what was asked.

    Args:
        hits: Best first.
        query_text: The question, for versions and words that it names.
    """
    asked = asked_of(query_text)
    return one_of_each(grouped(hits, asked, query_text), asked, query_text)


def grouped(hits: Iterable[Hit], asked: Asked, query_text: str) -> list[Group]:
    """Return the hits in groups of (almost) equal texts, in the order of their first ones.

    Args:
        hits: Best first.
        asked: What the question says of versions.
        query_text: The question.
    """
    words_asked = frozenset(query_text.casefold().split())
    groups: list[Group] = []
    seen: set[str] = set()
    of_words: dict[frozenset[str], int] = {}
    near: dict[object, list[int]] = {}  # only groups of its page or heading can take a hit
    for hit in hits:
        if hit.chunk.id in seen:
            continue
        seen.add(hit.chunk.id)
        own, page = _words(hit.chunk.text), placed(hit.document).page
        heading = (hit.chunk.heading_path[-1:], hit.chunk.language)
        end = of_words.get(own, len(groups))
        for place in sorted({*near.get(page, ()), *near.get(heading, ())}):
            if place >= end:
                break
            if _joins(groups[place], hit, own, page, asked, words_asked):
                end = place
        if end < len(groups):
            groups[end].hits.append(hit)
            continue
        groups.append(Group([hit], own, page))
        of_words[own] = end
        near.setdefault(page, []).append(end)
        near.setdefault(heading, []).append(end)
    return groups


def one_of_each(groups: Iterable[Group], asked: Asked, query_text: str) -> list[Hit]:
    """Return the hit of each group that stands for it, without other versions of its page."""
    return without_other_versions([_kept(one.hits, asked, query_text) for one in groups], asked)


class Group(NamedTuple):
    """Hits that are one; words and page are those of the first."""

    hits: list[Hit]
    words: frozenset[str]
    page: str


def _joins(
    group: Group,
    hit: Hit,
    words: frozenset[str],
    page: str,
    asked: Asked,
    words_asked: AbstractSet[str],
) -> bool:
    """Return whether a hit, whose words are not those of the group, belongs to it."""
    first = group.hits[0]
    if page == group.page and are_versions(first, hit):
        return _is_one(group, hit, words, asked)
    least = _least_shared(first, hit)
    return least > 0 and _alike(words, group.words, words_asked, least)


def _is_one(group: Group, hit: Hit, words: AbstractSet[str], asked: Asked) -> bool:
    """Return whether a version of a section may stand for the others, or they for it."""
    first = group.hits[0]
    if not same_section(first, hit) and not _alike(words, group.words, frozenset(), SAME_PAGE):
        return False
    if not asked.versions and not asked.names:
        return True
    one, other = sorted((hit, first), key=lambda item: asked.preference(item.document))
    return may_stand_for(other, one, asked) and not asked.of_both(group.hits, hit)


def _least_shared(left: Hit, right: Hit) -> float:
    """Return which share of their words makes two hits versions of one section; 0 when none."""
    if (
        left.chunk.heading_path[-1:] != right.chunk.heading_path[-1:]
        or left.document.id == right.document.id
        or left.chunk.language != right.chunk.language
    ):
        return 0.0
    same_page = _page(left.document.path) == _page(right.document.path)
    return SAME_PAGE if same_page and left.document.source == right.document.source else SAME


def _alike(
    first: AbstractSet[str], second: AbstractSet[str], asked: AbstractSet[str], least: float
) -> bool:
    """Return whether two texts share so much of their words, and all that was asked for."""
    small, large = len(first), len(second)
    if small > large:
        small, large = large, small
    if small < least * large:
        return False
    shared = len(first & second)
    return shared >= least * (small + large - shared) and not (first ^ second) & asked


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


def _kept(group: list[Hit], asked: Asked, query_text: str) -> Hit:
    if len(group) == 1:
        return group[0]
    first = group[0]
    ages = [(_age(hit, asked, query_text), -place) for place, hit in enumerate(group)]
    kept = group[ages.index(max(ages))]
    merged = [path for hit in group for path in (hit.document.path, *hit.copies)]
    others = tuple(path for path in dict.fromkeys(merged) if path != kept.document.path)
    shown = ", ".join(others[:_SHOWN])
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return replace(
        kept,
        score=first.score,
        fused_rank=first.fused_rank,
        fused_score=first.fused_score,
        note=_joined(kept.note, f"same text in {shown}{more}") if shown else kept.note,
        copies=others,
    )


def _age(hit: Hit, asked: Asked, query_text: str) -> tuple[Preference, int, float, tuple[int, ...]]:
    """Return what orders copies and versions of a page, the one to keep greatest."""
    numbered, numbers = _path_numbers(hit.document.path)
    at = told_time(hit.document)
    told = sum(part in query_text for part in numbered)
    return asked.preference(hit.document), told, -inf if at is None else at, numbers


@lru_cache(maxsize=4096)
def _path_numbers(path: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the parts of a path that hold a number, and the numbers of its folders."""
    parts = path.split("/")
    numbers = tuple(int(n[:9]) for part in parts[:-1] for n in _NUMBERS.findall(part))
    return tuple(part for part in parts if _NUMBERS.search(part)), numbers


@lru_cache(maxsize=4096)
def _page(path: str) -> str:
    """Return a path without the numbers in its folders."""
    folder, slash, name = path.rpartition("/")
    return f"{_NUMBERS.sub('0', folder)}{slash}{name}" if folder else path


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
