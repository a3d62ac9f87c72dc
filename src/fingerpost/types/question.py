"""Typed questions to a decision model, and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fingerpost.types.result import Usage

DecisionInput = str | Mapping[str, object] | Sequence[object]
"""What the questions are about: text, or JSON values. Never ``None``."""


@dataclass(frozen=True, slots=True)
class YesNo:
    """Does it hold? Answered by the probability of yes.

    Attributes:
        id: Unique among the questions of a call.
        text: The question, not blank.
        yes: When yes is right, ``None`` when the question says it.
        no: When no is right, ``None`` likewise.
    """

    id: str
    text: str
    yes: str | None = None
    no: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which one? Answered by a probability for each option.

    Attributes:
        id: Unique among the questions of a call.
        text: The question, not blank.
        options: Label → what it stands for, ``None`` when the label says it; at least two.
    """

    id: str
    text: str
    options: Mapping[str, str | None] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Score:
    """How much? Answered by a probability for each level.

    Attributes:
        id: Unique among the questions of a call.
        text: The question, not blank.
        levels: What each level means, the lowest first; at least two.
    """

    id: str
    text: str
    levels: tuple[str, ...]


Question = YesNo | Choice | Score


class AnswerStatus(StrEnum):
    """Whether a question was answered. None of the others is a no.

    ``not_answered``: the call failed, or the question was not asked.
    """

    ANSWERED = "answered"
    NOT_ANSWERED = "not_answered"
    REFUSED = "refused"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
    """The answer to one typed question.

    Attributes:
        id: Of the question.
        status: ``refused`` and ``abstained`` may leave all else unset.
        probabilities: ``yes`` and ``no``; the labels of a choice; or ``0`` … of a score. They
            sum to 1. Empty when the server gave none.
        label: The chosen label of a choice, the most probable level of a score as text,
            ``yes`` or ``no``; empty when not answered.
        value: Probability of yes, or the expected level of a score (may be fractional);
            ``None`` for a choice and when not answered.
        confidence: Ours, 0 to 1, from the probabilities (`asked.confidence_of`); ``None``
            without any.
        provider_confidence: What the server called confidence. Shown, never a gate: it means
            something else at each of them.
        unknown_probability: What the server put on *cannot tell*, ``None`` when it has no such.
        extras: Other fields of the server's answer, JSON values.
    """

    id: str
    status: AnswerStatus = AnswerStatus.ANSWERED
    probabilities: Mapping[str, float] = field(default_factory=dict, hash=False)
    label: str = ""
    value: float | None = None
    confidence: float | None = None
    provider_confidence: float | None = None
    unknown_probability: float | None = None
    extras: Mapping[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class DecisionResponse:
    """The answers to all questions of a call.

    Attributes:
        answers: Question id → answer, one for each question, in their order.
        model: Provider and concrete model that answered, ``typesafe/jev-1.13.0``; thresholds
            belong to it.
        usage: One item per request, failed ones included.
        request_id: The server's id of the call, empty when none.
    """

    answers: Mapping[str, DecisionAnswer] = field(hash=False)
    model: str
    usage: tuple[Usage, ...] = ()
    request_id: str = ""
