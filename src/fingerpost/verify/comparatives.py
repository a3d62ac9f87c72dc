"""Comparisons: which of two things is more, in the claim and in its evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fingerpost.verify.lexicon import stop_words
from fingerpost.verify.negation import opposite
from fingerpost.verify.words import Word

_THAN = frozenset(("than", "als", "que", "dan"))
_MORE = frozenset(("more", "mehr", "plus", "mas", "piu", "mais"))
_LESS = frozenset(("less", "fewer", "weniger", "moins", "menos", "meno"))
_IRREGULAR = frozenset(
    ("better", "worse", "besser", "mieux", "meilleur", "pire", "mejor", "peor", "antes", "despues",
     "avant", "apres", "before", "after", "rather", "cheaper")
)  # fmt: skip
_SEQUENCE = frozenset(
    ("before", "after", "avant", "apres", "antes", "despues", "bevor", "nachdem", "prima", "dopo")
)
_ENDING = re.compile(r"\w{2,}er(?:e[nrsm]?)?$")
_REACH = 3
_END = re.compile(r"[,;:.!?()]")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison: ``left`` is more, or more of what ``measure`` says, than ``right``."""

    left: frozenset[str]
    measure: Word
    is_less: bool
    right: frozenset[str]


def comparison(text: str, parts: list[Word]) -> Comparison | None:
    """Return the first comparison of the text, ``None`` when it makes none."""
    for at, word in enumerate(parts):
        if word.text not in _THAN or at == 0:
            continue
        head = _measure(parts, at)
        if head is None:
            continue
        start, measure, is_less = head
        stop = _END.search(text, word.end)
        end = stop.start() if stop else len(text)
        left = _stems(parts[:start])
        right = _stems([one for one in parts[at + 1 :] if one.start < end])
        if left and right:
            return Comparison(left, measure, is_less, right)
    return None


def sequence(text: str, parts: list[Word]) -> Comparison | None:
    """Return which of two things comes first by the only *before* or *after* of the text.

    ``None`` when there is no such word, or more than one.
    """
    places = [at for at, word in enumerate(parts) if word.text in _SEQUENCE]
    if len(places) != 1:
        return None
    (at,) = places
    word = parts[at]
    stops = [match.start() for match in _END.finditer(text)]
    begin = max((stop for stop in stops if stop < word.start), default=-1)
    end = next((stop for stop in stops if stop >= word.end), len(text))
    left = [one for one in parts[:at] if one.start > begin]
    if not left:  # After the build, run the tests.
        left = [one for one in parts if one.start > end]
    right = [one for one in parts[at + 1 :] if one.start < end]
    return Comparison(_stems(left), word, is_less=False, right=_stems(right))


def agreement(claim: Comparison | None, evidence: Comparison | None) -> int:
    """Return 1 when both say the same, -1 when they say the opposite, 0 when that is unclear."""
    if claim is None or evidence is None:
        return 0
    straight = len(claim.left & evidence.left) + len(claim.right & evidence.right)
    crossed = len(claim.left & evidence.right) + len(claim.right & evidence.left)
    if claim.measure.stem == evidence.measure.stem:
        direction = 1
    elif opposite(claim.measure, evidence.measure):
        direction = -1
    else:
        return 0
    if straight == crossed:
        return 0
    if claim.is_less != evidence.is_less:
        direction = -direction
    return direction if straight > crossed else -direction


def _measure(parts: list[Word], at: int) -> tuple[int, Word, bool] | None:
    """Return (where it begins, what is compared, less rather than more) before a *than*."""
    for back in range(at - 1, max(-1, at - 1 - _REACH), -1):
        word = parts[back]
        if word.text in _MORE or word.text in _LESS:
            measured = parts[back + 1] if back + 1 < at else parts[back]
            is_less = word.text in _LESS and back + 1 < at
            return back, measured, is_less
        if word.text in _IRREGULAR or (_ENDING.match(word.text) and back == at - 1):
            return back, word, False
    return None


def _stems(parts: list[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in parts if word.text not in stop_words())
