"""What a decision model's adapter has to know of an API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fingerpost.types.question import DecisionAnswer, DecisionInput, Question, YesNo

__all__ = ["DecisionShape", "with_sides"]


class DecisionShape(Protocol):
    """One API shape: how questions are written and answers read. Pure; made for one endpoint.

    Questions are told under names of our own, ``q0``, ``q1``, …: not every API takes every id.
    """

    def url(self) -> str:
        """Return the whole address of a call."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Return the headers that are the shape's own, the key's among them."""
        ...

    def body(self, input: DecisionInput, questions: Sequence[Question]) -> Mapping[str, Any]:
        """Return what is posted. ``input`` is JSON values only."""
        ...

    def read(
        self, data: Mapping[str, Any], questions: Sequence[Question]
    ) -> tuple[DecisionAnswer, ...]:
        """Return one answer for each question, in order; its numbers have not been checked.

        Raises:
            UnfitError: An answer is missing, or of another type than its question.
        """
        ...


def with_sides(question: YesNo) -> str:
    """Return a question with what yes and no mean in its text, for APIs with no place for it."""
    yes = f"Yes when: {question.yes}" if question.yes else ""
    no = f"No when: {question.no}" if question.no else ""
    return "\n".join(part for part in (question.text, yes, no) if part)
