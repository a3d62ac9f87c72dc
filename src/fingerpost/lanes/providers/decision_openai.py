"""The Decisions API of OpenAI: ``POST /v1/decisions``, questions and answers as lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.decision_answers import UnfitError, name_of, read_answer
from fingerpost.lanes.providers.decision_shape import with_sides
from fingerpost.lanes.providers.fields import as_items, as_mapping
from fingerpost.lanes.providers.openai import bearer
from fingerpost.types.question import Choice, DecisionAnswer, DecisionInput, Question, YesNo

__all__ = ["OpenAiDecisionShape", "as_input_text"]


class OpenAiDecisionShape:
    """A refusal is told of each question, the others stay answered."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def url(self) -> str:
        """Return the address. See `DecisionShape.url`."""
        return api_url(self._endpoint.base_url, "v1", "decisions")

    def headers(self) -> Mapping[str, str]:
        """Return the bearer token. See `DecisionShape.headers`."""
        return bearer(self._endpoint)

    def body(self, input: DecisionInput, questions: Sequence[Question]) -> Mapping[str, Any]:
        """Return the request. See `DecisionShape.body`."""
        asked = [
            {"name": name_of(place), **_question(question)}
            for place, question in enumerate(questions)
        ]
        return {"model": self._endpoint.model, "input": as_input_text(input), "questions": asked}

    def read(
        self, data: Mapping[str, Any], questions: Sequence[Question]
    ) -> tuple[DecisionAnswer, ...]:
        """Return the answers, whose order and names both have to be right.

        Raises:
            UnfitError: There are more or fewer than questions, or an answer does not fit its own.
        """
        answers = as_items(data.get("answers"))
        if len(answers) != len(questions):
            raise UnfitError(f"gave {len(answers):,} answers to {len(questions):,} questions")
        return tuple(
            read_answer(question, _as_system_one(question, name_of(place), as_mapping(told)))
            for place, (question, told) in enumerate(zip(questions, answers, strict=True))
        )


def as_input_text(input: DecisionInput) -> str:
    """Return the input as text: JSON unless it is text already."""
    return input if isinstance(input, str) else json.dumps(input, ensure_ascii=False)


def _question(question: Question) -> Mapping[str, Any]:
    if isinstance(question, YesNo):
        return {"type": "predicate", "instructions": with_sides(question)}
    if isinstance(question, Choice):
        choices = [
            {"value": label, "description": text} if text else {"value": label}
            for label, text in question.options.items()
        ]
        return {"type": "choice", "instructions": question.text, "choices": choices}
    levels = [{"label": str(n), "description": text} for n, text in enumerate(question.levels)]
    return {"type": "score", "instructions": question.text, "levels": levels}


def _as_system_one(question: Question, name: str, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer in the words of System One.

    Raises:
        UnfitError: It is another question's, or lists an option twice.
    """
    if told.get("name") not in (None, name):
        raise UnfitError(f"gave the answer to another question for {question.id!r}")
    if told.get("type") == "predicate":
        return {**told, "type": "noul"}
    listed = told.get("probabilities")
    if not isinstance(listed, list):
        return told
    shares: dict[str, object] = {}
    for item in map(as_mapping, listed):
        value = item.get("value")
        label = str(value) if type(value) is int else value
        if not isinstance(label, str) or label in shares:
            raise UnfitError(f"gave no list of options, each once, for {question.id!r}")
        shares[label] = item.get("probability")
    return {**told, "probabilities": shares}
