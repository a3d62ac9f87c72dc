"""How well questions are sent to the one source that serves them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fingerpost.decide import SourceDescription
from fingerpost.errors import EvaluationError
from fingerpost.eval.cases import RoutingCase
from fingerpost.eval.curves import confidence_plots
from fingerpost.eval.measurement import Failure, Measurement, Outcome, Values, grouped
from fingerpost.eval.metrics import (
    accuracy,
    calibration_error,
    confusion_of,
    macro_f1,
    mean,
    percentile,
    reliability,
    share,
)
from fingerpost.eval.plots import Plot, matrix_of
from fingerpost.eval.run import Progress, run_cases, silent

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
        scores: Source id → likeness, or probability.
        used: Ids of all sources that would be searched; ``chosen`` is the first of them.
        took_ms: Wall milliseconds.
        model: Provider and model that decided, empty when none did.
    """

    chosen: str
    confidence: float
    best: str
    scores: Mapping[str, float] = field(default_factory=dict)
    used: tuple[str, ...] = ()
    took_ms: float = 0.0
    model: str = ""


FAILED = Routed(_FAILED, 0.0, _FAILED)
"""What stands for a case that crashed; it counts as wrong."""

RouteAll = Callable[[str, Sequence[RoutingCase], Progress], tuple[list[Routed], list[Failure]]]
"""Routes the texts of cases: one outcome for each, in order, and those that failed."""


def measure_routing(
    name: str,
    cases: Sequence[RoutingCase],
    route: Callable[[str], Routed],
    *,
    progress: Progress = silent,
) -> Measurement:
    """Route every case by a function and score the choices. See `measure_routed`."""
    return measure_routed(name, cases, one_by_one(route), progress=progress)


def one_by_one(route: Callable[[str], Routed]) -> RouteAll:
    """Return what routes cases by a function, one after the other."""

    def attempt(case: RoutingCase) -> Routed:
        began = time.perf_counter()
        return replace(route(case.text), took_ms=(time.perf_counter() - began) * 1000)

    def route_all(
        label: str, cases: Sequence[RoutingCase], progress: Progress
    ) -> tuple[list[Routed], list[Failure]]:
        return run_cases(label, cases, attempt, instead=FAILED, progress=progress)

    return route_all


def measure_routed(
    name: str,
    cases: Sequence[RoutingCase],
    route_all: RouteAll,
    *,
    progress: Progress = silent,
) -> Measurement:
    """Route every case and score the choices.

    ``accuracy`` is over the questions that a source serves, an abstention counting as wrong;
    ``oos_recall`` the share of the others on which the router abstains. ``found``: the right
    source is among those that are used; ``n_used``: how many are, per question. Rows with a
    stand-alone rewrite are routed a second time by it (``accuracy_rewrite``).
    """
    routed, failures = route_all(name, cases, progress)
    values = scores(cases, routed)
    values["p50_ms"] = percentile([one.took_ms for one in routed if one is not FAILED], 0.5)
    rewritten = [
        replace(case, text=case.rewrite)
        for case in cases
        if case.rewrite and case.source is not None
    ]
    if rewritten:
        again, more = route_all(f"{name}, rewrites", rewritten, progress)
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
        "found": share([gold[place] in routed[place].used for place in served]),
        "n_used": mean([float(len(one.used)) for one in routed]),
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
        got=[] if routed.chosen == _FAILED else list(routed.used) or [NOBODY],
        right=routed.chosen == (case.source or NOBODY),
        confidence=routed.confidence,
        scores=routed.scores,
        more={"best": routed.best, "lang": case.language, "model": routed.model},
    )
