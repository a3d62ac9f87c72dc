"""How likely it is that a capability helps with a question, from its words and its meaning."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Confidence", "features_of", "packaged_confidence"]

_MANY = 1_000
# Cosines of questions with tools that do not help: a small catalogue tells too little of them.
_USUAL_MEAN, _USUAL_SPREAD, _USUAL_COUNT = 0.1, 0.1, 20


@dataclass(frozen=True, slots=True)
class Confidence:
    """Weights of a logistic function; ``scripts/fit_capabilities.py`` writes them.

    Attributes:
        words: Feature → weight where there are only words, ``bias`` among them.
        both: The same with an embedding model.
        threshold_words: What is less likely is not recommended, 0 to 1.
        threshold_both: The same with an embedding model.
    """

    words: Mapping[str, float]
    both: Mapping[str, float]
    threshold_words: float
    threshold_both: float

    def of(self, features: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float64]:
        """Return a probability for each capability, by number, 0 to 1."""
        weights = self.both if "meaning" in features else self.words
        odds = weights["bias"] + sum(
            weight * features[name].astype(np.float64)
            for name, weight in weights.items()
            if name != "bias"
        )
        chances: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        return chances

    def threshold(self, *, with_meaning: bool) -> float:
        """Return from which probability on something is recommended."""
        return self.threshold_both if with_meaning else self.threshold_words


def features_of(
    words: NDArray[np.float32], meaning: NDArray[np.float32] | None
) -> dict[str, NDArray[np.float32]]:
    """Return what is weighed of each capability, by number.

    Args:
        words: Share of the question that each holds, 0 to 1.
        meaning: Cosine of each with the question; ``None`` without an embedding model.
    """
    # Of many that do not help the nearest is nearer than of few.
    few = max(0.0, 1 - math.log(max(1, words.size)) / math.log(_MANY))
    found = {"words": words, "few": np.full(words.shape, few, dtype=np.float32)}
    if meaning is not None and meaning.size:
        n = meaning.size + _USUAL_COUNT
        mean = (float(meaning.sum()) + _USUAL_COUNT * _USUAL_MEAN) / n
        square = float(((meaning - mean) ** 2).sum()) + _USUAL_COUNT * _USUAL_SPREAD**2
        found["meaning"] = meaning
        found["meaning_above_rest"] = (meaning - np.float32(mean)) / np.float32((square / n) ** 0.5)
    return found


@cache
def packaged_confidence() -> Confidence:
    """Return the weights that ship with the package."""
    raw = files("fingerpost.capabilities").joinpath("weights.json").read_text("utf-8")
    return Confidence(**json.loads(raw))
