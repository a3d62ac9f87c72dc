"""From evidence to the probability of each source, and of none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from fingerpost.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORMAT: Final = 1

FloatT = TypeVar("FloatT", bound="np.floating[Any]")


@dataclass(frozen=True, slots=True)
class Shares:
    """Probabilities of one question.

    Attributes:
        sources: That each source is the right one, in their order.
        none: That none fits; with `sources` it sums to 1.
        abstain: Whether ``none`` is probable enough to choose no source.
        fits: ``none`` moved to where abstaining begins: below 0.5 exactly when `abstain`.
    """

    sources: NDArray[np.float64]
    none: float
    abstain: bool
    fits: float

    def among(self, places: Sequence[int]) -> Shares:
        """Return the probabilities of the sources at these places, in that order."""
        return replace(self, sources=self.sources[list(places)])


@dataclass(frozen=True, slots=True)
class SourceWeights:
    """A conditional logit over sources, and a logistic model of *none fits*.

    Attributes:
        evidence: One weight per feature; their sum is the strength of a source.
        bias: Of none.
        best: Of none, times the strength of the strongest source.
        count: Of none, times the logarithm of the number of sources.
        threshold: Probability of none from which on no source is chosen, in (0, 1).
    """

    evidence: tuple[float, ...]
    bias: float
    best: float
    count: float
    threshold: float

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SourceWeights:
        """Return the weights of an object in a file.

        Raises:
            ConfigError: A number is missing or is none.
        """
        try:
            numbers = {name: float(value[name]) for name in ("bias", "best", "count", "threshold")}
            found = cls(tuple(map(float, value["evidence"])), **numbers)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"weights of a source router are not usable: {error!r}") from error
        if not all(map(math.isfinite, (*found.evidence, *numbers.values()))):
            raise ConfigError("weights of a source router are not finite")
        if not 0 < found.threshold < 1:
            raise ConfigError(f"threshold is {found.threshold}, allowed is between 0 and 1")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the object that `from_json` reads."""
        return asdict(self)

    def shares(self, evidence: NDArray[np.float64]) -> Shares:
        """Return the probabilities for one question; evidence of zeros is an abstention.

        Args:
            evidence: Shape (number of sources, number of features).
        """
        strength = evidence @ np.asarray(self.evidence)
        best = float(strength.max())
        doubt = self.bias + self.best * best + self.count * math.log(len(strength))
        none = 1 / (1 + math.exp(-max(-30.0, min(30.0, doubt))))
        abstain = none >= self.threshold or not evidence.any()
        yes, no = (1 - none) * self.threshold, none * (1 - self.threshold)
        fits = min(yes / (yes + no), 0.49) if abstain else yes / (yes + no)
        return Shares((1 - none) * softmax(strength), none, abstain, fits)


@lru_cache(maxsize=1)
def packaged_weights() -> dict[str, SourceWeights]:
    """Return the fitted weights by kind of evidence: ``told``, ``named``, ``words``, ``levels``.

    Raises:
        ConfigError: The file is of another version.
    """
    text = (files(__package__ or "") / "local_weights.json").read_text(encoding="utf-8")
    value = json.loads(text)
    if value.get("format") != _FORMAT:
        raise ConfigError(f"local_weights.json has format {value.get('format')!r}")
    return {name: SourceWeights.from_json(kind) for name, kind in value["kinds"].items()}


def softmax(strength: NDArray[FloatT]) -> NDArray[FloatT]:
    """Return the shares of the last axis; they sum to 1, whatever the size of the numbers."""
    powers = np.exp(strength - strength.max(axis=-1, keepdims=True))
    shares: NDArray[FloatT] = powers / powers.sum(axis=-1, keepdims=True)
    return shares
