"""How well claims are held against their sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fingerpost.eval.cases import LABELS, NOT_SUPPORTED, AnswerCase, ClaimCase
from fingerpost.eval.measurement import Measurement, Outcome, Values, grouped
from fingerpost.eval.metrics import (
    Confusion,
    auroc,
    balanced_accuracy,
    mean,
    percentile,
    roc_points,
    spearman,
)
from fingerpost.eval.plots import Bars, Curve, Line, Plot, matrix_of, thinned
from fingerpost.eval.run import Identified, Progress, run_cases, silent
from fingerpost.types.answer import Verdict

CaseT = TypeVar("CaseT", bound=Identified)

_FAITHFUL = 3.5
_SIDES = {True: "faithful", False: "unfaithful"}
_CHOICES = tuple(verdict.value for verdict in Verdict)


@dataclass(frozen=True, slots=True)
class Judged:
    """What the product says of one claim or answer.

    Attributes:
        verdict: Of the claim; for a whole answer ``supported`` when nothing in it fails.
        support: Probability or share of support, 0 to 1; what AUROC ranks by.
        reasons: What spoke for the verdict.
        took_ms: Wall milliseconds.
        crashed: Nothing was said; wrong whatever the truth is.
        citation_precision: Of a whole answer that cites, 0 to 1 (`verify.citation_scores`).
        citation_recall: The same.
    """

    verdict: Verdict
    support: float
    reasons: tuple[str, ...] = ()
    took_ms: float = 0.0
    crashed: bool = False
    citation_precision: float | None = None
    citation_recall: float | None = None

    def supports(self, *, truth: bool) -> bool:
        """Return whether it counts as *supported*."""
        return not truth if self.crashed else self.verdict is Verdict.SUPPORTED

    def score(self, *, truth: bool) -> float:
        """Return what AUROC ranks by."""
        return float(not truth) if self.crashed else self.support

    @property
    def confidence(self) -> float:
        """Return the support for what was said, 0 to 1."""
        return self.support if self.verdict is Verdict.SUPPORTED else 1.0 - self.support


_NOT_JUDGED = Judged(Verdict.NOT_CHECKED, 0.0, crashed=True)


def _timed(judge: Callable[[CaseT], Judged]) -> Callable[[CaseT], Judged]:
    def attempt(case: CaseT) -> Judged:
        began = time.perf_counter()
        judged = judge(case)
        return replace(judged, took_ms=(time.perf_counter() - began) * 1000)

    return attempt


def measure_claims(
    name: str,
    cases: Sequence[ClaimCase],
    judge: Callable[[ClaimCase], Judged],
    *,
    progress: Progress = silent,
) -> Measurement:
    """Judge every claim and score the verdicts.

    ``balanced_accuracy`` and ``auroc`` are of *supported* against the rest.
    """
    judged, failures = run_cases(name, cases, _timed(judge), instead=_NOT_JUDGED, progress=progress)
    gold = [case.label for case in cases]
    confusion = _confusion(gold, judged)
    truth = [label == Verdict.SUPPORTED for label in gold]
    recall = {
        label: mean([float(_agrees(label, o.verdict)) for g, o in _paired(gold, judged, label)])
        for label in LABELS
        if label in gold
    }
    values = _scores(truth, judged)
    values["macro_recall"] = mean(list(recall.values()))
    values["p50_ms"] = percentile([one.took_ms for one in judged], 0.5)
    return Measurement(
        name=name,
        values=values,
        groups=grouped(
            {"languages": [case.language for case in cases]},
            lambda places: _scores([truth[p] for p in places], [judged[p] for p in places]),
        ),
        tables={"recall": recall, "confusion": confusion},
        plots=_claim_plots(name, confusion, recall, truth, _supports(truth, judged)),
        failures=failures,
        outcomes=[
            _outcome(case.id, case.claim, one, expected=case.label, got=one.verdict.value)
            for case, one in zip(cases, judged, strict=True)
        ],
    )


def _scores(truth: Sequence[bool], judged: Sequence[Judged]) -> Values:
    supports = [one.supports(truth=a) for a, one in zip(truth, judged, strict=True)]
    return {
        "n": len(truth),
        "balanced_accuracy": balanced_accuracy(truth, supports),
        "auroc": auroc(truth, _supports(truth, judged)),
    }


def _outcome(case_id: str, text: str, one: Judged, *, expected: str, got: str) -> Outcome:
    return Outcome(
        case_id=case_id,
        text=text,
        expected=[expected],
        got=[] if one.crashed else [got],
        right=not one.crashed and (got == expected or _agrees(expected, one.verdict)),
        confidence=one.confidence,
        scores={"support": one.support},
        more={"reasons": list(one.reasons)},
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
            lines=(Line(thinned(points)),),
            diagonal=True,
            note="The dashed line is chance.",
        )
    ]


def _citation_means(judged: Sequence[Judged]) -> Values:
    right = [one.citation_precision for one in judged if one.citation_precision is not None]
    borne = [one.citation_recall for one in judged if one.citation_recall is not None]
    if not right:
        return {}
    return {"citation_precision": mean(right), "citation_recall": mean(borne)}


def measure_answers(
    name: str,
    cases: Sequence[AnswerCase],
    verify: Callable[[AnswerCase], Judged],
    *,
    progress: Progress = silent,
) -> Measurement:
    """Verify whole answers and compare with people's marks for faithfulness.

    ``auroc`` and ``balanced_accuracy`` take answers marked 3.5 or better as faithful;
    ``spearman`` compares the share of supported claims with the mark itself. Where answers cite
    there are ``citation_precision`` and ``citation_recall`` too, the means over those that do.
    """
    judged, failures = run_cases(
        name, cases, _timed(verify), instead=_NOT_JUDGED, progress=progress
    )
    truth = [case.faithfulness >= _FAITHFUL for case in cases]
    support = _supports(truth, judged)
    grounded = [one.supports(truth=a) for a, one in zip(truth, judged, strict=True)]
    recall = {
        side: mean([float(b == flag) for a, b in zip(truth, grounded, strict=True) if a == flag])
        for flag, side in _SIDES.items()
        if flag in truth
    }
    values = _scores(truth, judged)
    values["spearman"] = spearman([case.faithfulness for case in cases], support)
    values |= _citation_means(judged)
    values["p50_ms"] = percentile([one.took_ms for one in judged], 0.5)
    return Measurement(
        name=name,
        values=values,
        tables={"recall": recall},
        plots=[
            Bars("Recall by side", ("recall",), tuple((k, (v,)) for k, v in recall.items())),
            *_roc(truth, support, "faithful (3.5 or better) against the rest"),
        ],
        failures=failures,
        outcomes=[
            _outcome(case.id, case.answer, one, expected=_SIDES[a], got=_SIDES[b])
            for case, one, a, b in zip(cases, judged, truth, grounded, strict=True)
        ],
    )
