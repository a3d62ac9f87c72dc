"""The words of a catalogue, ranked by BM25F: each field's length counts for itself."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.capabilities.described import Described
from fingerpost.text.analyse import analyse, query_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["WordIndex", "asked_words", "places_of"]

_K1: Final = 1.2
_LENGTH: Final = 0.75  # how much a long field is held against its words, 0 to 1
_OTHERS: Final = 20  # so many more that lack a word: three tools tell little of what is rare
# So many more words that nothing holds: of a short question all is soon held, which tells little.
_UNHEARD: Final = 2
_FIELDS: Final = ("name", "description", "parameters")


@dataclass(frozen=True, slots=True)
class _Posting:
    """Where a word stands: numbers of capabilities, and what each makes of its score, 0 to 1."""

    rows: NDArray[np.intp]
    parts: NDArray[np.float32]
    idf: float


class WordIndex:
    """Ranks capabilities by the words that they share with a question. Immutable, thread-safe.

    Counts of name, description and parameters are added up before they saturate (Robertson,
    Zaragoza and Taylor, CIKM 2004), each held against the mean length of its field.
    """

    def __init__(self, described: Sequence[Described]) -> None:
        self._n = len(described)
        counted = _counted(described)
        held: dict[str, dict[int, float]] = defaultdict(dict)
        for row, weights in enumerate(counted):
            for token, weight in weights.items():
                held[token][row] = weight
        self._postings = {
            token: _Posting(
                np.fromiter(rows, dtype=np.intp, count=len(rows)),
                np.array([weight / (_K1 + weight) for weight in rows.values()], dtype=np.float32),
                self._rarity(len(rows)),
            )
            for token, rows in held.items()
        }

    def shares(self, question: str) -> NDArray[np.float32]:
        """Return how much of the question each capability holds, 0 to below 1, by number.

        A rare word counts more, and one that is in no capability counts as the rarest; two such
        words are added to every question, so that a short one is never held as a whole. All 0
        for a question without a word.
        """
        scores = np.zeros(self._n, dtype=np.float32)
        rarest = self._rarity(0)
        whole = _UNHEARD * rarest
        for token, weight in query_tokens(question).items():
            posting = self._postings.get(token)
            if posting is None:
                whole += weight * rarest
                continue
            whole += weight * posting.idf
            scores[posting.rows] += np.float32(weight * posting.idf) * posting.parts
        return scores / np.float32(whole)

    def _rarity(self, n: int) -> float:
        """Return what a word counts that ``n`` capabilities hold."""
        return math.log(1 + (self._n + _OTHERS - n + 0.5) / (n + 0.5))


def asked_words(question: str) -> dict[str, str]:
    """Return token → the word of the question that it stands for, telling words only."""
    telling = query_tokens(question)
    words: dict[str, str] = {}
    for unit in question.split():
        for token in analyse(unit):
            if token in telling:
                words.setdefault(token, unit.strip(".,:;!?()[]{}\"'`*"))
    return words


def places_of(item: Described, words: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each place of a capability that holds asked words, with those it is the first to hold.

    Places are ``name``, ``description`` and ``parameter NAME``, in this order.
    """
    left = dict(words)
    places = [("name", item.name), ("description", item.description)]
    places += [(f"parameter {name}", f"{name} {text}") for name, text in item.parameters]
    for place, text in places:
        tokens = set(analyse(text))
        held = list(dict.fromkeys(word for token, word in left.items() if token in tokens))
        if held:
            yield place, held
        left = {token: word for token, word in left.items() if word not in held}


def _counted(described: Sequence[Described]) -> list[dict[str, float]]:
    """Return token → count for each capability, lengths of fields made equal."""
    counted: list[dict[str, float]] = [defaultdict(float) for _ in described]
    for field in _FIELDS:
        tokens = [analyse(_field(item, field)) for item in described]
        mean = sum(map(len, tokens)) / max(1, len(tokens)) or 1.0
        for row, found in enumerate(tokens):
            each = 1 / (1 - _LENGTH + _LENGTH * len(found) / mean)
            for token in found:
                counted[row][token] += each
    return counted


def _field(item: Described, field: str) -> str:
    if field == "parameters":
        return " ".join(f"{name} {text}" for name, text in item.parameters)
    return item.name if field == "name" else item.description
