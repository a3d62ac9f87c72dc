"""The sentences of a source, and those that a claim should be held against."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fingerpost.text.language import detect_language
from fingerpost.text.sentences import sentences
from fingerpost.types.document import Span
from fingerpost.verify.align import content, weight
from fingerpost.verify.lexicon import stop_words
from fingerpost.verify.names import Mention, identifiers, names
from fingerpost.verify.numbers import Quantity, quantities
from fingerpost.verify.words import UNSPACED, Word, fold, words

_KEY_LENGTH = 5
_WIDEST = 3
_LONGEST = 2_000
_GERMAN = re.compile(r"\b(?:der|das|dem|und|ist|wird|nicht|eine?[mnrs]?|mit|für)\b")
_WIDER_COSTS = 0.03
_KEPT = 4096
_NOWHERE: Final[NDArray[np.intp]] = np.array([], dtype=np.intp)


class Passage(NamedTuple):
    """One to three sentences of a source, with where they stand in it."""

    text: str
    span: Span


def outside(parts: Sequence[Word], spans: Iterable[tuple[int, int]]) -> list[Word]:
    """Return the words that begin in none of the spans."""
    covered = {at for start, end in spans for at in range(start, end)}
    return [word for word in parts if word.start not in covered]


class Reading:
    """What a piece of text says, read once and only as far as asked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[Word] = words(text)

    @cached_property
    def content(self) -> list[Word]:
        """Return its content words; those of quantities are compared as quantities."""
        spans = [(one.start, one.end) for one in self.quantities if not one.soft]
        return outside(content(self.words), spans)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Return its quantities."""
        return quantities(self.text)

    @cached_property
    def nouns_are_capital(self) -> bool:
        """Return whether it is German, where a capital tells no name from a noun."""
        return detect_language(self.text) == "de" or _GERMAN.search(self.text) is not None

    @cached_property
    def identifiers(self) -> list[Mention]:
        """Return its code spans, flags and identifiers."""
        return identifiers(self.text)

    @cached_property
    def names(self) -> list[Mention]:
        """Return its runs of capitalised words."""
        return names(self.text)


@lru_cache(maxsize=65536)
def _key(raw: str) -> str:
    """Return what words of one family share, empty for function words."""
    found = words(raw)
    if len(found) != 1:
        return ""
    return "" if found[0].text in stop_words() else found[0].stem[:_KEY_LENGTH]


def keys(parts: list[Word]) -> dict[str, float]:
    """Return key → weight for the content words and numbers among the words."""
    found: dict[str, float] = {}
    stops = stop_words()
    for word in parts:
        if word.text not in stops:
            key = word.stem[:_KEY_LENGTH]
            found[key] = max(found.get(key, 0.0), weight(word))
    return found


_RUN = re.compile(rf"[^\W_{UNSPACED}]+(?:['’][^\W\d_]+)?")
_UNSPACED = re.compile(f"[{UNSPACED}]+")


class SourceSentences:
    """A source cut into sentences, searchable by the words of a claim.

    Attributes:
        text: The whole text of the source.
        spans: Its sentences, in order.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[Span] = _split(text)
        self._readings: dict[tuple[int, int], Reading] = {}
        places: dict[str, list[int]] = {}
        for number, span in enumerate(self.spans):
            for key in _sentence_keys(text[span.start : span.end]):
                places.setdefault(key, []).append(number)
        # Arrays: a word that most sentences have must not cost a step for each of them.
        self._index = {key: np.array(found, dtype=np.intp) for key, found in places.items()}

    @cached_property
    def folded(self) -> str:
        """Return the text without case and accents."""
        return fold(self.text)

    def coverage(self, wanted: dict[str, float]) -> float:
        """Return the weighted share of the keys that stand anywhere in the source."""
        total = sum(wanted.values())
        return sum(w for key, w in wanted.items() if key in self._index) / total if total else 0.0

    def rank(self, wanted: dict[str, float], limit: int) -> list[tuple[int, float]]:
        """Return up to ``limit`` (sentence number, share) with the most of the keys, best first.

        A key that many sentences of this source have tells less. The share is of the keys'
        whole weight; ties go to the earlier sentence.
        """
        scores, total = self._scores(wanted)
        found = np.flatnonzero(scores)
        ranked = found[np.argsort(-scores[found], kind="stable")[:limit]]
        return [(int(number), float(scores[number]) / total) for number in ranked] if total else []

    def share(self, wanted: dict[str, float]) -> float:
        """Return the share of the keys that the best sentence has, 0 to 1."""
        scores, total = self._scores(wanted)
        return float(scores.max()) / total if total and scores.size else 0.0

    def _scores(self, wanted: dict[str, float]) -> tuple[NDArray[np.float64], float]:
        scores = np.zeros(len(self.spans))
        total = 0.0
        n_sentences = max(len(self.spans), 3)
        for key, plain in wanted.items():
            places = self._index.get(key)
            if places is None:
                total += plain
                continue
            told = plain * (1.0 - 0.5 * len(places) / n_sentences)
            total += told
            scores[places] += told
        return scores, total

    def window(self, wanted: dict[str, float], focus: int) -> tuple[int, int]:
        """Return the first and last sentence of the best window of up to three around one."""
        best, best_score = (focus, focus), -1.0
        total = sum(wanted.values()) or 1.0
        for width in range(1, _WIDEST + 1):
            for first in range(max(0, focus - width + 1), focus + 1):
                last = first + width - 1
                if last >= len(self.spans):
                    continue
                inside = sum(
                    plain
                    for key, plain in wanted.items()
                    if _any_within(self._index.get(key, _NOWHERE), first, last)
                )
                score = inside / total - _WIDER_COSTS * (width - 1)
                if score > best_score + 1e-9:
                    best, best_score = (first, last), score
        return best

    def passage(self, first: int, last: int) -> Passage:
        """Return the text from one sentence to another."""
        span = Span(self.spans[first].start, self.spans[last].end)
        return Passage(self.text[span.start : span.end], span)

    def reading(self, first: int, last: int) -> Reading:
        """Return what the sentences say; kept for the next claim."""
        key = (first, last)
        if key not in self._readings:
            if len(self._readings) >= _KEPT:
                self._readings.clear()
            self._readings[key] = Reading(self.passage(first, last).text)
        return self._readings[key]


def _any_within(places: NDArray[np.intp], first: int, last: int) -> bool:
    at = bisect_left(places, first)
    return at < len(places) and bool(places[at] <= last)


def _sentence_keys(text: str) -> set[str]:
    found = {_key(raw) for raw in _RUN.findall(text)}
    found.discard("")
    if not text.isascii():
        for run in _UNSPACED.findall(text):
            found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return found


def _split(text: str) -> list[Span]:
    """Return sentences, cut further at line ends that open an item, a row or a heading."""
    found: list[Span] = []
    for span in sentences(text):
        at = span.start
        for match in _LINE_OPENS.finditer(text, span.start, span.end):
            if text[at : match.start()].strip():
                found.append(_trimmed(text, at, match.start()))
            at = match.end()
        if text[at : span.end].strip():
            found.append(_trimmed(text, at, span.end))
    return [part for span in found for part in _parts(text, span)]


_LINE_OPENS = re.compile(r"\n\s*\n\s*|\n(?=[ \t]*(?:[-*+•|#>]|\d{1,3}[.)]\s))")


def _parts(text: str, span: Span) -> Iterator[Span]:
    """Yield the sentence, in several where it is too long to be one: at blanks if it has any."""
    at = span.start
    while span.end - at > _LONGEST:
        cut = max(text.rfind(blank, at + 1, at + _LONGEST) for blank in " \n\t")
        end = cut if cut > at else at + _LONGEST
        yield _trimmed(text, at, end)
        at = end
    yield _trimmed(text, at, span.end)


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
