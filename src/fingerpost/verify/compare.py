"""Quantities of a claim held against those of its evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from fingerpost.verify.dates import compare_dates
from fingerpost.verify.numbers import Quantity

_APPROXIMATE_TOLERANCE = 0.1
_SCALED_TOLERANCE = 0.05
_A_MILLION = 1e6


class Finding(NamedTuple):
    """What the evidence says about one quantity of the claim.

    Attributes:
        relation: ``same``; ``differs`` (another value of the same thing); ``other`` (other
            values, of what is unclear); ``missing``.
        claim: The quantity.
        evidence: The quantity that it was held against.
    """

    relation: str
    claim: Quantity
    evidence: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All findings about a claim's quantities."""

    findings: tuple[Finding, ...]

    def count(self, relation: str) -> int:
        """Return how many findings have the relation."""
        return sum(finding.relation == relation for finding in self.findings)


def compare(claim: list[Quantity], evidence: list[Quantity]) -> Comparison:
    """Hold each quantity that asks for evidence against the evidence's quantities."""
    return Comparison(tuple(_find(one, evidence) for one in claim if not one.soft))


def _find(one: Quantity, evidence: list[Quantity]) -> Finding:
    if one.kind == "date":
        return _find_date(one, evidence)
    if one.kind == "version":
        return _find_version(one, evidence)
    if one.kind == "ordinal":
        return _find_number(one, [q for q in evidence if q.kind == "ordinal"])
    return _find_number(one, evidence)


def _find_date(one: Quantity, evidence: list[Quantity]) -> Finding:
    assert one.date is not None
    vaguer: Quantity | None = None
    differing: Quantity | None = None
    for other in evidence:
        if other.date is None:
            year = one.date.readings[0]
            bare = other.kind == "number" and not other.dimension and year[1:] == (None, None)
            if bare and year[0] in other.values:
                return Finding("same", one, other)
            continue
        relation = compare_dates(one.date, other.date)
        if relation == "same":
            return Finding("same", one, other)
        if relation == "vaguer":
            vaguer = other
        elif _comparable(one, other):
            differing = differing or other
    if vaguer:
        return Finding("missing", one, vaguer)
    return Finding("differs" if differing else "missing", one, differing)


def _comparable(one: Quantity, other: Quantity) -> bool:
    assert one.date is not None
    assert other.date is not None
    return any(
        a is not None and b is not None
        for a, b in zip(one.date.readings[0], other.date.readings[0], strict=True)
    )


def _find_version(one: Quantity, evidence: list[Quantity]) -> Finding:
    rival: Quantity | None = None
    for other in evidence:
        parts = other.version
        if other.kind == "number" and not other.dimension:
            parts = tuple(int(part) for part in other.text.split(".") if part.isdecimal())
        if not parts:
            continue
        if _same_version(one.version, parts) and one.tag == other.tag:
            return Finding("same", one, other)
        if other.kind == "version":
            rival = rival or other
    return Finding("differs" if rival else "missing", one, rival)


def _same_version(claim: tuple[int, ...], evidence: tuple[int, ...]) -> bool:
    """Return whether the versions agree; the claim may leave out what comes last (v2 for v2.1)."""
    length = max(len(claim), len(evidence))
    padded = evidence + (0,) * (length - len(evidence))
    return padded[: len(claim)] == claim


def _find_number(one: Quantity, evidence: list[Quantity]) -> Finding:
    rivals = [other for other in evidence if _kindred(one, other)]
    matching = [other for other in rivals if _agrees(one, other)]
    if one.kind == "number":  # the first of something is no other number of anything
        rivals = [other for other in rivals if other.kind != "ordinal"]
    counted = [other for other in rivals if one.nouns & other.nouns]
    if matching:
        same_noun = [other for other in matching if one.nouns & other.nouns]
        elliptic = any(not other.nouns for other in matching)
        if same_noun or not counted or one.dimension or elliptic:
            return Finding("same", one, (same_noun or matching)[0])
        return Finding("differs", one, counted[0])
    if counted:
        return Finding("differs", one, counted[0])
    wrong_unit = [
        o for o in evidence if o.dimension != one.dimension and o.dimension and one.dimension
    ]
    same_digits = [o for o in wrong_unit if _digits(o) == _digits(one)]
    if same_digits:
        return Finding("differs", one, same_digits[0])
    if not one.dimension and one.nouns and _measures(one, evidence):
        return Finding("differs", one, _measures(one, evidence))
    hard = [other for other in rivals if not other.soft and other.kind != "date"]
    if hard and one.dimension:
        return Finding("differs", one, hard[0])
    return Finding("other" if hard else "missing", one, hard[0] if hard else None)


def _measures(one: Quantity, evidence: list[Quantity]) -> Quantity | None:
    """Return the evidence's quantity with the same digits, when it is of another kind."""
    same = [other for other in evidence if other.dimension and _digits(other) == _digits(one)]
    return same[0] if same and _digits(one) else None


def _digits(quantity: Quantity) -> str:
    return "".join(mark for mark in quantity.text if mark.isdigit() or mark in ".,")


def _kindred(one: Quantity, other: Quantity) -> bool:
    if other.kind == "date":
        return one.kind == "number" and not one.dimension
    return other.dimension == one.dimension and other.kind != "version" and bool(other.values)


def _agrees(one: Quantity, other: Quantity) -> bool:
    if other.date is not None:
        return any(
            reading == (value, None, None)
            for reading in other.date.readings
            for value in one.values
        )
    bounds = {one.bound, other.bound}
    if bounds in ({"more", "less"}, {"more", "limit"}):
        return False
    if one.bound != other.bound and _within_bound(one, other):
        return True
    loose = one.approximate or other.approximate
    return any(
        math.isclose(value, borne, rel_tol=1e-9, abs_tol=1e-12)
        or _rounds(one, value, borne, loose=loose)
        for value in one.values
        for borne in other.values
    )


def _within_bound(one: Quantity, other: Quantity) -> bool:
    """Return whether the evidence's number lies on the claimed side of the claim's bound."""
    value, borne = one.values[0], other.values[0]
    if one.bound == "more":
        return borne > value and other.bound != "less"
    return one.bound == "less" and borne < value and other.bound != "more"


def _rounds(one: Quantity, value: float, borne: float, *, loose: bool) -> bool:
    """Return whether the claim's number is the evidence's, said with fewer digits."""
    gap = abs(value - borne) / max(abs(value), abs(borne))
    if loose and gap <= _APPROXIMATE_TOLERANCE:
        return True
    scaled = any(mark.isalpha() for mark in one.text) and abs(value) >= _A_MILLION
    if scaled and not one.dimension and gap <= _SCALED_TOLERANCE:
        return True
    return one.dimension in ("", "percent") and value == round(value) == round(borne) != borne
