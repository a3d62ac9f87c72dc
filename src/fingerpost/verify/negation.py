"""Negation by clause, and words that are opposites."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.words import Word, fold

_BREAK = re.compile(
    r"[,.:](?!\d)|[;!?()\n—–，。；：、]|\b(?:but|while|whereas|although|though|because|which|who|that|if|when|unless|except"
    r"|(?:and|und|et|y)(?=\s+(?:\w+\s+){0,2}(?:not|never|cannot|nicht|keine?|ne|no|nunca|jamais)\b)"
    r"|aber|sondern|während|obwohl|weil|wenn|mais|tandis|parce|si|pero|sino|aunque|porque|cuando)\b",
    re.IGNORECASE,
)
_UNSPACED_NOT = re.compile(r"不|没|沒|无|無|未|非|ない|ません|なかった|ไม่|않|못|없|नहीं|(?<!\w)نمی")
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "de", "des", "anti", "mis")
_SHORTEST_ROOT = 4
_WITHOUT = frozenset(("without", "ohne", "sans", "sin", "sem", "senza", "zonder", "sine"))
_REACH = 3
_BUT = re.compile(r"\b(?:but|sondern|aber|mais|pero|sino)$", re.IGNORECASE)
_BUT_LENGTH = 9
_JOINED = frozenset(("non", "nicht"))
_NOT_MORE = re.compile(
    r"\b(?:not?|nicht|pas|kein\w*)\s+(?:[^\W\d]+er|more|less|fewer|mehr|weniger|plus|moins|mas|menos)"
    r"(?:\s+[^\W\d]+)?\s+(?:than|als|de|que)\s+[^.,;]{0,12}?(?=\d)"
)
_DENIED = re.compile(
    r"\b(?:not|nicht|pas|rather\s+than|instead\s+of|statt|anstatt|plutôt\s+que|au\s+lieu\s+de"
    r"|en\s+(?:lugar|vez)\s+de|,\s*(?:no|non|nie|не))\s+(?:[^\W\d]+\s+)?[$€£*_`(]*$",
    re.IGNORECASE,
)
# Romanian *nu* is *now* in Dutch and Swedish.
_ROMANIAN = re.compile(r"[ăîșşțţ]|\b(?:este|sunt|poate|pentru|trebuie)\b", re.IGNORECASE)
_NOT_POSSIBLE = re.compile(r"\b(?:nicht|kaum|nie)\s+(?:möglich|erlaubt|nötig|gestattet|zulässig)$")


@dataclass(frozen=True, slots=True)
class Polarity:
    """Where a sentence is negated.

    Attributes:
        spans: What each cue negates: its clause, or what is in ``narrow``.
        narrow: The few words after a *without*, the one word after *non-*, and what a *but*
            takes out.
    """

    spans: tuple[tuple[int, int], ...]
    narrow: tuple[tuple[int, int], ...] = ()

    def at_narrow(self, offset: int) -> bool:
        """Return whether one of the narrow ones negates what stands at the offset."""
        return any(start <= offset < end for start, end in self.narrow)

    def at(self, offset: int) -> bool:
        """Return whether what stands at the offset is negated."""
        return any(start <= offset < end for start, end in self.spans)

    @property
    def any(self) -> bool:
        """Return whether anything is negated."""
        return bool(self.spans)


_AFFIRMED = Polarity(())


def polarity(text: str, parts: list[Word]) -> Polarity:
    """Return which parts of the text are negated."""
    table = lexicon()
    cues = [
        (at, word)
        for at, word in enumerate(parts)
        if word.text in table.negations
        or word.text in table.exceptions
        or word.text.endswith("n't")
        or (word.text == "nu" and _ROMANIAN.search(text))
    ]
    if not cues and _UNSPACED_NOT.search(text) is None:
        return _AFFIRMED
    starts = [0, *(m.end() for m in _BREAK.finditer(text) if not _goes_on(text, m.start()))]
    excused = _excused(text)
    spans: list[tuple[int, int]] = []
    narrow = _joined_negations(parts, text)
    for at, word in _telling(cues, starts):
        if _within(word.start, excused) or _inside(text, word):
            continue
        clause = bisect_right(starts, word.start) - 1
        end = starts[clause + 1] if clause + 1 < len(starts) else len(text)
        if word.text in table.exceptions:
            # What is excepted from a denial is affirmed.
            if all(other.text in table.exceptions for _, other in cues):
                narrow.append((word.start, parts[at : at + 1 + _REACH][-1].end))
        elif word.text in _WITHOUT:
            reached = parts[at : at + 1 + _REACH][-1]
            narrow.append((word.start, min(end, reached.end)))
        elif _BUT.search(text, max(0, starts[clause] - _BUT_LENGTH), starts[clause]):
            narrow.append((starts[clause], end))
        else:
            spans.append((starts[clause], end))
    for match in _UNSPACED_NOT.finditer(text):
        clause = bisect_right(starts, match.start()) - 1
        spans.append(
            (starts[clause], starts[clause + 1] if clause + 1 < len(starts) else len(text))
        )
    return Polarity((*spans, *narrow), tuple(narrow))


def denied(text: str, start: int) -> bool:
    """Return whether a *not* or *instead of* stands right before: *not 60 days*."""
    return _DENIED.search(text, max(0, start - 40), start) is not None


def _telling(cues: Sequence[tuple[int, Word]], starts: Sequence[int]) -> list[tuple[int, Word]]:
    """Return the cues without those that cancel each other: *never fails*, *does not lack*."""
    failing = lexicon().failing
    kept: list[tuple[int, Word]] = []
    for at, word in cues:
        before = kept[-1] if kept else None
        if (
            before is not None
            and word.text in failing
            and before[1].text not in failing
            and before[1].text not in lexicon().exceptions
            and bisect_right(starts, before[1].start) == bisect_right(starts, word.start)
        ):
            kept.pop()
        else:
            kept.append((at, word))
    return kept


def _joined_negations(parts: list[Word], text: str) -> list[tuple[int, int]]:
    """Return the word after each *non-*."""
    return [
        (word.start, following.end)
        for word, following in pairwise(parts)
        if word.text in _JOINED and text[word.end : following.start] == "-"
    ]


def _within(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _excused(text: str) -> list[tuple[int, int]]:
    """Return where a negation negates nothing: *not only*, or *not more than* a number."""
    lowered = fold(text)
    found = [match.span() for match in _NOT_MORE.finditer(lowered)]
    for phrase in lexicon().not_negations:
        found += [(at, at + len(phrase)) for at in _places(lowered, phrase)]
    return found


def _goes_on(text: str, comma: int) -> bool:
    """Return whether what is negated goes on after the comma: *nicht möglich, … zu …*."""
    return text[comma] == "," and _NOT_POSSIBLE.search(text[:comma]) is not None


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


_INFLECTED = re.compile(r"(?<=\w{3})(?:e?ste[nrsm]?|e[nrsm]?|s)$")
# Forms of Romance verbs, and how much of the word is the same in all of them.
_CONJUGATED = re.compile(
    r"(?:[aei]?ron|yeron|aban?|ian?|ad[oa]s?|id[oa]s?|ando|endo|ara|aran|aient|ait|erent|ent|ees?)$"
)
_ROOT = 6
_NO_SIDES: frozenset[tuple[int, int]] = frozenset()


def sides(word: Word) -> frozenset[tuple[int, int]]:
    """Return (pair of opposites, side) for each pair that the word belongs to."""
    return _sides(word.text)


@lru_cache(maxsize=65536)
def _sides(text: str) -> frozenset[tuple[int, int]]:
    table = lexicon().opposites
    found = table.get(text)
    if found is None:
        ending = _INFLECTED.search(text)
        found = table.get(text[: ending.start()]) if ending else None
    if found is None and _CONJUGATED.search(text, _ROOT):
        found = _by_root().get(text[:_ROOT])
    return found or _NO_SIDES


@cache
def _by_root() -> dict[str, frozenset[tuple[int, int]]]:
    """Return the first letters of the long opposites, each with where it belongs."""
    found: dict[str, frozenset[tuple[int, int]]] = {}
    for text, entries in lexicon().opposites.items():
        if len(text) > _ROOT:
            found.setdefault(text[:_ROOT], entries)
    return found


def exchanged(
    claim: Sequence[Word], evidence: Sequence[Word], said_of: Polarity, borne_of: Polarity
) -> list[tuple[Word, Word]]:
    """Return opposites that say something of the same next word: *first Monday*, *vor dem Start*.

    Function words count as opposites too, and are passed over as the next word. Where only one
    of the two is negated they mean the same: *not impossible*, *possible*.
    """
    said = {word.text for word in claim}
    borne = {word.text for word in evidence}
    told = [(word, following) for word, following in _modifiers(evidence) if word.text not in said]
    return [
        (one, other)
        for one, following in _modifiers(claim)
        if one.text not in borne
        for other, its in told
        if following == its
        and opposite(one, other)
        and said_of.at(one.start) == borne_of.at(other.start)
    ]


def _modifiers(parts: Sequence[Word]) -> list[tuple[Word, str]]:
    """Return each word that has an opposite, with the stem of the next content word."""
    stops = lexicon().stops
    found = []
    for at, word in enumerate(parts):
        if sides(word):
            rest = (one.stem for one in parts[at + 1 : at + 4] if one.text not in stops)
            found.append((word, next(rest, "")))
    return [(word, following) for word, following in found if following]


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
