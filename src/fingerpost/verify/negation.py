"""Negation by clause, opposites, and quantifiers that claim more than the evidence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.words import Word, fold

_BREAK = re.compile(
    r"[,;:.!?()\n—–，。；：、]|\b(?:but|while|whereas|although|though|because|which|who|that|if|when|unless|except"
    r"|aber|sondern|während|obwohl|weil|wenn|mais|tandis|parce|si|pero|sino|aunque|porque|cuando)\b",
    re.IGNORECASE,
)
_UNSPACED_NOT = re.compile(r"不|没|沒|无|無|未|非|ない|ません|なかった|ไม่|않|못|없")
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "de", "a", "anti", "mis")
_SHORTEST_ROOT = 4


@dataclass(frozen=True, slots=True)
class Polarity:
    """Where a sentence is negated.

    Attributes:
        starts: Start of each clause, ascending.
        negated: For each clause, whether a cue stands in it.
    """

    starts: tuple[int, ...]
    negated: tuple[bool, ...]

    def at(self, offset: int) -> bool:
        """Return whether the clause at the offset is negated."""
        return self.negated[max(0, bisect_right(self.starts, offset) - 1)]

    @property
    def any(self) -> bool:
        """Return whether any clause is negated."""
        return any(self.negated)


def polarity(text: str, parts: list[Word]) -> Polarity:
    """Return the clauses of the text and which of them are negated."""
    table = lexicon()
    starts = [0, *(match.end() for match in _BREAK.finditer(text))]
    negated = [False] * len(starts)
    lowered = fold(text)
    excused = [
        (at, at + len(phrase))
        for phrase in table.not_negations
        if phrase in lowered
        for at in _places(lowered, phrase)
    ]
    for word in parts:
        if word.text not in table.negations and not word.text.endswith("n't"):
            continue
        if any(start <= word.start < end for start, end in excused) or _inside(text, word):
            continue
        negated[bisect_right(starts, word.start) - 1] = True
    for match in _UNSPACED_NOT.finditer(text):
        negated[bisect_right(starts, match.start()) - 1] = True
    return Polarity(tuple(starts), tuple(negated))


def _inside(text: str, word: Word) -> bool:
    """Return whether the word is part of an identifier such as ``--no-force``."""
    return text[word.start - 1 : word.start] in ("-", "_", "/") or text[
        word.end : word.end + 1
    ] in (
        "-",
        "_",
    )


def _places(text: str, phrase: str) -> list[int]:
    found, at = [], text.find(phrase)
    while at >= 0:
        found.append(at)
        at = text.find(phrase, at + 1)
    return found


_NO_SIDES: frozenset[tuple[int, int]] = frozenset()


def sides(word: Word) -> frozenset[tuple[int, int]]:
    """Return (pair of opposites, side) for each pair that the word belongs to."""
    return lexicon().opposites.get(word.text, _NO_SIDES)


def opposite(one: Word, other: Word) -> bool:
    """Return whether two words are opposites: by the list, or by a negating prefix."""
    theirs = sides(other)
    if theirs and any((pair, 1 - side) in theirs for pair, side in sides(one)):
        return True
    return other.text in _negated(one.text) or one.text in _negated(other.text)


def opposites(some: Sequence[Word], others: Sequence[Word]) -> list[tuple[Word, Word]]:
    """Return the pairs of opposites among the words, in order."""
    if not some or not others:
        return []
    by_text: dict[str, list[Word]] = {}
    by_side: dict[tuple[int, int], list[Word]] = {}
    for other in others:
        by_text.setdefault(other.text, []).append(other)
        for entry in sides(other):
            by_side.setdefault(entry, []).append(other)
        for root in _roots(other.text):
            by_text.setdefault(root, []).append(other)
    found = []
    for one in some:
        rivals = [rival for pair, side in sides(one) for rival in by_side.get((pair, 1 - side), ())]
        for text in (one.text, *_roots(one.text)):
            rivals += by_text.get(text, ())
        found += [(one, rival) for rival in dict.fromkeys(rivals) if opposite(one, rival)]
    return found


@lru_cache(maxsize=8192)
def _negated(text: str) -> frozenset[str]:
    """Return the word with each negating prefix."""
    if len(text) < _SHORTEST_ROOT:
        return frozenset()
    return frozenset(prefix + text for prefix in _PREFIXES)


@lru_cache(maxsize=8192)
def _roots(text: str) -> tuple[str, ...]:
    """Return what may be left of the word without a negating prefix."""
    return tuple(
        text[len(prefix) :]
        for prefix in _PREFIXES
        if text.startswith(prefix) and len(text) - len(prefix) >= _SHORTEST_ROOT
    )


def overclaims(claim: list[Word], evidence: list[Word]) -> bool:
    """Return whether the claim says all or always where the evidence says some or may."""
    table = lexicon()
    said = {word.text for word in claim}
    borne = {word.text for word in evidence}
    whole = said & table.universal
    return bool(whole) and not borne & table.universal and bool(borne & table.existential)
