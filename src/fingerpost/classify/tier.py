"""The offline classifier: how much work a question deserves, without a model call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from fingerpost.classify.comparison import compares
from fingerpost.classify.explain import explain_tier, loudest
from fingerpost.classify.features import extract_features
from fingerpost.classify.followup import accepts_offer
from fingerpost.classify.look import holds_question, shipped_look
from fingerpost.classify.policy import apply_policy
from fingerpost.classify.words import read_packaged, words_of
from fingerpost.decide.linear import LinearModel
from fingerpost.errors import ConfigError
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.evidence import FirstLook
from fingerpost.types.query import Turn

# The form of a question shows in its beginning and its end; the rest of a pasted log does not.
_READ_HEAD, _READ_TAIL = 2_000, 500
_EMOJI_ONLY = re.compile(r"[\s\u200d\ufe0f\u2600-\u27bf\U0001f300-\U0001faff]+")
_CERTAIN = 0.97
_SURE_SMALLTALK = 0.85
_LEAST_SMALLTALK = 0.3
_MIN_TOPIC_WORD = 4
_QUESTION_TIERS = ("T1", "T2", "T3")
_UNSIGNALLED = (0.65, 0.2, 0.15)
_RESEARCH_CUES = frozenset({"cue:compare", "cue:research_verb", "cue:evaluate"})
_CHATTER_SIGNS = (
    "talk:chatter",
    "talk:joke",
    "cue:second_person",
    "cue:first_person",
    "cue:utility",
)


class LocalClassifier:
    """Classifies by the form of the question with a logistic model whose weights ship along.

    Two models: one tells chatter from questions, one tells the tiers of questions apart. A text
    with no sign of chatter is never T0, whatever the models say.

    Pure and thread-safe; well under a millisecond a question. Nothing is read until the first
    question.
    """

    def __init__(self, weights: Mapping[str, Any] | None = None) -> None:
        """Take a weight file's value; ``None`` takes the one that ships with the package.

        Raises:
            ConfigError: The weights are of another version or do not fit together.
        """
        self._own = None if weights is None else _models_of(weights)

    @property
    def _models(self) -> tuple[LinearModel, LinearModel]:
        """Return the models in use: chatter or question, and which tier of question."""
        return self._own or _shipped_models()

    def classify(
        self,
        text: str,
        *,
        history: Sequence[Turn] = (),
        first_look: FirstLook | None = None,
        topics: Sequence[str] = (),
        tool_names: Sequence[str] = (),
        confidence_threshold: float = 0.7,
        max_tier: int = 3,
        default_strategy: Strategy = Strategy.SIMPLE,
    ) -> ClassificationResult:
        """Return the tier of a question that stands alone (rewrite a follow-up first).

        The argmax of ``scores`` is the tier before escalation and caps.

        Args:
            text: The question.
            history: Earlier turns; a bare reply to an offer of the assistant is no small talk.
            first_look: What a cheap search found; shifts the balance, never to T0. What one chunk
                holds for the most part is T0 only as pure small talk.
            topics: What the corpus is about; a question that names one is never T0.
            tool_names: Names that ``tools_needed`` may hold.
            confidence_threshold: 0 to 1; below it the tier goes up by one.
            max_tier: 0 to 3, caps after escalation.
            default_strategy: Used for T1 when it is stronger than ``simple``.
        """
        features = extract_features(_readable_part(text))
        chatter_model, tier_model = self._models
        graded = tier_model.probabilities(features)
        scores = self.combine(
            text,
            features,
            chatter_model.probabilities(features)["chatter"],
            [graded[label] for label in _QUESTION_TIERS],
        )
        if accepts_offer(text, history) or (
            _names_topic(text, topics) and features.get("talk:share", 0.0) <= _SURE_SMALLTALK
        ):
            scores = _without_trivial(scores)
        if first_look is not None:
            scores = _with_first_look(scores, first_look, features)
        label = max(scores, key=lambda name: scores[name])
        tier = Tier(int(label[1:]))
        spoken = loudest(
            chatter_model.contributions(features, "chatter")
            if tier is Tier.TRIVIAL
            else tier_model.contributions(features, label)
        )
        result = ClassificationResult(
            tier=tier,
            strategy=default_strategy if tier is Tier.LOOKUP else Strategy.for_tier(tier),
            confidence=round(scores[label], 4),
            reasoning=explain_tier(tier, scores[label], spoken, first_look=first_look),
            tools_needed=_named_tools(text, tool_names),
            decided_by=DecidedBy.LOCAL,
            scores={name: round(score, 4) for name, score in scores.items()},
            signals=spoken,
        )
        return apply_policy(result, confidence_threshold=confidence_threshold, max_tier=max_tier)

    @staticmethod
    def combine(
        text: str, features: Mapping[str, float], trivial: float, graded: Sequence[float]
    ) -> dict[str, float]:
        """Return tier label → probability from what the two models say, and the rules.

        Args:
            text: The question.
            features: Of that text.
            trivial: Probability that it is chatter.
            graded: Probabilities of T1, T2 and T3 given that it is a question.
        """
        emoji = bool(text.strip()) and _EMOJI_ONLY.fullmatch(text) is not None
        covered = features.get("talk:share", 0.0) > _CERTAIN or features.get("talk:chore", 0)
        if emoji or covered:
            trivial = _CERTAIN
        elif not _may_be_trivial(features):
            trivial = 0.0
        rest = {
            label: (1 - trivial) * share
            for label, share in zip(_QUESTION_TIERS, _without_signal(features, graded), strict=True)
        }
        if compares(_readable_part(text)):
            # Two things asked about together are never one lookup.
            return {"T0": 0.0, "T1": 0.0, "T2": trivial + rest["T1"] + rest["T2"], "T3": rest["T3"]}
        return {"T0": trivial, **rest}


def _models_of(weights: Mapping[str, Any]) -> tuple[LinearModel, LinearModel]:
    """Return the two models of a weight file."""
    if not {"chatter", "tier"} <= weights.keys():
        raise ConfigError("a tier weight file holds the models 'chatter' and 'tier'")
    return LinearModel.from_json(weights["chatter"]), LinearModel.from_json(weights["tier"])


@lru_cache(maxsize=1)
def _shipped_models() -> tuple[LinearModel, LinearModel]:
    """Return the models whose weights ship with the package."""
    return _models_of(read_packaged("tier_weights.json"))


def _readable_part(text: str) -> str:
    """Return the text, its middle left out when it is long."""
    if len(text) <= _READ_HEAD + _READ_TAIL:
        return text
    return f"{text[:_READ_HEAD]} {text[-_READ_TAIL:]}"


def _may_be_trivial(features: Mapping[str, float]) -> bool:
    """Return whether the text shows any sign of chatter and none of code."""
    share = features.get("talk:share", 0.0)
    if share > _SURE_SMALLTALK:
        return True
    if "shape:code" in features or _is_about_thing(features):
        return False
    return share >= _LEAST_SMALLTALK or any(name in features for name in _CHATTER_SIGNS)


def _is_about_thing(features: Mapping[str, float]) -> bool:
    """Return whether it wants to hear of something other than the assistant, and no joke."""
    return "talk:about-thing" in features and "talk:joke" not in features


def _without_signal(
    features: Mapping[str, float], graded: Sequence[float]
) -> tuple[float, float, float]:
    """Return the shares of T1 to T3, set right where the models have too little to go by.

    Bare keywords show no tier at all: T1, but unsure enough that the usual threshold raises it.
    Who names code or an error wants that one thing, unless a comparison or a report is ordered.
    """
    lookup, joined, research = graded
    cues = {name for name in features if name.startswith("cue:")}
    if not cues and "length:1-2" in features:
        return _UNSIGNALLED
    if "shape:code" in features and not cues & _RESEARCH_CUES:
        moved = research / 2
        return lookup + moved, joined, research - moved
    return lookup, joined, research


def _names_topic(text: str, topics: Sequence[str]) -> bool:
    """Return whether a long word of a topic stands in the text."""
    if not topics:
        return False
    known = {word for topic in topics for word in words_of(topic) if len(word) >= _MIN_TOPIC_WORD}
    return any(word in known for word in words_of(_readable_part(text)))


def _without_trivial(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the scores with T0's share given to T1, the cheapest tier that looks anything up."""
    return {**scores, "T0": 0.0, "T1": scores["T1"] + scores["T0"]}


def _with_first_look(
    scores: Mapping[str, float], look: FirstLook, features: Mapping[str, float]
) -> dict[str, float]:
    """Return the scores weighed by what a cheap search found; pure small talk stays as it is."""
    if features.get("talk:share", 0.0) > _SURE_SMALLTALK:
        return dict(scores)
    known = _without_trivial(scores) if holds_question(look) else scores
    return shipped_look().weigh(known, look)


def _named_tools(text: str, tool_names: Sequence[str]) -> tuple[str, ...]:
    """Return the tools whose whole name stands in the text, in the order given."""
    if not tool_names:
        return ()
    padded = f" {' '.join(words_of(text))} "
    return tuple(
        name for name in tool_names if (key := " ".join(words_of(name))) and f" {key} " in padded
    )
