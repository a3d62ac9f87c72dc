"""The one way to ask a decision model: its deadline held, its answers checked."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
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
from fingerpost.observe.hooks import call_hook
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
from fingerpost.types.result import Usage

TOLERANCE: Final = 0.05
"""How far the probabilities of an answer may be from 1 together: servers round them."""
_CLOSE: Final = 0.005
_CLOSE_SCORE: Final = 0.02
_SLACK: Final = 1e-9
_LEAST_DECIMALS: Final = 2
_MOST_DECIMALS: Final = 15


async def ask(
    model: DecisionModel,
    input: DecisionInput,
    questions: Sequence[Question],
    *,
    deadline: float | None = None,
    query_id: str = "",
    clock: Callable[[], float] = time.monotonic,
) -> DecisionResponse:
    """Return the model's answers, one for each question and in their order, checked.

    Args:
        model: Any object with ``decide(input, questions)``, the host's own included.
        input: What the questions are about.
        questions: At least one; ids are unique.
        deadline: When the call must have ended, by the clock.
        query_id: For events.
        clock: Monotonic seconds.

    Raises:
        InvalidDecisionResponseError: An answer is missing or does not fit its question.
        ProviderTimeoutError: The deadline passed.
        LaneError: The call failed in any other way.
        UsageError: No question, something that is none, or an id twice.
    """
    if not all(isinstance(question, Question) for question in questions):
        raise UsageError("a decision model answers questions: YesNo, Choice or Score")
    ids = {question.id for question in questions}
    if not questions or len(ids) != len(questions):
        raise UsageError("a decision model needs questions, each with an id of its own")
    patience = math.inf if deadline is None else max(0.0, deadline - clock())
    provider, own = called(model)
    name = f"{provider}/{own}"
    with anyio.move_on_after(patience):
        response = await passed_on(model, input, questions, deadline=deadline, query_id=query_id)
        try:
            return checked(response, questions, name)
        except InvalidDecisionResponseError as error:
            error.usage = _spent(response, type(error).__name__)
            raise
    raise ProviderTimeoutError(f"{name} did not decide in time", provider=provider, model=own)


def called(model: object) -> tuple[str, str]:
    """Return provider and model; ``own`` and the name of its class where the host gave none."""
    provider, name = getattr(model, "provider", None), getattr(model, "model", None)
    return (
        provider if isinstance(provider, str) and provider else "own",
        name if isinstance(name, str) and name else type(model).__name__,
    )


async def passed_on(
    model: DecisionModel,
    input: DecisionInput,
    questions: Sequence[Question],
    *,
    deadline: float | None,
    query_id: str,
) -> DecisionResponse:
    """Return the model's answers as they are, for what stands around it and is itself asked.

    A ``decide`` that is a plain function runs in a thread.

    Raises:
        LaneError: The call failed, in whatever way the model says so.
    """
    told: dict[str, Any] = {"deadline": deadline, "query_id": query_id}
    try:
        takes = inspect.signature(model.decide).parameters
        told = {name: value for name, value in told.items() if name in takes}
        return await call_hook(model.decide, None, math.inf, input, questions, **told)
    except FingerpostError:
        raise
    except Exception as error:
        name = "/".join(called(model))
        raise LaneError(f"{name} failed: {type(error).__name__}: {error}") from error


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
    if fault := _no_response(response):
        raise _invalid(name, fault)
    done: dict[str, DecisionAnswer] = {}
    for question in questions:
        answer = response.answers.get(question.id)
        if not isinstance(answer, DecisionAnswer):
            raise _invalid(name, f"gave no answer to {question.id!r}")
        try:
            done[question.id] = _settled(question, answer, name)
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise _invalid(name, f"gave an answer of wrong types to {question.id!r}") from error
    return replace(response, answers=done, usage=tuple(response.usage))


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


def _no_response(response: object) -> str:
    """Return why something is no response, empty when it is one."""
    if not isinstance(response, DecisionResponse):
        return f"gave {type(response).__name__} instead of answers"
    answers: object = response.answers
    if not isinstance(answers, Mapping):
        return f"gave {type(answers).__name__} instead of answers"
    usage: object = response.usage
    if not isinstance(usage, list | tuple) or not all(isinstance(item, Usage) for item in usage):
        return "gave something else than usage"
    model: object = response.model
    return "" if isinstance(model, str) else f"gave {type(model).__name__} as the model's name"


def _settled(question: Question, answer: DecisionAnswer, name: str) -> DecisionAnswer:
    answer = replace(answer, status=AnswerStatus(answer.status))
    given = answer.probabilities
    if not given:
        if answer.status is AnswerStatus.ANSWERED and not _has_bare_answer(question, answer):
            raise _invalid(name, f"gave no probabilities for {question.id!r}")
        return replace(answer, confidence=None)
    labels = labels_of(question)
    fault = _fault(labels, given) or _contradiction(question, answer)
    if fault:
        raise _invalid(name, f"gave {fault} for {question.id!r}")
    total = sum(given.values())
    shares = {label: float(given[label]) / total for label in labels}
    is_chosen = isinstance(question, Choice) and answer.label
    return replace(
        answer,
        probabilities=shares,
        label=answer.label if is_chosen else max(labels, key=shares.__getitem__),
        value=_value(question, shares),
        confidence=confidence_of(question, shares),
    )


def _has_bare_answer(question: Question, answer: DecisionAnswer) -> bool:
    """Return whether an answer without a distribution says something all the same."""
    if isinstance(question, Choice):
        return answer.label in question.options
    most = len(question.levels) - 1 if isinstance(question, Score) else -1
    return _is_within(answer.value, most)


def _fault(labels: Sequence[str], given: Mapping[str, float]) -> str:
    """Return what is wrong with a distribution, empty when nothing is."""
    if set(given) != set(labels):
        return "probabilities of other options"
    if not all(_is_within(p, 1) for p in given.values()):
        return "a probability outside 0 to 1"
    unit, total = _unit(given), sum(given.values())
    n_shown = sum(1 for p in given.values() if p > 0)
    over, under = max(TOLERANCE, n_shown * unit), max(TOLERANCE, len(labels) * unit)
    if not -under - _SLACK <= total - 1 <= over + _SLACK or total <= 0:
        return f"probabilities that sum to {total:.3g}"
    return ""


def _contradiction(question: Question, answer: DecisionAnswer) -> str:
    """Return how an answer contradicts its own distribution, empty when it does not."""
    given = answer.probabilities
    if isinstance(question, Choice) and answer.label:
        if answer.label not in given:
            return "an option that it was not offered"
        gap = (max(given.values()) - given[answer.label]) / sum(given.values())
        if gap > _CLOSE / (1 - TOLERANCE) + _SLACK:
            return "a choice against its own probabilities"
    if isinstance(question, Score) and answer.value is not None:
        n = len(question.levels)
        rounding = _CLOSE_SCORE + _unit(given) * (1 + n * (n - 1) / 2)
        # Some take the expectation before they make the distribution sum to 1, some after.
        expected = sum(level * given[str(level)] for level in range(n))
        near = (expected, expected / sum(given.values()))
        if not _is_within(answer.value, n - 1) or not any(
            abs(answer.value - one) <= rounding + _SLACK for one in near
        ):
            return "a score against its own probabilities"
    return ""


def _unit(given: Mapping[str, float]) -> float:
    """Return half a unit of the last decimal shown, never coarser than two decimals."""
    decimals = (-int(Decimal(repr(float(p))).as_tuple().exponent) for p in given.values())
    return 0.5 * 10.0 ** -max(_LEAST_DECIMALS, min(_MOST_DECIMALS, max(decimals)))


def _value(question: Question, shares: Mapping[str, float]) -> float | None:
    if isinstance(question, YesNo):
        return shares["yes"]
    if isinstance(question, Choice):
        return None
    return sum(level * shares[str(level)] for level in range(len(question.levels)))


def _is_within(value: object, most: float) -> bool:
    """Return whether a value is a number from 0 to ``most``; NaN is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _spent(response: object, outcome: str) -> tuple[Usage, ...]:
    """Return the usage of a response that is none."""
    usage = getattr(response, "usage", ())
    items = usage if isinstance(usage, list | tuple) else ()
    return tuple(replace(item, outcome=outcome) for item in items if isinstance(item, Usage))


def _invalid(name: str, what: str) -> InvalidDecisionResponseError:
    provider, _, model = name.partition("/")
    return InvalidDecisionResponseError(f"{name} {what}", provider=provider, model=model)
