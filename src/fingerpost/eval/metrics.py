"""The measures of evaluation, small and exact, on plain sequences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Confusion = dict[str, dict[str, int]]


def first_relevant(ranked: Sequence[str], gold: frozenset[str]) -> int | None:
    """Return the place of the first relevant item, from 1; ``None`` when there is none."""
    for place, item in enumerate(ranked, start=1):
        if item in gold:
            return place
    return None


def recall_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the share of ``gold`` among the first ``k``, 0 to 1.

    Raises:
        ValueError: ``gold`` is empty.
    """
    if not gold:
        raise ValueError("recall needs at least one relevant item")
    return len(gold.intersection(ranked[:k])) / len(gold)


def ndcg_at(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first ``k``, 0 to 1.

    Gain is the grade itself and the discount is ``log2(place + 1)`` (Järvelin and Kekäläinen,
    2002). Items without a grade gain nothing. A ranking without any positive grade to find
    scores 0.
    """
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    best = sum(grade / math.log2(place + 1) for place, grade in enumerate(ideal, start=1))
    if best == 0:
        return 0.0
    seen: set[str] = set()
    gain = 0.0
    for place, item in enumerate(ranked[:k], start=1):
        if item not in seen:
            gain += max(grades.get(item, 0.0), 0.0) / math.log2(place + 1)
            seen.add(item)
    return gain / best


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, 0.0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def share(values: Sequence[bool]) -> float | None:
    """Return the share of true ones, 0 to 1; ``None`` of nothing."""
    return math.fsum(values) / len(values) if values else None


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` (0 to 1) of the values lie, 0.0 of nothing."""
    return float(np.quantile(np.asarray(values, dtype=float), share)) if values else 0.0


def confusion_of(
    gold: Sequence[str], chosen: Sequence[str], *, labels: Sequence[str] = ()
) -> Confusion:
    """Return gold label → chosen label → count, every label in both, labels in order.

    Labels that occur nowhere are counted too when they stand in ``labels``.
    """
    labels = sorted({*gold, *chosen, *labels})
    counts: Confusion = {row: dict.fromkeys(labels, 0) for row in labels}
    for truth, choice in zip(gold, chosen, strict=True):
        counts[truth][choice] += 1
    return counts


def accuracy(gold: Sequence[str], chosen: Sequence[str]) -> float:
    """Return the share of equal pairs, 0.0 of nothing."""
    return mean([float(a == b) for a, b in zip(gold, chosen, strict=True)])


def macro_f1(gold: Sequence[str], chosen: Sequence[str]) -> float:
    """Return the unweighted mean of F1 over the labels that occur in ``gold``, 0 to 1.

    A label that is chosen but never true has no F1 of its own; it lowers the others'.
    """
    scores: list[float] = []
    for label in sorted(set(gold)):
        pairs = list(zip(gold, chosen, strict=True))
        hits = sum(a == label and b == label for a, b in pairs)
        wrong = sum((a == label) != (b == label) for a, b in pairs)
        scores.append(2 * hits / (2 * hits + wrong) if hits else 0.0)
    return mean(scores)


def balanced_accuracy(gold: Sequence[bool], chosen: Sequence[bool]) -> float:
    """Return the mean recall of the classes that occur in ``gold``, 0 to 1."""
    recalls = [
        mean([float(b == side) for a, b in zip(gold, chosen, strict=True) if a == side])
        for side in (True, False)
        if side in gold
    ]
    return mean(recalls)


def _average_ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Return ranks from 1, equal values sharing the mean of their places."""
    array = np.asarray(values, dtype=float)
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: NDArray[np.float64] = (ends - (counts - 1) / 2.0)[inverse]
    return ranks


def auroc(gold: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Return the chance that a true case scores above a false one, ties counting half.

    ``None`` when one of the two classes is missing. Computed from average ranks
    (Mann and Whitney, 1947).
    """
    truth = np.asarray(gold, dtype=bool)
    n_true = int(truth.sum())
    n_false = len(truth) - n_true
    if n_true == 0 or n_false == 0:
        return None
    rank_sum = float(_average_ranks(scores)[truth].sum())
    return (rank_sum - n_true * (n_true + 1) / 2) / (n_true * n_false)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the rank correlation, -1 to 1; ``None`` when one side is constant or short."""
    if len(first) != len(second):
        raise ValueError("both sides need the same length")
    if len(set(first)) < 2 or len(set(second)) < 2:  # noqa: PLR2004 - a rank needs two values
        return None
    return float(np.corrcoef(_average_ranks(first), _average_ranks(second))[0, 1])


def roc_points(gold: Sequence[bool], scores: Sequence[float]) -> list[tuple[float, float]]:
    """Return (false positive rate, true positive rate) from (0, 0) to (1, 1).

    One point per distinct score; empty when one of the classes is missing.
    """
    n_true = sum(gold)
    n_false = len(gold) - n_true
    if n_true == 0 or n_false == 0:
        return []
    points = [(0.0, 0.0)]
    hits = false = 0
    ordered = sorted(zip(scores, gold, strict=True), key=lambda pair: -pair[0])
    for place, (score, truth) in enumerate(ordered):
        hits += truth
        false += not truth
        if place + 1 == len(ordered) or ordered[place + 1][0] != score:
            points.append((false / n_false, hits / n_true))
    return points


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Cases whose confidence fell into one interval.

    Attributes:
        low: Lower end of the interval.
        high: Upper end; inclusive in the last bin.
        n: Cases in it, > 0.
        confidence: Their mean confidence, 0 to 1.
        accuracy: Share of them that were right, 0 to 1.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(
    correct: Sequence[bool], confidence: Sequence[float], *, n_bins: int = 10
) -> list[ReliabilityBin]:
    """Return the filled bins of equal width over confidence 0 to 1, lowest first."""
    members: list[list[int]] = [[] for _ in range(n_bins)]
    for case, value in enumerate(confidence):
        members[min(max(int(value * n_bins), 0), n_bins - 1)].append(case)
    return [
        ReliabilityBin(
            low=place / n_bins,
            high=(place + 1) / n_bins,
            n=len(cases),
            confidence=mean([confidence[case] for case in cases]),
            accuracy=mean([float(correct[case]) for case in cases]),
        )
        for place, cases in enumerate(members)
        if cases
    ]


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Return the expected calibration error of the bins, 0 to 1 (Naeini and others, 2015)."""
    total = sum(one.n for one in bins)
    if total == 0:
        return 0.0
    return math.fsum(one.n * abs(one.accuracy - one.confidence) for one in bins) / total


def accuracy_by_coverage(
    correct: Sequence[bool], confidence: Sequence[float]
) -> list[tuple[float, float]]:
    """Return (share answered, accuracy among them), most confident first.

    One point per distinct confidence, so that equal cases are answered together.
    """
    ordered = sorted(zip(confidence, correct, strict=True), key=lambda pair: -pair[0])
    points: list[tuple[float, float]] = []
    right = 0
    for place, (value, is_right) in enumerate(ordered, start=1):
        right += is_right
        if place == len(ordered) or ordered[place][0] != value:
            points.append((place / len(ordered), right / place))
    return points
