"""How well questions are sent to the one source that serves them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.decide import SourceDescription
from fingerpost.errors import EvaluationError
from fingerpost.eval.cases import RoutingCase
from fingerpost.eval.measurement import Failure, Measurement, Outcome, Values, grouped
from fingerpost.eval.metrics import (
    accuracy,
    calibration_error,
    confusion_of,
    macro_f1,
    percentile,
    reliability,
    share,
)
from fingerpost.eval.plots import Plot, matrix_of
from fingerpost.eval.run import Progress, run_cases, silent
from fingerpost.eval.tiers import confidence_plots

NOBODY = "(none)"
_FAILED = "(failed)"


def require_known_sources(
    name: str, cases: Sequence[RoutingCase], sources: Sequence[SourceDescription]
) -> None:
    """Refuse questions and sources that do not belong together.

    Raises:
        EvaluationError: No question's source is among the sources.
    """
    known = {source.id for source in sources}
    wanted = [case.source for case in cases if case.source is not None]
    if wanted and known.isdisjoint(wanted):
        raise EvaluationError(
            f"{name}: no question's source, such as {wanted[0]!r}, is among the sources; "
            "do the two files belong together?"
        )


@dataclass(frozen=True, slots=True)
class Routed:
    """Where one question was sent.

    Attributes:
        chosen: Id of the source, `NOBODY` after an abstention.
        confidence: Stated probability that the choice is right, 0 to 1.
        best: The source with the highest score, whether or not the router abstained.
        scores: Source id → likeness.
    """

    chosen: str
    confidence: float
    best: str
    scores: Mapping[str, float] = field(default_factory=dict)


def measure_routing(
    name: str,
    cases: Sequence[RoutingCase],
    route: Callable[[str], Routed],
    *,
    progress: Progress = silent,
) -> Measurement:
    """Route every case and score the choices.

    ``accuracy`` is over the questions that a source serves, an abstention counting as wrong;
    ``oos_recall`` the share of the others on which the router abstains. Rows with a
    stand-alone rewrite are routed a second time by it (``accuracy_rewrite``).
    """
    took: list[float] = []

    def attempt(case: RoutingCase) -> Routed:
        began = time.perf_counter()
        routed = route(case.text)
        took.append((time.perf_counter() - began) * 1000)
        return routed

    nothing = Routed(_FAILED, 0.0, _FAILED)
    routed, failures = run_cases(name, cases, attempt, instead=nothing, progress=progress)
    values = scores(cases, routed)
    values["p50_ms"] = percentile(took, 0.5)
    rewritten = [case for case in cases if case.rewrite and case.source is not None]
    if rewritten:
        again, more = run_cases(
            f"{name}, rewrites",
            rewritten,
            lambda case: route(case.rewrite or case.text),
            instead=nothing,
            progress=progress,
        )
        values["accuracy_rewrite"] = share(
            [b.chosen == a.source for a, b in zip(rewritten, again, strict=True)]
        )
        failures = [*failures, *more]
    return _measured(name, cases, routed, values, failures)


def scores(cases: Sequence[RoutingCase], routed: Sequence[Routed]) -> Values:
    """Return the measures that need no clock; ``None`` for one that no case speaks of."""
    gold = [case.source or NOBODY for case in cases]
    chosen = [one.chosen for one in routed]
    served = [place for place, truth in enumerate(gold) if truth != NOBODY]
    unserved = [place for place, truth in enumerate(gold) if truth == NOBODY]
    correct = [a == b for a, b in zip(gold, chosen, strict=True)]
    bins = reliability(correct, [one.confidence for one in routed])
    return {
        "n": len(gold),
        "accuracy": share([correct[place] for place in served]),
        "oos_recall": share([correct[place] for place in unserved]),
        "ece": calibration_error(bins),
        "accuracy_all": accuracy(gold, chosen),
        "macro_f1": macro_f1(gold, chosen),
        "accuracy_forced": share([routed[place].best == gold[place] for place in served]),
        "abstained_in_scope": share([chosen[place] == NOBODY for place in served]),
        "n_out_of_scope": len(unserved),
    }


def _measured(
    name: str,
    cases: Sequence[RoutingCase],
    routed: Sequence[Routed],
    values: Values,
    failures: Sequence[Failure],
) -> Measurement:
    gold = [case.source or NOBODY for case in cases]
    chosen = [one.chosen for one in routed]
    correct = [a == b for a, b in zip(gold, chosen, strict=True)]
    confusion = confusion_of(gold, chosen)
    plots: list[Plot] = [matrix_of(f"{name}: sources", confusion)]
    plots.extend(confidence_plots(correct, [one.confidence for one in routed]))
    return Measurement(
        name=name,
        values=values,
        groups=grouped(
            {"languages": [case.language for case in cases]},
            lambda places: scores([cases[p] for p in places], [routed[p] for p in places]),
        ),
        tables={"confusion": confusion},
        plots=plots,
        failures=failures,
        outcomes=[_outcome(a, b) for a, b in zip(cases, routed, strict=True)],
    )


def _outcome(case: RoutingCase, routed: Routed) -> Outcome:
    return Outcome(
        case_id=case.id,
        text=case.text,
        expected=[case.source or NOBODY],
        got=[] if routed.chosen == _FAILED else [routed.chosen],
        right=routed.chosen == (case.source or NOBODY),
        confidence=routed.confidence,
        scores=routed.scores,
        more={"best": routed.best, "lang": case.language},
    )
