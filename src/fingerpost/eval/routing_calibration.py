"""Labelled questions, asked of a decision model, become thresholds and what to expect of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import anyio
import numpy as np
from numpy.typing import NDArray

from fingerpost.decide import SourceDescription
from fingerpost.decide.calibrate import Fit, Labelled, fit_thresholds
from fingerpost.decide.thresholds import answered_by
from fingerpost.errors import EvaluationError
from fingerpost.eval.cases import RoutingCase
from fingerpost.eval.curves import TARGETS, coverage_at, coverage_curve, reliability_curve
from fingerpost.eval.measurement import Failure, Measurement, Outcome
from fingerpost.eval.metrics import calibration_error, reliability
from fingerpost.eval.routing import NOBODY
from fingerpost.eval.routing_asked import ask_all
from fingerpost.eval.routing_subjects import Backend, decision_model, decision_router, described
from fingerpost.eval.run import Progress, silent
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.routing import SourceRouting

_BEFORE, _AFTER = "as stated, from 0.5", "calibrated, cross-validated"
_REJECTED = "fitted, not kept"


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """One way to choose, over all questions.

    Attributes:
        used: Which sources it uses: shape (questions, sources).
        exact: Per question, whether those are the right ones.
        sure: Per question, the confidence of the routing: that of its least sure source.
        truth: Per answered pair of question and source, whether the source serves.
        stated: Per such pair, the probability of yes.
    """

    used: NDArray[np.bool_]
    exact: list[bool]
    sure: list[float]
    truth: list[bool]
    stated: list[float]


def calibrate(
    name: str,
    cases: Sequence[RoutingCase],
    options: Sequence[SourceDescription],
    *,
    backend: Backend,
    embedder: EmbeddingModel | None,
    waste: float,
    progress: Progress = silent,
) -> tuple[Fit, Measurement]:
    """Ask about every case, fit thresholds and measure them by cross-validation.

    Cases whose call failed are left out and told.

    Raises:
        EvaluationError: A case names an unknown source, every call failed, or several models
            answered.
        ConfigError: The backend cannot be asked, or the cases are too few.
    """
    _require_sources(name, cases, options)
    model = decision_model(backend, embedder)
    router = decision_router(model, described(options), backend)
    at_once = backend.n_at_once(remote=backend.name != "local")
    told = partial(progress, name)
    found, failures = anyio.run(ask_all, router, model.close, cases, at_once, told)
    pairs = [(a, b[0]) for a, b in zip(cases, found, strict=True) if b is not None]
    if not pairs:
        raise EvaluationError(f"{name}: every question failed, the first with {failures[0].error}")
    answered = {answered_by(model.provider, routing.model) for _, routing in pairs}
    if len(answered) > 1:
        names = " and ".join(sorted("/".join(one) for one in answered))
        raise EvaluationError(
            f"{name}: {names} answered; thresholds belong to one model",
            hint="Name a concrete one with --model.",
        )
    kept = [case for case, _ in pairs]
    labelled = Labelled(
        sources=tuple(option.id for option in options),
        probabilities=np.array([_probabilities(routing) for _, routing in pairs], dtype=float),
        gold=tuple(case.source for case in kept),
        groups=tuple(case.group or " ".join(case.text.casefold().split()) for case in kept),
    )
    provider, concrete = answered.pop()
    fit = fit_thresholds(
        labelled, backend=provider, model=concrete, template=backend.template, waste=waste
    )
    return fit, _measured(name, kept, fit, failures)


def sampled(cases: Sequence[RoutingCase], most: int | None, seed: int) -> list[RoutingCase]:
    """Return at most ``most`` of the cases, drawn at random, in their order."""
    if most is None or most >= len(cases):
        return list(cases)
    drawn = random.Random(seed).sample(range(len(cases)), most)  # noqa: S311 - a sample
    return [cases[place] for place in sorted(drawn)]


def _require_sources(
    name: str, cases: Sequence[RoutingCase], options: Sequence[SourceDescription]
) -> None:
    known = {option.id for option in options}
    for case in cases:
        if case.source is not None and case.source not in known:
            raise EvaluationError(
                f"{name}: {case.id}: {case.source!r} is not among the sources "
                "(null when none of them serves the question)"
            )


def _probabilities(routing: SourceRouting) -> list[float]:
    return [
        np.nan if item.probability is None else item.probability for item in routing.assessments
    ]


def _judged(fit: Fit, used: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> _Judged:
    serves = fit.labelled.serves
    known = ~np.isnan(probabilities)
    honest = np.where(known, np.where(used, probabilities, 1 - probabilities), 0.5)
    return _Judged(
        used=used,
        exact=np.all(used == serves, axis=1).tolist(),
        sure=honest.min(axis=1).tolist(),
        truth=serves[known].tolist(),
        stated=probabilities[known].tolist(),
    )


def _measured(
    name: str, cases: Sequence[RoutingCase], fit: Fit, failures: Sequence[Failure]
) -> Measurement:
    thresholds = fit.thresholds
    before = _judged(fit, fit.used_before, fit.labelled.probabilities)
    after = _judged(fit, fit.used, fit.calibrated)
    numbers = {
        _BEFORE: {**thresholds.before, **_honesty(before)},
        _AFTER: {**thresholds.expected, **_honesty(after)},
    }
    if fit.rejected:
        numbers[_REJECTED] = dict(fit.rejected)
    return Measurement(
        name=name,
        values={
            "n": len(cases),
            "n_out_of_scope": sum(case.source is None for case in cases),
            "n_unanswered": int(np.isnan(fit.labelled.probabilities).sum()),
            "threshold": thresholds.overall,
            "n_own": sum(one.own for one in thresholds.sources.values()),
            "slope": thresholds.map.slope,
            "shift": thresholds.map.shift,
            **{key: numbers[_AFTER][key] for key in ("cost", "exact", "ece")},
        },
        tables={
            "measures": {
                key: {column: found.get(key) for column, found in numbers.items()}
                for key in numbers[_AFTER]
            },
            "sources": _sources(fit),
        },
        plots=[
            reliability_curve(
                "Reliability",
                [(_BEFORE, before.truth, before.stated), (_AFTER, after.truth, after.stated)],
            ),
            coverage_curve(
                "Accuracy by coverage",
                [(_BEFORE, before.exact, before.sure), (_AFTER, after.exact, after.sure)],
            ),
        ],
        failures=failures,
        outcomes=[_outcome(case, fit, after, place) for place, case in enumerate(cases)],
    )


def _honesty(judged: _Judged) -> dict[str, float]:
    return {
        "ece": calibration_error(reliability(judged.truth, judged.stated)),
        "ece_routing": calibration_error(reliability(judged.exact, judged.sure)),
        **{
            f"coverage@{target:g}": coverage_at(judged.exact, judged.sure, target)
            for target in TARGETS
        },
    }


def _sources(fit: Fit) -> Mapping[str, Mapping[str, object]]:
    return {
        name: {
            "threshold": one.threshold,
            "own": "yes" if one.own else "no",
            "n_yes": one.n_yes,
            "n_no": one.n_no,
            "why": one.reason,
        }
        for name, one in fit.thresholds.sources.items()
    }


def _outcome(case: RoutingCase, fit: Fit, after: _Judged, place: int) -> Outcome:
    stated = zip(fit.labelled.sources, fit.labelled.probabilities[place].tolist(), strict=True)
    scores = {name: value for name, value in stated if not np.isnan(value)}
    used = [
        n for n, is_used in zip(fit.labelled.sources, after.used[place], strict=True) if is_used
    ]
    return Outcome(
        case_id=case.id,
        text=case.text,
        expected=[case.source or NOBODY],
        got=sorted(used, key=lambda name: -scores[name]) or [NOBODY],
        right=after.exact[place],
        confidence=after.sure[place],
        scores=scores,
    )
