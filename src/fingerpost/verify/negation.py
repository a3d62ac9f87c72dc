"""Negation by clause, opposites, and quantifiers that claim more than the evidence."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.words import Word, fold

_BREAK = re.compile(
    r"[,;:.!?()\n—–，。；：、]|\b(?:but|while|whereas|although|though|because|which|who|that|if|when|unless|except"
    r"|aber|sondern|während|obwohl|weil|wenn|mais|tandis|parce|si|pero|sino|aunque|porque|cuando)\b",
    re.IGNORECASE,
)
# Spanish and Italian "no"/"non" negate the verb; the English "no" negates a noun: one list.
_SPANISH_NO = re.compile(r"\b(?:no|non)\b", re.IGNORECASE)
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
        if any(start <= word.start < end for start, end in excused):
            continue
        negated[bisect_right(starts, word.start) - 1] = True
    for match in _UNSPACED_NOT.finditer(text):
        negated[bisect_right(starts, match.start()) - 1] = True
    return Polarity(tuple(starts), tuple(negated))


def _places(text: str, phrase: str) -> list[int]:
    found, at = [], text.find(phrase)
    while at >= 0:
        found.append(at)
        at = text.find(phrase, at + 1)
    return found


def opposite(one: Word, other: Word) -> bool:
    """Return whether two words are opposites: by the list, or by a negating prefix."""
    pairs = lexicon().opposites
    for number, side in pairs.get(one.text, ()):
        for other_number, other_side in pairs.get(other.text, ()):
            if number == other_number and side != other_side:
                return True
    return _prefixed(one.text, other.text) or _prefixed(other.text, one.text)


def _prefixed(longer: str, root: str) -> bool:
    if len(root) < _SHORTEST_ROOT or len(longer) <= len(root) or longer[-2:] != root[-2:]:
        return False
    return longer.endswith(root) and longer[: -len(root)].strip("-") in _PREFIXES


def same_side(one: Word, other: Word) -> bool:
    """Return whether two words stand on the same side of a pair of opposites: near-synonyms."""
    pairs = lexicon().opposites
    return any(entry in pairs.get(other.text, ()) for entry in pairs.get(one.text, ()))


def overclaims(claim: list[Word], evidence: list[Word]) -> bool:
    """Return whether the claim says all or always where the evidence says some or may."""
    table = lexicon()
    said = {word.text for word in claim}
    borne = {word.text for word in evidence}
    whole = said & table.universal
    return bool(whole) and not borne & table.universal and bool(borne & table.existential)
