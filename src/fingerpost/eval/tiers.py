"""How well questions are classified by tier."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.eval.cases import TIERS, TierCase
from fingerpost.eval.curves import confidence_plots
from fingerpost.eval.measurement import Failure, Measurement, Outcome, Values, grouped
from fingerpost.eval.metrics import (
    accuracy,
    calibration_error,
    confusion_of,
    macro_f1,
    percentile,
    reliability,
)
from fingerpost.eval.plots import Bars, Plot, matrix_of
from fingerpost.eval.run import Progress, run_cases, silent
from fingerpost.types.decision import ClassificationResult

_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Graded:
    """What was chosen for one case, how surely, and how long it took."""

    chosen: str
    confidence: float
    took_ms: float
    scores: Mapping[str, float] = field(default_factory=dict)


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
        return Graded(outcome.tier.label, outcome.confidence, took_ms, outcome.scores)

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
    values: Values = {
        **_scores(gold, chosen),
        "ece": calibration_error(bins),
        "p50_ms": percentile([one.took_ms for one in graded], 0.5),
    }
    confusion = confusion_of(gold, chosen, labels=TIERS)
    groups = grouped(
        {
            "sources": [case.source for case in cases],
            "languages": [case.language for case in cases],
        },
        lambda places: _scores([gold[p] for p in places], [chosen[p] for p in places]),
    )
    plots: list[Plot] = [matrix_of(f"{name}: tiers", confusion)]
    plots += [_accuracy_bars(groups)] if groups else []
    plots += confidence_plots(correct, confidence)
    return Measurement(
        name=name,
        values=values,
        groups=groups,
        tables={"confusion": confusion},
        plots=plots,
        failures=failures,
        outcomes=[_outcome(a, b) for a, b in zip(cases, graded, strict=True)],
    )


def _outcome(case: TierCase, graded: Graded) -> Outcome:
    return Outcome(
        case_id=case.id,
        text=case.text,
        expected=[case.tier],
        got=[] if graded.chosen == _FAILED else [graded.chosen],
        right=graded.chosen == case.tier,
        confidence=graded.confidence,
        scores=graded.scores,
        more={"source": case.source, "lang": case.language},
    )


def _scores(gold: Sequence[str], chosen: Sequence[str]) -> Values:
    return {
        "n": len(gold),
        "accuracy": accuracy(gold, chosen) if gold else None,
        "macro_f1": macro_f1(gold, chosen) if gold else None,
    }


def _accuracy_bars(groups: dict[str, dict[str, Values]]) -> Bars:
    rows = [
        (f"{group} ({values['n']})", (values["accuracy"],))
        for members in groups.values()
        for group, values in members.items()
    ]
    return Bars("Accuracy by source and language (n)", ("accuracy",), tuple(rows))
