"""The one way to ask a decision model: its deadline held, its answers checked."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import anyio

from fingerpost.errors import (
    FingerpostError,
    InvalidDecisionResponseError,
    LaneError,
    ProviderTimeoutError,
    UsageError,
)
from fingerpost.lanes.base import DecisionModel
from fingerpost.types.question import (
    AnswerStatus,
    Choice,
    DecisionAnswer,
    DecisionInput,
    DecisionResponse,
    Question,
    Score,
    YesNo,
)

TOLERANCE: Final = 0.05
"""How far the probabilities of an answer may be from 1 together: servers round them."""
_CLOSE: Final = 0.005


async def ask(
    model: DecisionModel,
    input: DecisionInput,
    questions: Sequence[Question],
    *,
    deadline: float | None = None,
    query_id: str = "",
) -> DecisionResponse:
    """Return the model's answers, one for each question and in their order, checked.

    Args:
        model: Any decision model, the host's own included.
        input: What the questions are about.
        questions: At least one; ids are unique.
        deadline: When the call must have ended, by ``time.monotonic``.
        query_id: For events.

    Raises:
        InvalidDecisionResponseError: An answer is missing or does not fit its question.
        ProviderTimeoutError: The deadline passed.
        LaneError: The call failed in any other way.
        UsageError: No question, or an id twice.
    """
    ids = {question.id for question in questions}
    if not questions or len(ids) != len(questions):
        raise UsageError("a decision model needs questions, each with an id of its own")
    told: dict[str, Any] = {"deadline": deadline, "query_id": query_id}
    takes = inspect.signature(model.decide).parameters
    told = {name: value for name, value in told.items() if name in takes}
    patience = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
    name = f"{model.provider}/{model.model}"
    with anyio.move_on_after(patience):
        try:
            response = await model.decide(input, questions, **told)
        except FingerpostError:
            raise
        except Exception as error:
            raise LaneError(f"{name} failed: {type(error).__name__}: {error}") from error
        return checked(response, questions, name)
    raise ProviderTimeoutError(
        f"{name} did not decide in time", provider=model.provider, model=model.model
    )


def checked(
    response: DecisionResponse, questions: Sequence[Question], name: str
) -> DecisionResponse:
    """Return the response with each answer held against its question and completed.

    Distributions are renormalised; label, value and confidence are computed from them.

    Args:
        response: What a model gave.
        questions: What it was asked.
        name: Provider and model, for the error.

    Raises:
        InvalidDecisionResponseError: An answer is missing or does not fit its question.
    """
    answers = getattr(response, "answers", None)
    if not isinstance(answers, Mapping):
        raise _invalid(name, f"gave {type(response).__name__} instead of answers")
    done: dict[str, DecisionAnswer] = {}
    for question in questions:
        answer = answers.get(question.id)
        if not isinstance(answer, DecisionAnswer):
            raise _invalid(name, f"gave no answer to {question.id!r}")
        done[question.id] = _settled(question, answer, name)
    return replace(response, answers=done)


def labels_of(question: Question) -> tuple[str, ...]:
    """Return the keys of the question's distribution, in order."""
    if isinstance(question, YesNo):
        return ("yes", "no")
    if isinstance(question, Choice):
        return tuple(question.options)
    return tuple(str(level) for level in range(len(question.levels)))


def confidence_of(question: Question, probabilities: Mapping[str, float]) -> float:
    """Return how sure a distribution is, 0 (uniform) to 1, by one formula for every server.

    Yes/no and choice: ``(max - 1/n) / (1 - 1/n)``. Score: one minus the mean distance from the
    most probable level, over that of the uniform distribution (the TypeSafe formulas).

    Args:
        question: What was asked.
        probabilities: All of `labels_of`, summing to 1.
    """
    values = [probabilities[label] for label in labels_of(question)]
    n, top = len(values), max(values)
    if n == 1:
        return 1.0
    if not isinstance(question, Score):
        return max(0.0, (top - 1 / n) / (1 - 1 / n))
    mode = values.index(top)
    far = sum(p * abs(level - mode) for level, p in enumerate(values))
    return max(0.0, 1 - far / (sum(abs(level - mode) for level in range(n)) / n))


def _settled(question: Question, answer: DecisionAnswer, name: str) -> DecisionAnswer:
    if answer.status is not AnswerStatus.ANSWERED and not answer.probabilities:
        return answer
    labels = labels_of(question)
    given = answer.probabilities
    if not given:
        if isinstance(question, Choice) and answer.label in labels:
            return answer
        raise _invalid(name, f"gave no probabilities for {question.id!r}")
    if set(given) != set(labels):
        raise _invalid(name, f"gave probabilities of other options for {question.id!r}")
    if not all(_is_probability(p) for p in given.values()):
        raise _invalid(name, f"gave a probability outside 0 to 1 for {question.id!r}")
    total = sum(given.values())
    if total <= 0 or abs(total - 1) > max(TOLERANCE, len(labels) * _CLOSE):
        raise _invalid(name, f"gave probabilities that sum to {total:.3g} for {question.id!r}")
    shares = {label: float(given[label]) / total for label in labels}
    best = max(labels, key=shares.__getitem__)
    if isinstance(question, Choice) and answer.label:
        if answer.label not in labels or shares[best] - shares[answer.label] > 2 * _CLOSE:
            raise _invalid(name, f"chose against its own probabilities for {question.id!r}")
        best = answer.label
    return replace(
        answer,
        probabilities=shares,
        label=best,
        value=_value(question, shares),
        confidence=confidence_of(question, shares),
    )


def _value(question: Question, shares: Mapping[str, float]) -> float | None:
    if isinstance(question, YesNo):
        return shares["yes"]
    if isinstance(question, Choice):
        return None
    return sum(level * shares[str(level)] for level in range(len(question.levels)))


def _is_probability(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= 1
    )


def _invalid(name: str, what: str) -> InvalidDecisionResponseError:
    provider, _, model = name.partition("/")
    return InvalidDecisionResponseError(f"{name} {what}", provider=provider, model=model)
