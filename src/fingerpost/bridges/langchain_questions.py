"""Typed questions and answers between fingerpost and LangChain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fingerpost.errors import (
    DecisionError,
    InvalidDecisionResponseError,
    RefusedError,
    UsageError,
)
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
from fingerpost.types.wire import to_wire

_ROLES: Final = {"human": "user", "ai": "assistant"}


def questions_to(types: Any, questions: Sequence[Question]) -> dict[str, Any]:
    """Return the questions as LangChain's, by id."""
    return {question.id: _to(types, question) for question in questions}


def questions_from(types: Any, questions: Mapping[str, Any]) -> list[Question]:
    """Return LangChain's questions as ours; JSON in them becomes JSON text.

    Raises:
        UsageError: One asks for a place in an image.
    """
    return [_from(types, id_, question) for id_, question in questions.items()]


def input_from(state: Any) -> DecisionInput:
    """Return LangChain's state as an input, its messages as objects."""
    value: DecisionInput = _plain(state)
    return value


def answers_from(answers: Mapping[str, Any]) -> dict[str, DecisionAnswer]:
    """Return LangChain's answers as ours; those of other kinds are left out, and so missing."""
    read = {"noul": _from_noul, "choice": _from_choice, "score": _from_score}
    known = {id_: answer for id_, answer in answers.items() if answer.type in read}
    return {id_: read[answer.type](id_, answer) for id_, answer in known.items()}


def answers_to(
    types: Any, questions: Mapping[str, Any], response: DecisionResponse
) -> dict[str, Any]:
    """Return our answers as LangChain's.

    Args:
        types: The module ``langchain_core.decisions``.
        questions: As LangChain asked them.
        response: Checked by `asked.ask`.

    Raises:
        RefusedError: One was refused.
        DecisionError: One was abstained from.
        InvalidDecisionResponseError: One has no probabilities.
    """
    return {
        id_: _answer_to(types, questions[id_], answer, response.model)
        for id_, answer in response.answers.items()
    }


def _to(types: Any, question: Question) -> Any:
    if isinstance(question, YesNo):
        told = question.yes is not None or question.no is not None
        criteria = types.NoulCriteria(true=question.yes, false=question.no) if told else None
        return types.Noul(instructions=question.text, criteria=criteria)
    if isinstance(question, Choice):
        return types.Choice(instructions=question.text, criteria=dict(question.options))
    return types.Score(instructions=question.text, criteria=list(question.levels))


def _from(types: Any, id_: str, question: Any) -> Question:
    if isinstance(question, types.Noul):
        yes, no = (
            (question.criteria.true, question.criteria.false) if question.criteria else (None, None)
        )
        return YesNo(id_, _text(question.instructions), _described(yes), _described(no))
    if isinstance(question, types.Choice):
        options = {label: _described(told) for label, told in question.criteria.items()}
        return Choice(id_, _text(question.instructions), options)
    if isinstance(question, types.Score):
        return Score(id_, _text(question.instructions), tuple(map(_text, question.criteria)))
    raise UsageError(f"question {id_!r} is a {type(question).__name__}, which we cannot ask")


def _from_noul(id_: str, answer: Any) -> DecisionAnswer:
    return DecisionAnswer(id_, probabilities={"yes": answer.noul, "no": 1 - answer.noul})


def _from_choice(id_: str, answer: Any) -> DecisionAnswer:
    return DecisionAnswer(
        id_,
        probabilities=dict(answer.probabilities),
        label=answer.choice,
        provider_confidence=answer.confidence,
    )


def _from_score(id_: str, answer: Any) -> DecisionAnswer:
    return DecisionAnswer(
        id_,
        probabilities={str(level): p for level, p in answer.probabilities.items()},
        value=answer.score,
        provider_confidence=answer.confidence,
    )


def _answer_to(types: Any, question: Any, answer: DecisionAnswer, model: str) -> Any:
    if answer.status is AnswerStatus.REFUSED:
        raise RefusedError(f"{model} refused to answer {answer.id!r}")
    if answer.status is AnswerStatus.ABSTAINED:
        raise DecisionError(f"{model} abstained from {answer.id!r}")
    if isinstance(question, types.Noul):
        return types.NoulAnswer(type="noul", noul=answer.value)
    if not answer.probabilities:
        raise InvalidDecisionResponseError(f"{model} gave no probabilities for {answer.id!r}")
    given = {"probabilities": dict(answer.probabilities), "confidence": answer.confidence}
    if isinstance(question, types.Choice):
        return types.ChoiceAnswer(type="choice", choice=answer.label, **given)
    legend = dict(enumerate(question.criteria))
    return types.ScoreAnswer(type="score", score=answer.value, legend=legend, **given)


def _plain(value: Any) -> Any:
    """Return JSON values; a message is known by its ``type`` and ``content``."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "content") and hasattr(value, "type"):
        return {"role": _ROLES.get(value.type, value.type), "content": to_wire(value.content)}
    return to_wire(value)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _described(content: Any) -> str | None:
    return None if content is None else _text(content)
