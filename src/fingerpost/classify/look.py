"""What a cheap first search adds to the tiers that the form of a question suggests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from fingerpost.classify.words import read_packaged
from fingerpost.errors import ConfigError
from fingerpost.types.evidence import FirstLook

_FORMAT = 1
_TIERS = ("T1", "T2", "T3")
_HELD = 0.6


@dataclass(frozen=True, slots=True)
class LookModel:
    """Log-linear pool of the text model and a first search; one number per tier T1 to T3.

    Attributes:
        keep: Exponent on the probabilities of the text model; > 1 makes it surer of itself.
        bias: Log-odds that do not depend on what was found.
        gap: Per unit of lead that the best document has over the second.
        spread: Per unit of coverage that the ten best chunks have above the best one.
    """

    keep: float
    bias: tuple[float, ...]
    gap: tuple[float, ...]
    spread: tuple[float, ...]

    def weigh(self, scores: Mapping[str, float], look: FirstLook) -> dict[str, float]:
        """Return tier → probability; T0 keeps its own, a tier at 0 stays at 0.

        A search that found nothing is no evidence: the scores come back as they are. Nor are
        terms that the corpus lacks evidence for any tier.
        """
        if not look.pooled_coverage:
            return dict(scores)
        gap = lead(look)
        spread = max(0.0, look.pooled_coverage - look.coverage)
        raised = [
            scores[tier] ** self.keep
            * exp(self.bias[place] + self.gap[place] * gap + self.spread[place] * spread)
            for place, tier in enumerate(_TIERS)
        ]
        total = sum(raised)
        if not total:
            return dict(scores)
        rest = 1 - scores["T0"]
        graded = [rest * share / total for share in raised]
        return {"T0": scores["T0"], **dict(zip(_TIERS, graded, strict=True))}


def lead(look: FirstLook) -> float:
    """Return how far the best document leads, less where its chunk holds under half the terms."""
    return look.score_gap * min(1.0, 2 * look.coverage)


def holds_question(look: FirstLook) -> bool:
    """Return whether one chunk holds so much of a message that it cannot be chatter."""
    return look.coverage >= _HELD


@lru_cache(maxsize=1)
def shipped_look() -> LookModel:
    """Return the model whose weights ship with the package.

    Raises:
        ConfigError: The weight file is of another version.
    """
    value = read_packaged("look_weights.json")
    if value.get("format") != _FORMAT:
        raise ConfigError(f"look weights have format {value.get('format')!r}, not {_FORMAT}")
    return LookModel(
        value["keep"], tuple(value["bias"]), tuple(value["gap"]), tuple(value["spread"])
    )
