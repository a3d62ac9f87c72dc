"""Word lists of several languages: stop words, negations, opposites, quantifiers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from fingerpost.verify.words import fold


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Closed word classes, all folded (case and accents removed).

    Attributes:
        negations: Words that turn their clause into its opposite.
        failing: Those among them that another one before them turns round: *never fails*.
        exceptions: Words before what a statement does not hold for.
        not_negations: Phrases that hold a negation but do not negate.
        opposites: Word → (pair number, side) for each pair that it belongs to.
        universal: Quantifiers and modals that claim everything.
        existential: Quantifiers and modals that claim only a part.
        every: The words among them that stand for all of something.
        certain: Words that leave no doubt.
        hedges: Words that leave one.
        stops: Function words; they count for nothing in an alignment.
    """

    negations: frozenset[str]
    failing: frozenset[str]
    exceptions: frozenset[str]
    not_negations: tuple[str, ...]
    opposites: dict[str, frozenset[tuple[int, int]]]
    universal: frozenset[str]
    existential: frozenset[str]
    every: frozenset[str]
    certain: frozenset[str]
    hedges: frozenset[str]
    stops: frozenset[str]


def _folded(words: str) -> frozenset[str]:
    return frozenset(fold(word) for word in words.split())


def _opposites(pairs: list[str]) -> dict[str, frozenset[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    for number, pair in enumerate(pairs):
        for side, words in enumerate(pair.split(" | ")):
            for word in words.split():
                found.setdefault(fold(word), set()).add((number, side))
    return {word: frozenset(entries) for word, entries in found.items()}


@cache
def lexicon() -> Lexicon:
    """Return the word lists, read once from the package."""
    raw = json.loads(
        resources.files("fingerpost.verify").joinpath("lexicon.json").read_text("utf-8")
    )
    return Lexicon(
        negations=_folded(raw["negation"]),
        failing=_folded(raw["failing"]),
        exceptions=_folded(raw["except"]),
        not_negations=tuple(fold(phrase) for phrase in raw["not_negation"]),
        opposites=_opposites(raw["antonyms"]),
        universal=_folded(raw["universal"]),
        existential=_folded(raw["existential"]),
        every=_folded(raw["every"]),
        certain=_folded(raw["certain"]),
        hedges=_folded(raw["hedges"]),
        stops=_folded(raw["stop"]),
    )


def stop_words() -> frozenset[str]:
    """Return the folded function words."""
    return lexicon().stops
