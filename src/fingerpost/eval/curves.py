"""Confidence against what came true: how it is read off, and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.eval.metrics import accuracy_by_coverage, reliability
from fingerpost.eval.plots import Curve, Line, Plot, thinned

TARGETS = (0.8, 0.9, 0.95)
"""Accuracies for which the coverage is told."""

Stated = tuple[str, Sequence[bool], Sequence[float]]
"""A name, whether each case is right, and its confidence, 0 to 1."""


def confidence_plots(right: Sequence[bool], sure: Sequence[float]) -> list[Plot]:
    """Return the reliability diagram and accuracy by coverage of one judge."""
    stated = [("", right, sure)]
    return [
        reliability_curve("Reliability", stated),
        coverage_curve("Accuracy by coverage", stated),
    ]


def reliability_curve(title: str, stated: Sequence[Stated]) -> Curve:
    """Return the reliability diagram of one to three judges."""
    return Curve(
        title,
        "stated probability",
        "share that is right",
        tuple(_reliability_line(*one) for one in stated),
        diagonal=True,
        note="On the dashed line a probability is honest; below it, boastful.",
    )


def coverage_curve(title: str, stated: Sequence[Stated]) -> Curve:
    """Return accuracy by coverage of one to three judges."""
    return Curve(
        title,
        "share decided, surest first",
        "accuracy among them",
        tuple(
            Line(thinned(accuracy_by_coverage(right, sure)), name=name)
            for name, right, sure in stated
        ),
    )


def _reliability_line(name: str, right: Sequence[bool], sure: Sequence[float]) -> Line:
    bins = reliability(right, sure)
    return Line(
        tuple((one.confidence, one.accuracy) for one in bins),
        tuple(float(one.n) for one in bins),
        name,
    )


def coverage_at(right: Sequence[bool], sure: Sequence[float], target: float) -> float:
    """Return the largest share of cases, surest first, of which ``target`` is right; 0 to 1."""
    points = accuracy_by_coverage(right, sure)
    return max((share for share, accuracy in points if accuracy >= target), default=0.0)
