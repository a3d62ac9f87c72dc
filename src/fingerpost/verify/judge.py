"""From features to a verdict: small logistic models and the findings that overrule them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from fingerpost.types.answer import Verdict
from fingerpost.verify.base import Entailment
from fingerpost.verify.features import Evidence

_CONTRADICTING = frozenset(
    ("number", "negation", "opposite", "identifier", "swap", "name", "place")
)
# These are only found where all else is the same, however short the claim.
_ALIGNED_BY_THEMSELVES = frozenset(("swap", "name", "place", "mirror"))
_CAPPING = _CONTRADICTING | {
    "identifier_missing", "number_missing", "thing_missing", "overclaim",
}  # fmt: skip
QUOTE_CONFIDENCE = 0.98
# Words alone are as often right outside this distance of the threshold as with embeddings: held
# out of the fit, no balanced accuracy is lost, and 63 % of the claims need no model.
_UNSURE = 0.15


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model: probability from named features."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability, 0 to 1; a feature that is absent counts as 0."""
        score = self.bias + sum(w * values.get(name, 0.0) for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, score))))


@dataclass(frozen=True, slots=True)
class JudgeWeights:
    """All fitted numbers.

    Attributes:
        models: By name: ``support`` and ``contradict`` without and with ``_embedded``.
        thresholds: ``supported`` and ``weak`` on the probability of support; ``aligned`` and
            ``related`` on the share of the claim's words that the passage has.
    """

    models: Mapping[str, Logistic]
    thresholds: Mapping[str, float]

    def at(self, supported: float | None, weak: float | None) -> JudgeWeights:
        """Return the weights with thresholds of the caller's; ``None`` keeps the fitted one.

        Raises:
            ValueError: ``supported`` is not within 0 to 1, or ``weak`` not within 0 to
                ``supported``.
        """
        fitted = self.thresholds
        upper = fitted["supported"] if supported is None else supported
        lower = min(fitted["weak"], upper) if weak is None else weak
        if not 0.0 <= lower <= upper <= 1.0:
            raise ValueError(
                f"unverifiable_below is {lower:g} and supported_at {upper:g}; "
                "allowed is 0 <= unverifiable_below <= supported_at <= 1"
            )
        return replace(self, thresholds={**fitted, "supported": upper, "weak": lower})


@cache
def judge_weights() -> JudgeWeights:
    """Return the weights that are shipped, read once; ``scripts/fit_judge.py`` makes them."""
    raw = json.loads(
        resources.files("fingerpost.verify").joinpath("weights.json").read_text("utf-8")
    )
    models = {
        name: Logistic(float(model["bias"]), dict(model["weights"]))
        for name, model in raw["models"].items()
    }
    return JudgeWeights(models, dict(raw["thresholds"]))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one source says about one claim.

    Attributes:
        verdict: The verdict.
        p_supported: Calibrated probability that the source supports the claim.
        p_contradicted: Probability that it contradicts it.
    """

    verdict: Verdict
    p_supported: float
    p_contradicted: float

    @property
    def confidence(self) -> float:
        """Return the probability of the verdict, 0 to 1."""
        if self.verdict is Verdict.SUPPORTED:
            return self.p_supported
        if self.verdict is Verdict.CONTRADICTED:
            return self.p_contradicted
        return max(0.0, min(1.0, 1.0 - self.p_supported - 0.5 * self.p_contradicted))


QUOTED = Judgement(Verdict.SUPPORTED, QUOTE_CONFIDENCE, 0.0)


def support_model(found: Evidence, weights: JudgeWeights) -> Logistic:
    """Return the model of support that fits what was measured: with embeddings or without."""
    return _model("support", found, weights)


def _model(name: str, found: Evidence, weights: JudgeWeights) -> Logistic:
    return weights.models[f"{name}_embedded" if "cosine" in found.values else name]


def judge(found: Evidence, weights: JudgeWeights) -> Judgement:
    """Return what the measured evidence says about the claim.

    ``contradicted`` takes a named finding in an aligned sentence: on the labelled pairs the
    fitted probability of contradiction alone is right less than half the time.
    """
    limits = weights.thresholds
    supported = support_model(found, weights).probability(found.values)
    contradicted = _model("contradict", found, weights).probability(found.values)
    related = found.values["coverage_words"]
    aligned = related >= limits["aligned"] or bool(found.flags & _ALIGNED_BY_THEMSELVES)
    if found.flags & _CONTRADICTING and aligned:
        strength = _certainty(related, found.values["extra"], limits["aligned"])
        return Judgement(Verdict.CONTRADICTED, min(supported, 1.0 - strength), strength)
    if _capped(found, limits):
        supported = min(supported, limits["supported"] - 0.01)
    if supported >= limits["supported"]:
        return Judgement(Verdict.SUPPORTED, supported, min(contradicted, 1.0 - supported))
    if not found.values["coverage_window"] and "cosine" not in found.values:
        # Nothing is shared: what is left of the probability is only how often claims hold.
        supported = min(supported, limits["weak"] - 0.01)
    verdict = Verdict.WEAK if supported >= limits["weak"] else Verdict.UNVERIFIABLE
    return Judgement(verdict, supported, min(contradicted, 1.0 - supported))


def _capped(found: Evidence, limits: Mapping[str, float]) -> bool:
    """Return whether a finding keeps the claim from being supported, whatever else is alike."""
    unknown = "name_missing" in found.flags
    unknown = unknown and found.values["coverage_words"] >= limits["related"]
    return unknown or bool(found.flags & _CAPPING)


def undecided(found: Evidence, said: Judgement, weights: JudgeWeights) -> bool:
    """Return whether embeddings may change what words alone said of a claim.

    They do not where a finding forbids support, nor where the words are far from the threshold.
    """
    near = abs(said.p_supported - weights.thresholds["supported"]) <= _UNSURE
    return near and found.focus is not None and not _capped(found, weights.thresholds)


def _certainty(related: float, extra: float, least: float) -> float:
    """Return how sure a contradicting finding is, 0.5 to 0.95.

    Set by the share of such findings that hold on the labelled pairs: about half where the
    sentences just align, 0.8 where all words do, and nearly all where nothing else is said.
    """
    return 0.5 + 0.3 * max(0.0, related - least) / (1.0 - least) + 0.15 * (1.0 - extra)


def entailed(before: Judgement, found: Evidence | None, said: Entailment) -> Judgement:
    """Return the judgement after an entailment hook spoke.

    The hook has the last word, but for two things: a quantity or identifier that the evidence
    gives otherwise is never supported, and a neutral answer leaves weak and unverifiable as
    they were.
    """
    flags = found.flags if found else set()
    if said.entailed >= max(said.neutral, said.contradicted):
        if flags & {"number", "identifier"} and before.verdict is Verdict.CONTRADICTED:
            return before
        return Judgement(Verdict.SUPPORTED, said.entailed, said.contradicted)
    if said.contradicted > said.neutral:
        return Judgement(Verdict.CONTRADICTED, said.entailed, said.contradicted)
    kept = before.verdict in (Verdict.WEAK, Verdict.UNVERIFIABLE)
    return Judgement(before.verdict if kept else Verdict.WEAK, said.entailed, said.contradicted)
