"""How well claims are held against their sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fingerpost.eval.cases import LABELS, NOT_SUPPORTED, AnswerCase, ClaimCase
from fingerpost.eval.measurement import Failure, Measurement
from fingerpost.eval.metrics import (
    Confusion,
    auroc,
    balanced_accuracy,
    mean,
    percentile,
    roc_points,
    spearman,
)
from fingerpost.eval.plots import Bars, Curve, Plot, matrix_of, thinned
from fingerpost.eval.run import Progress, run_cases, silent
from fingerpost.types.answer import Verdict

_FAITHFUL = 3.5
_CHOICES = tuple(verdict.value for verdict in Verdict)


@dataclass(frozen=True, slots=True)
class Judged:
    """What the product says of one claim or answer.

    Attributes:
        verdict: Of the claim; for a whole answer ``supported`` when nothing in it fails.
        support: Probability or share of support, 0 to 1; what AUROC ranks by.
        took_ms: Wall milliseconds.
        crashed: Nothing was said; wrong whatever the truth is.
    """

    verdict: Verdict
    support: float
    took_ms: float = 0.0
    crashed: bool = False

    def supports(self, *, truth: bool) -> bool:
        """Return whether it counts as *supported*."""
        return not truth if self.crashed else self.verdict is Verdict.SUPPORTED

    def score(self, *, truth: bool) -> float:
        """Return what AUROC ranks by."""
        return float(not truth) if self.crashed else self.support


_NOT_JUDGED = Judged(Verdict.NOT_CHECKED, 0.0, crashed=True)


def measure_claims(
    name: str,
    cases: Sequence[ClaimCase],
    judge: Callable[[ClaimCase], tuple[Verdict, float]],
    *,
    progress: Progress = silent,
) -> Measurement:
    """Judge every claim and score the verdicts.

    ``balanced_accuracy`` and ``auroc`` are of *supported* against the rest.
    """

    def attempt(case: ClaimCase) -> Judged:
        began = time.perf_counter()
        verdict, support = judge(case)
        return Judged(verdict, support, (time.perf_counter() - began) * 1000)

    judged, failures = run_cases(name, cases, attempt, instead=_NOT_JUDGED, progress=progress)
    gold = [case.label for case in cases]
    confusion = _confusion(gold, judged)
    truth = [label == Verdict.SUPPORTED for label in gold]
    support = _supports(truth, judged)
    recall = {
        label: mean([float(_agrees(label, o.verdict)) for g, o in _paired(gold, judged, label)])
        for label in LABELS
        if label in gold
    }
    values: dict[str, float | int | None] = {
        "n": len(cases),
        "balanced_accuracy": balanced_accuracy(
            truth, [one.supports(truth=a) for a, one in zip(truth, judged, strict=True)]
        ),
        "auroc": auroc(truth, support),
        "macro_recall": mean(list(recall.values())),
        "p50_ms": percentile([one.took_ms for one in judged], 0.5),
    }
    return Measurement(
        name=name,
        values=values,
        tables={"recall": recall, "confusion": confusion},
        plots=_claim_plots(name, confusion, recall, truth, support),
        failures=failures,
    )


def _supports(truth: Sequence[bool], judged: Sequence[Judged]) -> list[float]:
    return [one.score(truth=a) for a, one in zip(truth, judged, strict=True)]


def _paired(gold: Sequence[str], judged: Sequence[Judged], label: str) -> list[tuple[str, Judged]]:
    return [(g, one) for g, one in zip(gold, judged, strict=True) if g == label]


def _agrees(label: str, verdict: Verdict) -> bool:
    """Return whether the verdict is right; any checked verdict but supported is *not* so."""
    if label == NOT_SUPPORTED:
        return verdict not in {Verdict.SUPPORTED, Verdict.NOT_CHECKED}
    return verdict.value == label


def _confusion(gold: Sequence[str], judged: Sequence[Judged]) -> Confusion:
    chosen = [one.verdict.value for one in judged]
    columns = [name for name in _CHOICES if name != Verdict.NOT_CHECKED or name in chosen]
    counts: Confusion = {label: dict.fromkeys(columns, 0) for label in LABELS if label in gold}
    for label, verdict in zip(gold, chosen, strict=True):
        counts[label][verdict] += 1
    return counts


def _claim_plots(
    name: str,
    confusion: Confusion,
    recall: dict[str, float],
    truth: Sequence[bool],
    support: Sequence[float],
) -> list[Plot]:
    plots: list[Plot] = [
        matrix_of(f"{name}: verdicts", confusion),
        Bars("Recall by label", ("recall",), tuple((k, (v,)) for k, v in recall.items())),
    ]
    return [*plots, *_roc(truth, support, "supported against the rest")]


def _roc(truth: Sequence[bool], support: Sequence[float], what: str) -> list[Plot]:
    points = roc_points(truth, support)
    if not points:
        return []
    return [
        Curve(
            title=f"ROC, {what}",
            x_label="false positive rate",
            y_label="true positive rate",
            points=thinned(points),
            diagonal=True,
            note="The dashed line is chance.",
        )
    ]


def measure_answers(
    name: str,
    cases: Sequence[AnswerCase],
    verify: Callable[[AnswerCase], tuple[bool, float]],
    *,
    progress: Progress = silent,
) -> Measurement:
    """Verify whole answers and compare with people's marks for faithfulness.

    ``auroc`` and ``balanced_accuracy`` take answers marked 3.5 or better as faithful;
    ``spearman`` compares the share of supported claims with the mark itself.

    Args:
        name: Of the data set.
        cases: Answers with their sources.
        verify: Gives (nothing in it fails, share of support).
        progress: Told after each case.
    """

    def attempt(case: AnswerCase) -> Judged:
        began = time.perf_counter()
        grounded, support = verify(case)
        took_ms = (time.perf_counter() - began) * 1000
        return Judged(Verdict.SUPPORTED if grounded else Verdict.WEAK, support, took_ms)

    judged, failures = run_cases(name, cases, attempt, instead=_NOT_JUDGED, progress=progress)
    truth = [case.faithfulness >= _FAITHFUL for case in cases]
    support = _supports(truth, judged)
    grounded = [one.supports(truth=a) for a, one in zip(truth, judged, strict=True)]
    recall = {
        side: mean([float(b == flag) for a, b in zip(truth, grounded, strict=True) if a == flag])
        for side, flag in (("faithful", True), ("unfaithful", False))
        if flag in truth
    }
    values: dict[str, float | int | None] = {
        "n": len(cases),
        "balanced_accuracy": balanced_accuracy(truth, grounded),
        "auroc": auroc(truth, support),
        "spearman": spearman([case.faithfulness for case in cases], support),
        "p50_ms": percentile([one.took_ms for one in judged], 0.5),
    }
    return _answer_measurement(
        name,
        values=values,
        recall=recall,
        truth=truth,
        support=support,
        failures=failures,
    )


def _answer_measurement(
    name: str,
    *,
    values: dict[str, float | int | None],
    recall: dict[str, float],
    truth: Sequence[bool],
    support: Sequence[float],
    failures: Sequence[Failure],
) -> Measurement:
    plots: list[Plot] = [
        Bars("Recall by side", ("recall",), tuple((k, (v,)) for k, v in recall.items())),
        *_roc(truth, support, "faithful (3.5 or better) against the rest"),
    ]
    return Measurement(
        name=name,
        values=values,
        tables={"recall": recall},
        plots=plots,
        failures=failures,
    )
