"""The System One API: ``POST /v1/systemone``, spoken by many servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.decision_answers import name_of, read_answer
from fingerpost.lanes.providers.decision_shape import with_sides
from fingerpost.lanes.providers.fields import as_mapping
from fingerpost.lanes.providers.ollama import server_root
from fingerpost.lanes.providers.shape import key_of
from fingerpost.types.question import Choice, DecisionAnswer, DecisionInput, Question, YesNo

__all__ = [
    "Criteria",
    "SystemOneDialect",
    "SystemOneShape",
    "dialect_of",
    "question_map",
    "read_map",
]

Criteria = Literal["one", "both", "gemini"]
_SIDES: Final[Mapping[Criteria, tuple[str, str]]] = {
    "one": ("true", "false"),
    "both": ("true", "false"),
    "gemini": ("true_description", "false_description"),
}


@dataclass(frozen=True, slots=True)
class SystemOneDialect:
    """How one server's System One differs from another's.

    Attributes:
        url: The whole address of a call; empty takes the base URL and ``v1/systemone``.
        auth_header: Name of the header that holds the key.
        auth_scheme: Stands before the key, empty for none.
        send_model: The request names the model.
        criteria: What a yes/no question may say of its sides: ``one`` of them or both, ``both``
            or none (one alone goes into the question), or as Gemini names them.
    """

    url: str = ""
    auth_header: str = "authorization"
    auth_scheme: str = "Bearer"
    send_model: bool = True
    criteria: Criteria = "both"


def dialect_of(provider: str) -> SystemOneDialect:
    """Return what is known of a provider's dialect, else what every server understands."""
    return SystemOneDialect(criteria="one" if provider == "typesafe" else "both")


class SystemOneShape:
    """Questions and answers as maps, the input as ``state``."""

    def __init__(self, endpoint: Endpoint, dialect: SystemOneDialect) -> None:
        self._endpoint = endpoint
        self._dialect = dialect

    def url(self) -> str:
        """Return the address. See `DecisionShape.url`."""
        base = self._endpoint.base_url
        if self._endpoint.provider == "ollama":  # whose address may be that of its chat API
            base = server_root(base)
        return self._dialect.url or api_url(base, "v1", "systemone")

    def headers(self) -> Mapping[str, str]:
        """Return the header that signs a request, none for a keyless server."""
        key = key_of(self._endpoint)
        signed = f"{self._dialect.auth_scheme} {key}".strip()
        return {self._dialect.auth_header.lower(): signed} if key else {}

    def body(self, input: DecisionInput, questions: Sequence[Question]) -> Mapping[str, Any]:
        """Return the request. See `DecisionShape.body`."""
        told = {"state": input, "questions": question_map(questions, self._dialect.criteria)}
        return {"model": self._endpoint.model, **told} if self._dialect.send_model else told

    def read(
        self, data: Mapping[str, Any], questions: Sequence[Question]
    ) -> tuple[DecisionAnswer, ...]:
        """Return the answers, which one gateway wraps. See `DecisionShape.read`."""
        inner = data if "answers" in data else as_mapping(data.get("result"))
        return read_map(inner, questions)


def question_map(questions: Sequence[Question], criteria: Criteria) -> Mapping[str, Any]:
    """Return the questions by their names on the wire."""
    return {name_of(place): _question(one, criteria) for place, one in enumerate(questions)}


def read_map(data: Mapping[str, Any], questions: Sequence[Question]) -> tuple[DecisionAnswer, ...]:
    """Return the answers of a map by name; those that nobody asked for are passed over.

    Raises:
        UnfitError: One is missing, or of another type than its question.
    """
    answers = as_mapping(data.get("answers"))
    return tuple(
        read_answer(question, answers.get(name_of(place)))
        for place, question in enumerate(questions)
    )


def _question(question: Question, criteria: Criteria) -> Mapping[str, Any]:
    if isinstance(question, Choice):
        options = dict(question.options)
        return {"type": "choice", "instructions": question.text, "criteria": options}
    if not isinstance(question, YesNo):
        levels = list(question.levels)
        return {"type": "score", "instructions": question.text, "criteria": levels}
    told = zip(_SIDES[criteria], (question.yes, question.no), strict=True)
    sides = {name: text for name, text in told if text}
    if criteria == "both" and len(sides) == 1:
        return {"type": "noul", "instructions": with_sides(question)}
    said: dict[str, Any] = {"type": "noul", "instructions": question.text}
    return {**said, "criteria": sides} if sides else said
