"""A logistic model on sparse named features; its weights are a small readable file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fingerpost.errors import ConfigError

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Multinomial logistic regression over named features.

    Attributes:
        labels: The options, in the order of every weight list.
        weights: Feature → one weight per label. Features that are not here count nothing.
        bias: One value per label.
        temperature: Divides the scores before they become probabilities; > 1 makes the model
            less sure of itself. Fitted on predictions for sources that it had not seen.
    """

    labels: tuple[str, ...]
    weights: Mapping[str, tuple[float, ...]]
    bias: tuple[float, ...]
    temperature: float = 1.0

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LinearModel:
        """Return the model that a weight file holds.

        Raises:
            ConfigError: The format is of another version, or lengths do not agree.
        """
        if value.get("format") != _FORMAT:
            raise ConfigError(
                f"weight file has format {value.get('format')!r}, this version reads {_FORMAT}"
            )
        labels = tuple(value["labels"])
        weights = {name: tuple(row) for name, row in value["weights"].items()}
        bias = tuple(value["bias"])
        if any(len(row) != len(labels) for row in (*weights.values(), bias)):
            raise ConfigError(f"weight file must give {len(labels)} numbers for each feature")
        return cls(labels, weights, bias, float(value.get("temperature", 1.0)))

    def probabilities(self, features: Mapping[str, float]) -> dict[str, float]:
        """Return label → probability; they sum to 1."""
        scores = list(self.bias)
        for name, value in features.items():
            row = self.weights.get(name)
            if row is not None:
                scores = [score + weight * value for score, weight in zip(scores, row, strict=True)]
        return dict(zip(self.labels, _softmax(scores, self.temperature), strict=True))

    def contributions(self, features: Mapping[str, float], label: str) -> dict[str, float]:
        """Return feature → how much it spoke for ``label``, above the mean of all labels."""
        position = self.labels.index(label)
        spoken: dict[str, float] = {}
        for name, value in features.items():
            row = self.weights.get(name)
            if row is not None:
                spoken[name] = value * (row[position] - sum(row) / len(row))
        return spoken


def _softmax(scores: list[float], temperature: float) -> list[float]:
    """Return probabilities for scores; the largest score is subtracted against overflow."""
    top = max(scores)
    powers = [math.exp((score - top) / temperature) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
