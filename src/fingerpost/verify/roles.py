"""Which thing a statement is about: the right value, in the wrong clause."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fingerpost.verify.align import Alignment
from fingerpost.verify.evidence import Reading, outside
from fingerpost.verify.lexicon import stop_words
from fingerpost.verify.words import Word

_JOINED = "and|but|while|whereas|und|aber|während|sondern|et|mais|tandis que|y|e|pero|mientras"
_CLAIM_BREAK = re.compile(rf"[;；]|(?<=\s)(?:{_JOINED})(?=\s)", re.IGNORECASE)
_BREAK = re.compile(rf"[;；，]|,(?=\s)|(?<=\s)(?:{_JOINED})(?=\s)", re.IGNORECASE)
_LEAST_SHARE = 0.5
_LEAST_OF_NAME = 2


class _Item(NamedTuple):
    """A value, identifier or name: its kind, what makes two the same, and where it stands."""

    kind: str
    key: object
    text: str
    start: int
    end: int

    @property
    def same(self) -> tuple[str, object]:
        return self.kind, self.key


class _Clause:
    """What one clause says: its items and its other content words."""

    def __init__(self, items: list[_Item], words: list[Word]) -> None:
        self.items = items
        self.words = words
        self.told = {item.same for item in items}
        # A name before all other words is what the clause is about.
        self.opens = min((word.start for word in words if not word.capital), default=0)


def misplaced(claim: Reading, sentence: Reading, alignment: Alignment) -> tuple[str, str] | None:
    """Return (value of the claim, value that belongs there) when the claim took the wrong one.

    Both stand in the sentence, in clauses of their own; what the claim says of the one is
    what the sentence says of the other: ``-q`` for ``-v``, 8080 for 9090, one person for another.
    """
    if not alignment.pairs or _BREAK.search(sentence.text) is None:
        return None
    partner = {one.start: other for one, other, _ in alignment.pairs}
    clauses = _clauses(sentence, _BREAK)
    # What stands between commas often says more of a name that is told outside of them.
    joined = _clauses(sentence, _CLAIM_BREAK)
    for clause in _clauses(claim, _CLAIM_BREAK):
        if not clause.words:
            continue
        for item in clause.items:
            others = [one for one in clause.items if one.kind != item.kind]
            told = clause.words
            if item.kind == "name":
                told = [word for word in told if not word.capital]
                if len(told) < _LEAST_OF_NAME:
                    continue
            context = [partner.get(word.start) for word in told]
            found = _rival(item, others, context, joined if item.kind == "name" else clauses)
            if found:
                return item.text, found
    return None


def _rival(
    item: _Item,
    others: Sequence[_Item],
    context: Sequence[Word | None],
    clauses: Sequence[_Clause],
) -> str | None:
    at = [clause for clause in clauses if item.same in clause.told]
    others = [one for one in others if sum(one.same in clause.told for clause in clauses) == 1]
    stems = [word.stem for word in context if word is not None]
    if len(at) != 1 or any(one.same in at[0].told for one in others):
        return None
    said_there = {word.stem for word in at[0].words if not word.capital}
    # A clause that says nothing of its own is part of a list; the subject is told only once.
    says_more = said_there - set(stems) or len({one.kind for one in at[0].items}) > 1
    subject = set(stems[:1]) if len(stems) > 1 else set()
    shared = _shared(clauses)
    if not says_more or said_there & set(stems) - shared - subject:
        return None
    n_telling = len(context) - sum(stem in shared for stem in stems)
    for clause in clauses:
        own = {word.stem for word in clause.words} - said_there
        rivals = [one for one in clause.items if one.kind == item.kind and one.same != item.same]
        if item.kind == "name":
            rivals = [one for one in rivals if one.start < clause.opens]
        if clause is at[0] or not rivals or item.same in clause.told:
            continue
        least = 1.0 if item.kind == "name" else _LEAST_SHARE
        if sum(stem in own for stem in stems) >= least * max(1, n_telling):
            return rivals[0].text
    return None


def _shared(clauses: Sequence[_Clause]) -> set[str]:
    """Return the stems that stand in more than one clause: they tell none from another."""
    seen: set[str] = set()
    shared: set[str] = set()
    for clause in clauses:
        stems = {word.stem for word in clause.words}
        shared |= seen & stems
        seen |= stems
    return shared


def _clauses(reading: Reading, breaks: re.Pattern[str]) -> list[_Clause]:
    items = list(_items(reading))
    # What opens a sentence may be a name and may be none: it counts as both.
    taken = [(item.start, item.end) for item in items if item.kind != "name" or item.start]
    content = outside(reading.content, taken)
    inside = [m.start() for m in breaks.finditer(reading.text)]
    covered = {at for start, end in taken for at in range(start + 1, end)}
    cuts = [0, *(at for at in inside if at not in covered)]
    said: list[tuple[list[_Item], list[Word]]] = [([], []) for _ in cuts]
    for item in items:
        said[bisect_right(cuts, item.start) - 1][0].append(item)
    for word in content:
        said[bisect_right(cuts, word.start) - 1][1].append(word)
    return [_Clause(*both) for both in said]


def _items(reading: Reading) -> Iterable[_Item]:
    for one in reading.quantities:
        if not one.soft:
            key = one.values[:1] or one.version or (one.date and one.date.readings[0])
            yield _Item(one.kind, (one.dimension, key), one.text, one.start, one.end)
    for mention in reading.identifiers:
        yield _Item("identifier", mention.text, mention.text, mention.start, mention.end)
    for word in reading.words:
        if word.capital and word.text not in stop_words() and not reading.nouns_are_capital:
            yield _Item("name", word.stem, word.text, word.start, word.end)
