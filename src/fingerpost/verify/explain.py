"""What the local judge measured of a claim and what it made of it, for people."""

from __future__ import annotations

from typing import Final

from fingerpost.types.answer import FeatureNote
from fingerpost.verify.features import Evidence
from fingerpost.verify.judge import judge_weights, support_model

_LEAST = 0.005
_SHARE: Final = {
    "coverage": "of the claim's words stand in the best sentence",
    "coverage_squared": "the same, squared",
    "coverage_window": "of the claim's words and quantities stand in the best passage",
    "coverage_words": "of the claim's words stand in the best passage",
    "coverage_source": "of the claim's words stand anywhere in the source",
    "coverage_rare": "of the claim's words stand in the best sentence, rare words counting more",
    "order": "of the shared words stand in the same order",
    "adjacent": "of neighbouring words are neighbours in the source too",
    "extra": "of the sentence's words are not in the claim",
    "names_missing": "of the names stand nowhere in the source",
    "names_elsewhere": "of the names stand only elsewhere in the source",
    "identifiers_missing": "of the identifiers stand nowhere in the source",
}
_HOLDS: Final = {
    "full": "all words of the claim stand in the passage",
    "numbers_same": "a quantity is the same",
    "numbers_differ": "a quantity is another",
    "numbers_other": "a quantity is not there, others are",
    "numbers_missing": "a quantity is not there",
    "identifiers_rival": "the source has another identifier in its place",
    "negation_flip": "one is negated, the other is not",
    "negation_any": "only one of the two has a negation",
    "opposed": "one says the opposite of a word of the other",
    "overclaim": "the claim says more, or more surely",
    "swapped": "two things changed places",
    "replaced": "a name is another",
    "misplaced": "a value belongs to something else",
}
_NUMBERS: Final = {
    "comparison": "compared the same way round (1) or the other (-1)",
    "claim_length": "length of the claim",
    "source_length": "length of the source",
    "cosine": "likeness of meaning, best sentence",
    "cosine_window": "likeness of meaning, passage",
    "cosine_coverage": "likeness of meaning by words that are shared",
    "cosine_extra": "likeness of meaning beyond the words that are shared",
}


def explain(found: Evidence | None) -> tuple[FeatureNote, ...]:
    """Return what was measured, what weighs most first; empty for a quote.

    Features that are zero or weigh nothing are left out. Findings that overrule the weighing
    come last, with a weight of 0.

    Args:
        found: What was measured, of the source that decides.
    """
    if found is None:
        return ()
    weights = support_model(found, judge_weights()).weights
    notes = [
        FeatureNote(name, value, round(weights.get(name, 0.0) * value, 4), told_of(name, value))
        for name, value in found.values.items()
        if abs(weights.get(name, 0.0) * value) >= _LEAST
    ]
    notes.sort(key=lambda note: (-abs(note.weight), note.name))
    over = [FeatureNote(flag, 1.0, 0.0, "decides, whatever the rest") for flag in found.flags]
    return (*notes, *sorted(over, key=lambda note: note.name))


def told_of(name: str, value: float) -> str:
    """Return a feature in words."""
    if name in _SHARE:
        return f"{value:.0%} {_SHARE[name]}"
    if name in _HOLDS:
        return _HOLDS[name]
    return f"{_NUMBERS.get(name, name)}: {value:.2f}"
