"""The numbers that weigh what retrieval sees, read from one small file beside this module."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Weights:
    """The numbers of ``weights.json``; `scripts/fit_fusion.py` writes ``fusion`` alone.

    Attributes:
        fusion: Feature name → weight in the log odds of the lexical leg.
        rerank: Signal name → weight that is added to the fused score, >= 0.
        coverage: Of the share of the question that a hit holds, beside the fused score's 1, >= 0.
        named: Share of a hit's score that a page which it names gains, 0 to 1.
        graph: Share of the best seed's score that the chunk gains in which most of a walk along
            the document graph ends, 0 to 1.
        edges: Kind of edge → weight in that walk, > 0.
    """

    fusion: Mapping[str, float]
    rerank: Mapping[str, float]
    coverage: float
    named: float
    graph: float
    edges: Mapping[str, float]

    def lexical(self, features: Mapping[str, float]) -> float:
        """Return the weight of the lexical leg, 0 to 1; unknown features count nothing."""
        odds = sum(w * features.get(name, 0.0) for name, w in self.fusion.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@cache
def weights() -> Weights:
    """Return the weights that ship with the package."""
    raw = files("fingerpost.retrieve").joinpath("weights.json").read_text("utf-8")
    stored = json.loads(raw)
    return Weights(**stored)
