"""Fits what makes stated probabilities honest, when that helps at all."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from fingerpost.decide.thresholds import ProbabilityMap, log_odds

Floats = NDArray[np.float64]

_STEPS: Final = 40
_RIDGE: Final = 1e-3
_SLOWEST, _STEEPEST = 0.02, 50.0
_PLAIN: Final = np.array([1.0, 0.0])


def fit_map(stated: Floats, truth: NDArray[np.bool_], folds: NDArray[np.int64]) -> ProbabilityMap:
    """Return the map that cross-validation finds best; the simpler one when in doubt.

    A temperature replaces the stated probabilities, and Platt scaling (Platt, 1999) a
    temperature, when the mean log loss on folds it was not fitted on falls by more than a
    standard error.

    Args:
        stated: Probabilities, 0 to 1.
        truth: Whether each came true.
        folds: The fold of each.
    """
    odds = np.array([log_odds(float(value)) for value in stated])
    best = ProbabilityMap()
    least = _losses(odds, truth, 1.0, 0.0)
    for kind in ("temperature", "platt"):
        loss = np.empty_like(least)
        for fold in np.unique(folds):
            rest = folds != fold
            slope, shift = _newton(odds[rest], truth[rest], shifted=kind == "platt")
            loss[~rest] = _losses(odds[~rest], truth[~rest], slope, shift)
        gain = least - loss
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            slope, shift = _newton(odds, truth, shifted=kind == "platt")
            best, least = ProbabilityMap(slope, shift, kind), loss
    return best


def _losses(odds: Floats, truth: NDArray[np.bool_], slope: float, shift: float) -> Floats:
    strength = slope * odds + shift
    losses: Floats = np.logaddexp(0.0, np.where(truth, -strength, strength))
    return losses


def _newton(odds: Floats, truth: NDArray[np.bool_], *, shifted: bool) -> tuple[float, float]:
    """Return slope and shift of least log loss, held a little towards 1 and 0."""
    design = np.stack([odds, np.full_like(odds, float(shifted))], axis=1)
    weights, least = np.zeros(2), np.inf
    step = np.zeros(2)
    for _ in range(_STEPS):
        tried = weights - step
        loss = _losses(odds, truth, *tried).sum() + _RIDGE * ((tried - _PLAIN) ** 2).sum() / 2
        if not loss < least:  # too far, or nothing is left to gain
            step = step / 2
            continue
        weights, least = tried, loss
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        slope_of = design.T @ (chance - truth) + _RIDGE * (weights - _PLAIN)
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + _RIDGE * np.eye(2)
        step = np.linalg.solve(curve, slope_of)
    slope = min(max(float(weights[0]), _SLOWEST), _STEEPEST)
    return round(slope, 6), round(float(weights[1]), 6)
