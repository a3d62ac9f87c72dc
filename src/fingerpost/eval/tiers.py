"""How well questions are classified by tier."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fingerpost.eval.cases import TIERS, TierCase
from fingerpost.eval.measurement import Failure, Measurement
from fingerpost.eval.metrics import (
    accuracy,
    accuracy_by_coverage,
    calibration_error,
    confusion_of,
    macro_f1,
    percentile,
    reliability,
)
from fingerpost.eval.plots import Bars, Curve, Plot, matrix_of, thinned
from fingerpost.eval.run import Progress, run_cases, silent
from fingerpost.types.decision import ClassificationResult

_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Graded:
    """What was chosen for one case, how surely, and how long it took."""

    chosen: str
    confidence: float
    took_ms: float


def measure_tiers(
    name: str,
    cases: Sequence[TierCase],
    classify: Callable[[str], ClassificationResult],
    *,
    include_low: bool = False,
    progress: Progress = silent,
) -> Measurement:
    """Classify every case and score the tiers.

    Args:
        name: Of the data set.
        cases: All rows.
        classify: The product's classifier.
        include_low: Keep the rows whose label is of low confidence.
        progress: Told after each case.
    """

    def attempt(case: TierCase) -> Graded:
        began = time.perf_counter()
        outcome = classify(case.text)
        took_ms = (time.perf_counter() - began) * 1000
        return Graded(outcome.tier.label, outcome.confidence, took_ms)

    kept = [case for case in cases if include_low or case.label_confidence != "low"]
    graded, failures = run_cases(
        name, kept, attempt, instead=Graded(_FAILED, 0.0, 0.0), progress=progress
    )
    return _measured(name, kept, graded, failures)


def _measured(
    name: str,
    cases: Sequence[TierCase],
    graded: Sequence[Graded],
    failures: Sequence[Failure],
) -> Measurement:
    gold = [case.tier for case in cases]
    chosen = [one.chosen for one in graded]
    correct = [a == b for a, b in zip(gold, chosen, strict=True)]
    confidence = [one.confidence for one in graded]
    bins = reliability(correct, confidence)
    values: dict[str, float | int | None] = {
        **_scores(gold, chosen),
        "ece": calibration_error(bins),
        "p50_ms": percentile([one.took_ms for one in graded], 0.5),
    }
    confusion = confusion_of(gold, chosen, labels=TIERS)
    groups = {
        "sources": _by([case.source for case in cases], gold, chosen),
        "languages": _by([case.language for case in cases], gold, chosen),
    }
    plots: list[Plot] = [matrix_of(f"{name}: tiers", confusion), _accuracy_bars(groups)]
    plots.extend(confidence_plots(correct, confidence))
    return Measurement(
        name=name,
        values=values,
        groups={kind: members for kind, members in groups.items() if len(members) > 1},
        tables={"confusion": confusion},
        plots=plots,
        failures=failures,
    )


def confidence_plots(correct: Sequence[bool], confidence: Sequence[float]) -> list[Plot]:
    """Return the reliability diagram and accuracy by coverage."""
    bins = reliability(correct, confidence)
    return [
        Curve(
            title="Reliability",
            x_label="stated confidence",
            y_label="share that is right",
            points=tuple((one.confidence, one.accuracy) for one in bins),
            weights=tuple(float(one.n) for one in bins),
            diagonal=True,
            note="On the dashed line confidence is honest; below it, boastful.",
        ),
        Curve(
            title="Accuracy by coverage",
            x_label="share decided, surest first",
            y_label="accuracy among them",
            points=thinned(accuracy_by_coverage(correct, confidence)),
        ),
    ]


def _scores(gold: Sequence[str], chosen: Sequence[str]) -> dict[str, float | int | None]:
    return {
        "n": len(gold),
        "accuracy": accuracy(gold, chosen),
        "macro_f1": macro_f1(gold, chosen),
    }


def _by(
    names: Sequence[str], gold: Sequence[str], chosen: Sequence[str]
) -> dict[str, dict[str, float | int | None]]:
    groups: dict[str, dict[str, float | int | None]] = {}
    for group in sorted(set(names) - {""}):
        members = [place for place, name in enumerate(names) if name == group]
        groups[group] = _scores(
            [gold[place] for place in members], [chosen[place] for place in members]
        )
    return groups


def _accuracy_bars(
    groups: dict[str, dict[str, dict[str, float | int | None]]],
) -> Bars:
    rows = [
        (f"{group} ({values['n']})", (values["accuracy"],))
        for members in groups.values()
        for group, values in members.items()
    ]
    return Bars("Accuracy by source and language (n)", ("accuracy",), tuple(rows))
