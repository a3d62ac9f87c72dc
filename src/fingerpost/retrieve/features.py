"""What about a question says whether words or vectors should lead, as named numbers."""

from __future__ import annotations

import re

import numpy as np

from fingerpost.retrieve.legs import Legs
from fingerpost.retrieve.question import Question, rarity_of
from fingerpost.text.language import detect_language

# No pattern reaches over a blank or a backtick, and each takes at most quadratic time in its
# piece, which is short: what people type as a name is no longer.
_PIECE = re.compile(r"`[^`]+`|[^\s`]+")
_LONGEST_PIECE = 256
_IDENTIFIER = re.compile(
    r"""
    \w[\w./\\:#@-]*[_./\\:#@]\w+           # snake_case, a.dotted.name, a/path, Class::member
    | --?\w[\w-]*                          # a command line flag
    | [a-z]+[A-Z]\w*                       # camelCase
    | (?=[A-Z]{2}\w*\d)\w+ | (?=[^\W\d]*\d\w*[A-Z])\w+ # an error code
    | [A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+    # PascalCase
    | \w+\(\)                              # a call
    """,
    re.VERBOSE,
)
_TOP = 10


def identifiers(text: str) -> list[str]:
    """Return the words that look like code, in order: names, paths, flags, error codes."""
    found: list[str] = []
    for match in _PIECE.finditer(text):
        piece = match.group()
        if piece[0] == "`":  # said to be code
            found.append(piece.strip("`"))
        elif len(piece) <= _LONGEST_PIECE:
            found += _IDENTIFIER.findall(piece)
    return found


def is_foreign(text: str, languages: frozenset[str]) -> bool:
    """Return whether the text is in a language that the embedding model was not made for."""
    language = detect_language(text)
    return language != "und" and bool(languages) and language not in languages


def features(question: Question, legs: Legs, languages: frozenset[str]) -> dict[str, float]:
    """Return the named features, each about 0 to 1.

    Args:
        question: The question.
        legs: What both legs found; both must have run.
        languages: Those the embedding model was made for.
    """
    n_tokens = len(question.rarity)
    n_words = max(1, len(question.text.split()))
    rarest = max(question.rarity.values(), default=0.0) / rarity_of(0, question.n_chunks)
    lexical = np.sort(np.where(legs.lexical_rank > 0, legs.lexical, 0.0))[::-1]
    cosine = np.sort(np.where(np.isnan(legs.vector), -1.0, legs.vector))[::-1]
    top_words = set(legs.keys[(legs.lexical_rank > 0) & (legs.lexical_rank <= _TOP)].tolist())
    top_vectors = set(legs.keys[(legs.vector_rank > 0) & (legs.vector_rank <= _TOP)].tolist())
    return {
        "bias": 1.0,
        "foreign": float(is_foreign(question.text, languages)),
        "identifiers": min(1.0, 2 * len(identifiers(question.text)) / n_words),
        "length": min(1.0, n_tokens / 20),
        "function_words": 1.0 - min(1.0, n_tokens / n_words),
        "unknown_terms": 1.0 - question.n_known / n_tokens if n_tokens else 1.0,
        "rarest_term": rarest,
        "lexical_best": _at(lexical, 0) / question.ideal,
        "lexical_lead": _lead(lexical),
        "vector_best": max(0.0, _at(cosine, 0)),
        "vector_lead": max(0.0, _at(cosine, 0) - _at(cosine, 4)),
        "agreement": len(top_words & top_vectors) / _TOP,
    }


def _at(ordered: np.ndarray, place: int) -> float:
    return float(ordered[place]) if len(ordered) > place else 0.0


def _lead(ordered: np.ndarray) -> float:
    best = _at(ordered, 0)
    return (best - _at(ordered, 4)) / best if best > 0 else 0.0
