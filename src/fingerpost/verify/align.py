"""Alignment of a claim's content words with the words of its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from fingerpost.verify.lexicon import lexicon, stop_words
from fingerpost.verify.negation import opposite, opposites, sides
from fingerpost.verify.words import Word, akin, compounded

_KIN = 0.85
_SIDE = 0.7
_NAME_WEIGHT = 1.5
_LONG = 8


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which words of the claim the evidence has.

    Attributes:
        pairs: (claim word, evidence word, strength 0 to 1), in the claim's order.
        missing: Content words of the claim without a partner.
        extra: Content words of the evidence without a partner.
        coverage: Weighted share of the claim's content words that have a partner, 0 to 1.
        order: Share of neighbouring pairs that stand in the same order in the evidence.
        adjacent: Share of the claim's neighbouring content words that are near neighbours in
            the evidence too.
    """

    pairs: tuple[tuple[Word, Word, float], ...]
    missing: tuple[Word, ...]
    extra: tuple[Word, ...]
    coverage: float
    order: float
    adjacent: float

    def opposed(self) -> list[tuple[Word, Word]]:
        """Return (claim word, evidence word) without partners that are opposites."""
        return opposites(self.missing, self.extra)


def content(parts: list[Word]) -> list[Word]:
    """Return the words that carry meaning: no function words, no bare numbers."""
    stops = stop_words() | lexicon().negations
    return [
        word
        for word in parts
        if word.text not in stops and not word.text.isdigit() and len(word.text) > 1
    ]


def weight(word: Word) -> float:
    """Return how much a word tells: names and long words more, frequent short ones less."""
    share = 0.5 + 0.5 * min(len(word.text), _LONG) / _LONG
    return share * (_NAME_WEIGHT if word.capital and word.start else 1.0)


def align(claim: list[Word], evidence: list[Word]) -> Alignment:
    """Align content words one to one: same stem, then kindred forms, then near-synonyms."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(evidence):
        places.setdefault(word.stem, []).append(at)
    partner: dict[int, tuple[int, float]] = {}
    taken: set[int] = set()
    last = -1
    for number, word in enumerate(claim):
        free = [at for at in places.get(word.stem, ()) if at not in taken]
        if free:
            best = min(free, key=lambda at: (abs(at - last - 1), at))
            partner[number] = (best, 1.0)
            taken.add(best)
            last = best
    _align_kin(claim, evidence, partner, taken)
    return _alignment(claim, evidence, partner, taken)


def _align_kin(
    claim: list[Word],
    evidence: list[Word],
    partner: dict[int, tuple[int, float]],
    taken: set[int],
) -> None:
    """Pair what is left: repeated words, forms of one word, words of one side of opposites."""
    left = [number for number in range(len(claim)) if number not in partner]
    if not left:
        return
    families: dict[str | tuple[int, int], list[int]] = {}
    for at, other in enumerate(evidence):
        for family in _families(other):
            families.setdefault(family, []).append(at)
    for number in left:
        word = claim[number]
        near = sorted({at for family in _families(word) for at in families.get(family, ())})
        for at in near:
            strength = _kinship(word, evidence[at], free=at not in taken)
            if strength:
                partner[number] = (at, strength)
                taken.add(at)
                break


def _families(word: Word) -> list[str | tuple[int, int]]:
    """Return the keys that kindred words share."""
    keys: list[str | tuple[int, int]] = [word.stem, word.text[:4], *sides(word)]
    return [*keys, word.text[-4:]] if len(word.text) >= _LONG - 3 else keys


def _kinship(word: Word, other: Word, *, free: bool) -> float:
    """Return how surely two words mean the same; a word of the evidence may serve twice."""
    if other.stem == word.stem:
        return 1.0
    if not free or opposite(word, other):
        return 0.0
    if akin(word.text, other.text) or compounded(word.text, other.text):
        return _KIN
    return _SIDE if sides(word) & sides(other) else 0.0


def _alignment(
    claim: list[Word],
    evidence: list[Word],
    partner: dict[int, tuple[int, float]],
    taken: set[int],
) -> Alignment:
    total = sum(weight(word) for word in claim)
    got = sum(weight(claim[number]) * strength for number, (_, strength) in partner.items())
    missing = tuple(word for number, word in enumerate(claim) if number not in partner)
    extra = tuple(word for at, word in enumerate(evidence) if at not in taken)
    places = [partner[number][0] for number in sorted(partner)]
    steps = list(pairwise(places))
    near = sum(
        number + 1 in partner and 0 < partner[number + 1][0] - at <= 2  # noqa: PLR2004 - one word between
        for number, (at, _) in partner.items()
    )
    return Alignment(
        pairs=tuple((claim[n], evidence[at], s) for n, (at, s) in sorted(partner.items())),
        missing=missing,
        extra=extra,
        coverage=got / total if total else 0.0,
        order=sum(one < other for one, other in steps) / len(steps) if steps else 1.0,
        adjacent=near / max(1, len(claim) - 1),
    )
