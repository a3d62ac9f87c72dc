"""Which units make the answer: few, relevant, not twice the same, and readable together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fingerpost.generate.companions import Context, companions, complete, place_of
from fingerpost.generate.listing import Listing, Place, find_listings
from fingerpost.generate.relevance import answering
from fingerpost.generate.score import Question, ScoredUnit
from fingerpost.generate.units import Unit, UnitKind
from fingerpost.text.language import NO_LANGUAGE, detect_language
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types import Hit, Tier


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
    Tier.LOOKUP: Limits(3, 0.8),
    Tier.MULTI_SOURCE: Limits(5, 0.62),
    Tier.RESEARCH: Limits(8, 0.55),
}
_SAME = 0.85
_MAX_POOL = 60
_CODE_ELSEWHERE = 0.95
_NEAR_LANGUAGE = 0.6


@dataclass(frozen=True, slots=True)
class Choice:
    """What an answer quotes.

    Attributes:
        units: Best first, each followed by its companions.
        left_out: Last unit taken of a list → how many of its items were left out.
    """

    units: list[Unit]
    left_out: Mapping[Place, int]


def choose(
    question: Question,
    scored: Sequence[ScoredUnit],
    limits: Limits,
    max_tokens: int,
    hits: Sequence[Hit],
    n_found: int,
) -> Choice:
    """Return the units of the answer.

    A chosen list item or code block brings the sentence that introduces it; a chosen lead
    brings its list or code; a question for all of something brings the whole list; one step
    brings the whole procedure; a sentence that leans on the one before brings that one.

    Args:
        question: As read by the scorer.
        scored: Every unit of the evidence.
        limits: How much to choose.
        max_tokens: Budget of the whole answer; a unit that does not fit is passed over.
        hits: Which the units name by position.
        n_found: How many of the hits were found for the question; what stands in the others is
            taken only with what it goes on from.
    """
    units = [item.unit for item in scored]
    listings = find_listings(units, hits)
    found = [item for item in scored if item.unit.hit < n_found]
    candidates = _of_one_language(question, answering(question, found, listings, hits), hits)
    chosen = _ranked(question, candidates, limits)
    context = Context(question, scored, listings, [item.unit for item in chosen], hits)
    taken: dict[Place, Unit] = {}
    left = max_tokens
    for item in chosen:
        if place_of(item.unit) in taken:
            continue
        for unit in (item.unit, *companions(item.unit, context)):
            cost = estimate_tokens(unit.text) + 4
            if place_of(unit) not in taken and cost <= left:
                taken[place_of(unit)] = unit
                left -= cost
    kept = complete(list(taken.values()), listings)
    return Choice(kept, _left_out(kept, context))


def _left_out(units: Sequence[Unit], context: Context) -> dict[Place, int]:
    """Return how many items are missing behind the last one of each list that was begun whole."""
    left: dict[Place, int] = {}
    listings: list[Listing] = []
    for unit in units:
        listing = context.listings.get(place_of(unit))
        if listing is not None and listing not in listings and listing in context.whole:
            listings.append(listing)
    for listing in listings:
        taken = [unit for unit in listing.members if unit in units]
        missing = sum(item not in taken for item in listing.items)
        if taken and missing:
            left[place_of(taken[-1])] = missing
    return left


def _of_one_language(
    question: Question, scored: Sequence[ScoredUnit], hits: Sequence[Hit]
) -> list[ScoredUnit]:
    """Return the units in the language of the question, else in that of the best one.

    Translations say the same: an answer that goes from one to the next is no better for it.
    What the question's language says must come near to the best; whose language nobody knows
    may stay.
    """

    def language(item: ScoredUnit) -> str:
        return hits[item.unit.hit].chunk.language

    known = [item for item in scored if language(item) not in NO_LANGUAGE]
    if len({language(item) for item in known}) <= 1:
        return list(scored)
    best = max(known, key=lambda item: item.score)
    asked = detect_language(question.text)
    near = _NEAR_LANGUAGE * best.score
    own = any(language(item) == asked and item.score >= near for item in known)
    spoken = asked if own else language(best)
    return [item for item in scored if language(item) in {spoken, *NO_LANGUAGE}]


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
