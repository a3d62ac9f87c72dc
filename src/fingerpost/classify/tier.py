"""The offline classifier: how much work a question deserves, without a model call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from fingerpost.classify.explain import explain_tier, loudest
from fingerpost.classify.features import extract_features
from fingerpost.classify.policy import apply_policy
from fingerpost.classify.words import read_packaged, words_of
from fingerpost.decide.linear import LinearModel
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.evidence import FirstLook
from fingerpost.types.query import Turn

# The form of a question shows in its beginning and its end; the rest of a pasted log does not.
_READ_HEAD, _READ_TAIL = 2_000, 500
_EMOJI_ONLY = re.compile(r"[\s\u200d\ufe0f\u2600-\u27bf\U0001f300-\U0001faff]+")
_CERTAIN = 0.97
_SURE_SMALLTALK = 0.85
_LEAST_SMALLTALK = 0.3
_ANSWERED = 0.8
_MIN_TOPIC_WORD = 4


class LocalClassifier:
    """Classifies by the form of the question with a logistic model whose weights ship along.

    Pure and thread-safe; well under a millisecond a question. Nothing is read until the first
    question.
    """

    def __init__(self, weights: Mapping[str, object] | None = None) -> None:
        """Take a weight file's value; ``None`` takes the one that ships with the package.

        Raises:
            ConfigError: The weights are of another version or do not fit together.
        """
        self._own = LinearModel.from_json(weights) if weights is not None else None

    @property
    def model(self) -> LinearModel:
        """Return the model in use."""
        return self._own or _shipped_model()

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
            history: Earlier turns; a bare 'yes' is small talk only where nothing was offered.
            first_look: What a cheap search found; shifts the balance, never to T0.
            topics: What the corpus is about; a question that names one is never T0.
            tool_names: Names that ``tools_needed`` may hold.
            confidence_threshold: 0 to 1; below it the tier goes up by one.
            max_tier: 0 to 3, caps after escalation.
            default_strategy: Used for T1 when it is stronger than ``simple``.
        """
        features = extract_features(_readable_part(text))
        scores = self._scores(text, features)
        if _cannot_be_trivial(text, features, topics=topics, history=history):
            scores = _without_trivial(scores)
        if first_look is not None:
            scores = _with_first_look(scores, first_look, features)
        label = max(scores, key=lambda name: scores[name])
        tier = Tier(int(label[1:]))
        spoken = loudest(self.model.contributions(features, label))
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

    def _scores(self, text: str, features: Mapping[str, float]) -> dict[str, float]:
        """Return tier label → probability by form alone."""
        if text.strip() and _EMOJI_ONLY.fullmatch(text):
            return _mostly("T0")
        if features.get("talk:share", 0.0) > _CERTAIN:
            return _mostly("T0")
        return self.model.probabilities(features)


@lru_cache(maxsize=1)
def _shipped_model() -> LinearModel:
    """Return the model whose weights ship with the package."""
    return LinearModel.from_json(read_packaged("tier_weights.json"))


def _readable_part(text: str) -> str:
    """Return the text, its middle left out when it is long."""
    if len(text) <= _READ_HEAD + _READ_TAIL:
        return text
    return f"{text[:_READ_HEAD]} {text[-_READ_TAIL:]}"


def _mostly(label: str) -> dict[str, float]:
    """Return scores that leave little doubt about ``label``."""
    rest = (1 - _CERTAIN) / (len(Tier) - 1)
    return {tier.label: _CERTAIN if tier.label == label else rest for tier in Tier}


def _cannot_be_trivial(
    text: str, features: Mapping[str, float], *, topics: Sequence[str], history: Sequence[Turn]
) -> bool:
    """Return whether the text shows no sign of chatter, or signs of a real question."""
    if _EMOJI_ONLY.fullmatch(text) and text.strip():
        return False
    share = features.get("talk:share", 0.0)
    if share > _SURE_SMALLTALK:
        return False
    if features.get("shape:code") and not features.get("shape:arithmetic"):
        return True
    sign = (
        share >= _LEAST_SMALLTALK
        or features.get("talk:chatter", 0)
        or features.get("cue:second_person", 0)
        or features.get("cue:first_person", 0)
        or features.get("cue:utility", 0)
    )
    return not sign or _names_topic(text, topics)


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
    """Return the scores weighed by what a cheap search found.

    One passage that holds every term speaks for a lookup; terms that only several passages
    together hold speak for joining them. The factors are odds, bounded to 1/2 and 2.
    """
    if features.get("talk:share", 0.0) > _SURE_SMALLTALK:
        return dict(scores)
    spread = max(0.0, look.pooled_coverage - look.coverage)
    single = look.coverage * (0.5 + 0.5 * look.score_gap)
    factors = {
        "T0": 0.5 if look.coverage >= _ANSWERED else 1.0,
        "T1": min(2.0, 0.75 + 0.75 * single + (0.25 if look.coverage >= _ANSWERED else 0.0)),
        "T2": min(2.0, 1.0 + 2.0 * spread),
        "T3": min(2.0, 1.0 + spread * min(look.n_documents, 10) / 10),
    }
    weighed = {name: score * factors[name] for name, score in scores.items()}
    total = sum(weighed.values())
    return {name: score / total for name, score in weighed.items()}


def _named_tools(text: str, tool_names: Sequence[str]) -> tuple[str, ...]:
    """Return the tools whose whole name stands in the text, in the order given."""
    if not tool_names:
        return ()
    padded = f" {' '.join(words_of(text))} "
    return tuple(
        name for name in tool_names if (key := " ".join(words_of(name))) and f" {key} " in padded
    )
