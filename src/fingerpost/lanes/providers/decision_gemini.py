"""The Decisions API of Gemini: ``POST /v1beta/decisions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.decision_openai import as_input_text
from fingerpost.lanes.providers.decision_systemone import question_map, read_map
from fingerpost.lanes.providers.fields import as_mapping, as_text
from fingerpost.lanes.providers.gemini import api_key
from fingerpost.types.question import AnswerStatus, DecisionAnswer, DecisionInput, Question

__all__ = ["GeminiDecisionShape"]


class GeminiDecisionShape:
    """Maps as in System One; an input that is blocked refuses every question."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def url(self) -> str:
        """Return the address. See `DecisionShape.url`."""
        return api_url(self._endpoint.base_url, "v1beta", "decisions")

    def headers(self) -> Mapping[str, str]:
        """Return the key's header. See `DecisionShape.headers`."""
        return api_key(self._endpoint)

    def body(self, input: DecisionInput, questions: Sequence[Question]) -> Mapping[str, Any]:
        """Return the request. See `DecisionShape.body`."""
        return {
            "model": self._endpoint.model,
            "input": as_input_text(input),
            "questions": question_map(questions, "gemini"),
        }

    def read(
        self, data: Mapping[str, Any], questions: Sequence[Question]
    ) -> tuple[DecisionAnswer, ...]:
        """Return the answers. See `DecisionShape.read`."""
        blocked = as_text(as_mapping(data.get("prompt_feedback")).get("block_reason"))
        if blocked and not data.get("answers"):
            extras = {"block_reason": blocked[:100]}
            return tuple(
                DecisionAnswer(question.id, AnswerStatus.REFUSED, extras=extras)
                for question in questions
            )
        return read_map(data, questions)
