"""Which units make the answer: few, relevant, not twice the same, and readable together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fingerpost.generate.cues import Want
from fingerpost.generate.score import Question, ScoredUnit
from fingerpost.generate.units import Unit, UnitKind
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types import Tier

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an answer may hold.

    Attributes:
        max_units: Units chosen for themselves; companions come on top.
        floor: A further unit needs this share of the best score, 0 to 1.
        redundancy: Points lost for full overlap with a unit already chosen.
        novelty: Points won for covering all terms that are still missing.
        near: Points won for standing in a chunk that is quoted already.
    """

    max_units: int
    floor: float
    redundancy: float = 0.6
    novelty: float = 0.3
    near: float = 0.15


LIMITS: Mapping[Tier, Limits] = {
    Tier.TRIVIAL: Limits(1, 0.7),
    Tier.LOOKUP: Limits(3, 0.74),
    Tier.MULTI_SOURCE: Limits(5, 0.5),
    Tier.RESEARCH: Limits(8, 0.4),
}
_MAX_COMPANIONS = 10
_SAME = 0.85
_MAX_POOL = 60
_CODE_ELSEWHERE = 0.95
_SHORT = 200
_LEANS_BACK = re.compile(
    r"(?:This|These|That|Those|It|Its|They|Their|Such|He|She|His|Her|However|Therefore|Thus"
    r"|But|Instead|Otherwise|Then|Hence"
    r"|Dies(?:e[rsnm]?)?|Er|Sie|Daher|Jedoch|Est[aeo]s?|Ell[oa]s?|Sin embargo|Cel(?:a|ui|le)"
    r"|Cette?|Ces|Ils?|Elles?|Cependant"
    r"|Это|Эт[аи]|Он[аио]?|Однако|Поэтому|Αυτ(?:ό|ή|ά|ές|οί|ός)|Bu|Bunlar|Acest[ae]?a?|Nó|Họ"
    r"|Điều này)\b"
    r"|这|那|它|他们|因此|但|しかし|これ|それ|그러나|이는|이것"
)  # fmt: skip


def choose(
    question: Question, scored: Sequence[ScoredUnit], limits: Limits, max_tokens: int
) -> list[Unit]:
    """Return the units of the answer, best first, each followed by its companions.

    A chosen list item or code block brings the sentence that introduces it; a chosen lead
    brings its list or code; one step brings the whole procedure when the question asks how;
    a sentence that leans on the one before brings that one.

    Args:
        question: As read by the scorer.
        scored: Every unit of the evidence.
        limits: How much to choose.
        max_tokens: Budget of the whole answer; a unit that does not fit is passed over.
    """
    by_place = {(item.unit.hit, item.unit.order): item.unit for item in scored}
    taken: dict[Place, Unit] = {}
    left = max_tokens
    for item in _ranked(question, scored, limits):
        if _place(item.unit) in taken:
            continue
        together = [item.unit, *_companions(item.unit, question, by_place)]
        for unit in together:
            cost = estimate_tokens(unit.text) + 4
            if _place(unit) not in taken and cost <= left:
                taken[_place(unit)] = unit
                left -= cost
    return list(taken.values())


def _ranked(question: Question, scored: Sequence[ScoredUnit], limits: Limits) -> list[ScoredUnit]:
    """Return the units chosen for themselves: maximal marginal relevance with a floor.

    Carbonell and Goldstein, 'The use of MMR' (SIGIR 1998), with a bonus for terms of the
    question that no chosen unit covers yet.
    """
    ranked = sorted(scored, key=lambda item: (-item.score, item.unit.hit, item.unit.order))
    least = limits.floor * ranked[0].score if ranked else 0.0
    pool = [item for item in ranked[:_MAX_POOL] if item.score >= least or item is ranked[0]]
    chosen: list[ScoredUnit] = []
    missing = dict(question.terms)
    while pool and len(chosen) < limits.max_units:
        gains = [_gain(item, chosen, missing, question, limits) for item in pool]
        best = max(range(len(pool)), key=lambda at: (gains[at], -at))
        item = pool.pop(best)
        weak = bool(chosen) and item.score < _floor(item, chosen, limits) * chosen[0].score
        if weak or any(_repeats(item, other) for other in chosen):
            continue
        chosen.append(item)
        for term in item.terms:
            missing.pop(term, None)
    return chosen


def _gain(
    item: ScoredUnit,
    chosen: Sequence[ScoredUnit],
    missing: Mapping[str, float],
    question: Question,
    limits: Limits,
) -> float:
    """Return what a unit adds to those chosen."""
    if not chosen:
        return item.score
    closeness = max(_overlap(item, other) for other in chosen)
    fresh = sum(map(missing.__getitem__, missing.keys() & item.terms))
    near = any(item.unit.hit == other.unit.hit for other in chosen)
    return (
        item.score
        - limits.redundancy * closeness
        + limits.novelty * fresh / (question.total or 1.0)
        + limits.near * near
    )


def _overlap(item: ScoredUnit, other: ScoredUnit) -> float:
    """Return the share of the smaller token set that both hold, 0 to 1."""
    smaller = min(len(item.tokens), len(other.tokens))
    return len(item.tokens & other.tokens) / smaller if smaller else 1.0


def _floor(item: ScoredUnit, chosen: Sequence[ScoredUnit], limits: Limits) -> float:
    """Return the share of the best score that a unit needs; code from elsewhere needs more."""
    if item.unit.kind is not UnitKind.CODE:
        return limits.floor
    known = any(item.unit.hit == other.unit.hit for other in chosen)
    return limits.floor if known else max(limits.floor, _CODE_ELSEWHERE)


def _repeats(item: ScoredUnit, other: ScoredUnit) -> bool:
    """Return whether two units say the same in nearly the same words."""
    either = len(item.tokens | other.tokens)
    return not either or len(item.tokens & other.tokens) >= _SAME * either


def _companions(unit: Unit, question: Question, by_place: Mapping[Place, Unit]) -> list[Unit]:
    """Return the units without which this one cannot be understood."""
    found: list[Unit] = []
    lead = None if unit.lead is None else by_place.get((unit.hit, unit.lead))
    if lead is not None and len(lead.tokens) > 1:
        found.append(lead)
    if unit.kind is UnitKind.STEP:
        found.extend(_of_group(unit, by_place))
    if unit.kind in {UnitKind.ITEM, UnitKind.ROW} and Want.LISTING in question.wants:
        found.extend(u for u in _of_group(unit, by_place) if len(u.text) <= _SHORT)
    if unit.kind is UnitKind.SENTENCE:
        found.extend(_led_by(unit, by_place))
        after = by_place.get((unit.hit, unit.order + 1))
        if Want.HOW in question.wants and after and after.kind is UnitKind.CODE:
            found.append(after)
        before = by_place.get((unit.hit, unit.order - 1))
        if before and before.group == unit.group and _LEANS_BACK.match(unit.text):
            found.append(before)
    return found


def _of_group(unit: Unit, by_place: Mapping[Place, Unit]) -> list[Unit]:
    """Return the units of a procedure, list or table, with the code between its steps."""
    steps = [
        other
        for other in by_place.values()
        if other.hit == unit.hit and other.kind is unit.kind and other.group == unit.group
    ]
    places = {step.order for step in steps}
    code = [
        other
        for other in by_place.values()
        if other.hit == unit.hit and other.kind is UnitKind.CODE and other.lead in places
    ]
    return sorted((*steps, *code), key=lambda other: other.order)[:_MAX_COMPANIONS]


def _led_by(unit: Unit, by_place: Mapping[Place, Unit]) -> list[Unit]:
    """Return the list or code that a sentence ending in a colon announces."""
    if not unit.text.endswith((":", "：")):
        return []
    found: list[Unit] = []
    order = unit.order + 1
    while (other := by_place.get((unit.hit, order))) and len(found) < _MAX_COMPANIONS:
        if other.lead != unit.order and not (found and other.lead == found[-1].order):
            break
        found.append(other)
        order += 1
    return found


def _place(unit: Unit) -> Place:
    return unit.hit, unit.order
