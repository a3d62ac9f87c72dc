"""The linear model."""

from __future__ import annotations

import math

import pytest

from fingerpost.decide import LinearModel
from fingerpost.errors import ConfigError

MODEL = LinearModel(("a", "b"), {"x": (1.0, -1.0)}, (0.0, 0.0))


def test_probabilities_are_the_softmax_of_the_weighted_features() -> None:
    found = MODEL.probabilities({"x": 0.5, "unknown": 9.0})
    assert found["a"] == pytest.approx(1 / (1 + math.exp(-1.0)))
    assert sum(found.values()) == pytest.approx(1)


def test_a_higher_temperature_is_less_sure() -> None:
    warm = LinearModel(MODEL.labels, MODEL.weights, MODEL.bias, temperature=4.0)
    assert 0.5 < warm.probabilities({"x": 1.0})["a"] < MODEL.probabilities({"x": 1.0})["a"]


def test_huge_scores_do_not_overflow() -> None:
    assert MODEL.probabilities({"x": 1e6})["a"] == pytest.approx(1)


def test_contributions_say_how_far_a_feature_spoke_for_a_label() -> None:
    assert MODEL.contributions({"x": 2.0, "unknown": 1.0}, "b") == {"x": -2.0}


@pytest.mark.parametrize(
    "value",
    [
        {"format": 9, "labels": ["a"], "bias": [0], "weights": {}},
        {"format": 1, "labels": ["a", "b"], "bias": [0], "weights": {}},
        {"format": 1, "labels": ["a", "b"], "bias": [0, 0], "weights": {"x": [1]}},
    ],
)
def test_weight_files_that_do_not_fit_are_refused(value: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        LinearModel.from_json(value)
