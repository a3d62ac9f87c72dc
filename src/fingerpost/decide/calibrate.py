"""Fits routing thresholds on labelled questions, and says what to expect of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fingerpost.decide.probability_map import fit_map
from fingerpost.decide.thresholds import ProbabilityMap, RoutingThresholds, SourceThreshold
from fingerpost.errors import ConfigError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

N_FOLDS: Final = 5
FEWEST: Final = 10
"""A source with fewer questions on either side takes the threshold of all."""
_PLAIN: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """What a backend said of labelled questions.

    Attributes:
        sources: Their names.
        probabilities: Of yes: shape (questions, sources); NaN where it gave no answer.
        gold: Per question the one source that serves it, ``None`` when none does.
        groups: Per question what it belongs with (a conversation); one group is never split
            between fitting and testing. Questions of one text should share one.
    """

    sources: tuple[str, ...]
    probabilities: Floats
    gold: tuple[str | None, ...]
    groups: tuple[str, ...]

    @property
    def serves(self) -> Flags:
        """Return whether a source serves a question: shape (questions, sources)."""
        names = np.array(self.sources, dtype=object)
        return np.array([names == truth for truth in self.gold], dtype=bool)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Thresholds, and how they did on questions that they were not fitted on.

    Attributes:
        thresholds: Fitted on all questions.
        labelled: What they were fitted on.
        used_before: Which sources thresholds of 0.5 use: shape (questions, sources).
        used: Which of them cross-validated thresholds use.
        calibrated: Cross-validated probabilities, NaN where there was no answer.
        rejected: Cross-validated measures of fitted thresholds that cost more than 0.5 does, so
            that 0.5 is kept for every source; empty when the fitted ones are kept.
    """

    thresholds: RoutingThresholds
    labelled: Labelled
    used_before: Flags
    used: Flags
    calibrated: Floats
    rejected: Mapping[str, float] = field(default_factory=dict)


def fit_thresholds(
    labelled: Labelled, *, backend: str, model: str, template: str, waste: float = 0.5
) -> Fit:
    """Fit the thresholds of least expected cost; 0.5 is kept where they would cost more.

    The cost of a question is 1 when the source that serves it is not used, and ``waste`` for
    each other source that is. One threshold is fitted over all sources. A source gets its own
    when it has `FEWEST` questions on either side and cross-validation finds its own cheaper by
    more than a standard error.

    Args:
        labelled: Questions with their sources and what the backend said.
        backend: Provider that answered.
        model: Its concrete model.
        template: The question template that was asked.
        waste: What using a needless source costs, > 0.

    Raises:
        ConfigError: ``waste`` is not above 0, or the questions are too few to be fitted on.
    """
    if not waste > 0 or not np.isfinite(waste):
        raise ConfigError(f"waste = {waste}: it must be a number above 0 that is not infinite")
    serves = labelled.serves
    _require_enough(labelled, serves)
    folds = folds_of(labelled.gold, labelled.groups)
    used, calibrated = _cross_validated(labelled.probabilities, serves, folds, waste)
    learned, chart = _fit(labelled.probabilities, serves, folds, waste)
    before = _used(labelled.probabilities, np.float64(_PLAIN))
    fitted = measures(used, serves, waste)
    stated = measures(before, serves, waste)
    is_dearer = fitted["cost"] > stated["cost"]
    if is_dearer:
        learned, used = _plain(len(labelled.sources)), before
    thresholds = RoutingThresholds(
        backend=backend,
        model=model,
        template=template,
        overall=learned.overall,
        sources=_told(labelled.sources, learned, serves),
        map=chart,
        waste=waste,
        before=stated,
        expected=stated if is_dearer else fitted,
    )
    rejected = fitted if is_dearer else {}
    return Fit(thresholds, labelled, before, used, calibrated, rejected)


def measures(used: Flags, serves: Flags, waste: float) -> dict[str, float]:
    """Return how good it is to use these sources, both of shape (questions, sources).

    ``cost`` is per question. ``exact``: the used sources are the right ones, neither more nor
    fewer. ``found``: the right source is among them; ``left_alone``: none is used where none
    fits (each left out when no question speaks of it). ``needless``: other sources, per
    question. ``f1`` and ``balanced_error`` are over all pairs of question and source.
    """
    hit, extra = used & serves, used & ~serves
    served = serves.sum(axis=1) > 0
    missed, n_no = (serves & ~used).sum(), max(1, (~serves).sum())
    found: dict[str, float] = {
        "cost": float(missed + waste * extra.sum()) / len(used),
        "exact": float(np.mean(np.all(used == serves, axis=1))),
        "needless": float(extra.sum()) / len(used),
        "f1": float(2 * hit.sum() / max(1, 2 * hit.sum() + extra.sum() + missed)),
        "balanced_error": float(missed / max(1, serves.sum()) + extra.sum() / n_no) / 2,
    }
    if served.any():
        found["found"] = float(np.mean(hit[served].sum(axis=1) > 0))
    if not served.all():
        found["left_alone"] = float(np.mean(used[~served].sum(axis=1) == 0))
    return {name: round(value, 4) for name, value in found.items()}


def folds_of(gold: Sequence[str | None], groups: Sequence[str]) -> NDArray[np.int64]:
    """Return the fold of each question, 0 to `N_FOLDS` - 1.

    Each source is spread over all folds, whatever the order of the questions.
    """
    fold: dict[str, int] = {}
    seen: Counter[str | None] = Counter()
    for truth, group in zip(gold, groups, strict=True):
        if group not in fold:
            fold[group] = seen[truth] % N_FOLDS
            seen[truth] += 1
    return np.array([fold[group] for group in groups], dtype=np.int64)


def best_cut(probabilities: Floats, serves: Flags, waste: float) -> float:
    """Return the threshold of least cost, 0 to 1: half way between two probabilities.

    Of cuts that cost the same the one in the widest gap is taken. Pairs without an answer
    count nothing. Without any pair it is 0.5.
    """
    known = ~np.isnan(probabilities)
    stated, truth = probabilities[known], serves[known]
    if not len(stated):
        return _PLAIN
    levels, place = np.unique(stated, return_inverse=True)
    yes = np.bincount(place, weights=truth, minlength=len(levels))
    no = np.bincount(place, weights=~truth, minlength=len(levels))
    # Cut i uses the levels from i on; the last one uses none.
    missed = np.concatenate([[0.0], np.cumsum(yes)])
    needless = no.sum() - np.concatenate([[0.0], np.cumsum(no)])
    cost = missed + waste * needless
    edges = np.concatenate([[0.0], levels, [1.0]])
    low, high = edges[:-1], edges[1:]
    if levels[-1] >= 1:
        cost[-1] = np.inf  # no threshold lies above a stated 1
    least = np.flatnonzero(cost <= cost.min() + 1e-9)
    widest = int(least[np.argmax((high - low)[least])])
    if widest == 0:
        return 0.0
    return _short_between(float(low[widest]), float(high[widest]))


@dataclass(frozen=True, slots=True, eq=False)
class _Learned:
    """One threshold per source, the overall one, and why: a reason per source."""

    overall: float
    cuts: Floats
    reasons: tuple[str, ...]
    own: tuple[bool, ...]


def _fit(
    probabilities: Floats, serves: Flags, folds: NDArray[np.int64], waste: float
) -> tuple[_Learned, ProbabilityMap]:
    overall = best_cut(probabilities, serves, waste)
    shared = np.full(len(probabilities), overall)
    for fold in np.unique(folds):
        rest = folds != fold
        shared[~rest] = best_cut(probabilities[rest], serves[rest], waste)
    cuts, reasons, own = [], [], []
    for column in range(probabilities.shape[1]):
        stated, truth = probabilities[:, column], serves[:, column]
        reason = _why_not(stated, truth, folds, shared, waste)
        own.append(not reason)
        reasons.append(reason or "its own is cheaper in cross-validation")
        cuts.append(overall if reason else best_cut(stated, truth, waste))
    known = ~np.isnan(probabilities)
    questions = np.broadcast_to(folds[:, None], probabilities.shape)
    chart = fit_map(probabilities[known], serves[known], questions[known])
    return _Learned(overall, np.array(cuts), tuple(reasons), tuple(own)), chart


def _cross_validated(
    probabilities: Floats, serves: Flags, folds: NDArray[np.int64], waste: float
) -> tuple[Flags, Floats]:
    """Return the used sources and honest probabilities, each fitted on the other folds."""
    used = np.zeros_like(serves)
    calibrated = np.full_like(probabilities, np.nan)
    for fold in range(N_FOLDS):
        test, rest = folds == fold, folds != fold
        learned, chart = _fit(probabilities[rest], serves[rest], folds[rest], waste)
        used[test] = _used(probabilities[test], learned.cuts)
        calibrated[test] = _mapped(probabilities[test], chart)
    return used, calibrated


def _plain(n_sources: int) -> _Learned:
    reason = "0.5 is cheaper in cross-validation than what was fitted"
    cuts = np.full(n_sources, _PLAIN)
    return _Learned(_PLAIN, cuts, (reason,) * n_sources, (False,) * n_sources)


def _why_not(
    stated: Floats, truth: Flags, folds: NDArray[np.int64], shared: Floats, waste: float
) -> str:
    """Return why a source takes the threshold of all, nothing when its own is better."""
    n_yes, n_no = int(truth.sum()), int((~truth).sum())
    if min(n_yes, n_no) < FEWEST:
        side = "that it serves" if n_yes < n_no else "that it does not serve"
        return f"only {min(n_yes, n_no)} questions {side}, {FEWEST} are needed"
    own = np.empty(len(stated))
    for fold in np.unique(folds):
        rest = folds != fold
        own[~rest] = best_cut(stated[rest], truth[rest], waste)
    gain = _costs(stated, shared, truth, waste) - _costs(stated, own, truth, waste)
    if gain.mean() > gain.std() / np.sqrt(len(gain)):
        return ""
    return "its own is no cheaper in cross-validation"


def _costs(stated: Floats, cuts: Floats, truth: Flags, waste: float) -> Floats:
    used = _used(stated, cuts)
    costs: Floats = (truth & ~used) + waste * (used & ~truth)
    return costs


def _mapped(probabilities: Floats, chart: ProbabilityMap) -> Floats:
    flat = [np.nan if np.isnan(value) else chart(float(value)) for value in probabilities.flat]
    return np.array(flat).reshape(probabilities.shape)


def _used(probabilities: Floats, cuts: Floats | np.float64) -> Flags:
    used: Flags = probabilities >= cuts  # NaN is never used
    return used


def _told(names: Sequence[str], learned: _Learned, serves: Flags) -> Mapping[str, SourceThreshold]:
    return {
        name: SourceThreshold(
            threshold=float(learned.cuts[place]),
            own=learned.own[place],
            reason=learned.reasons[place],
            n_yes=int(serves[:, place].sum()),
            n_no=int((~serves[:, place]).sum()),
        )
        for place, name in enumerate(names)
    }


def _require_enough(labelled: Labelled, serves: Flags) -> None:
    n_yes = int(serves.sum())
    if n_yes < FEWEST or int((~serves).sum()) < FEWEST:
        raise ConfigError(
            f"{len(labelled.gold)} labelled questions, {n_yes} of them with one of the sources: "
            f"at least {FEWEST} with a source, and {FEWEST} pairs of a question and a source "
            "that does not serve it, are needed"
        )
    if np.isnan(labelled.probabilities[serves]).all():
        raise ConfigError("the backend answered no question about a source that serves it")


def _short_between(low: float, high: float) -> float:
    """Return a number with few digits, above ``low`` and at most ``high``, near the middle."""
    middle = (low + high) / 2
    for digits in range(2, 17):
        short = round(middle, digits)
        if low < short <= high:
            return short
    return high
