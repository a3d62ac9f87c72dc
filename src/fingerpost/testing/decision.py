"""A decision model that says what a test tells it to."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from fingerpost.errors import LaneError
from fingerpost.testing.provider.decided import Said, distribution
from fingerpost.types.question import (
    AnswerStatus,
    DecisionAnswer,
    DecisionInput,
    DecisionResponse,
    Question,
)
from fingerpost.types.result import Usage

__all__ = ["DecisionCall", "ScriptedDecision"]


@dataclass(frozen=True, slots=True)
class DecisionCall:
    """What a decision model was asked."""

    input: DecisionInput = field(hash=False)
    questions: tuple[Question, ...]
    deadline: float | None = None
    query_id: str = ""


_Said: TypeAlias = tuple[Said, ...] | DecisionResponse | Exception
Reply: TypeAlias = _Said | Callable[[DecisionCall], _Said | Awaitable[_Said]]


class ScriptedDecision:
    """A `DecisionModel` that gives one reply per call, in order; the last one answers the rest.

    Args:
        replies: At least one. A tuple holds an answer to each question, the last one for all that
            follow: the probability of yes, an option, options or levels with their
            probabilities, or an `AnswerStatus`. A `DecisionResponse` is returned as it is, an
            exception raised. A function of the call, plain or async, returns or raises one of
            these.
        provider: Route word.
        model: Name of the model.

    Attributes:
        calls: What was asked, in order.
    """

    def __init__(
        self, replies: Sequence[Reply], provider: str = "testing", model: str = "scripted"
    ) -> None:
        self.provider = provider
        self.model = model
        self.calls: list[DecisionCall] = []
        self._replies = tuple(replies)
        self._lock = Lock()

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        """Return or raise the next reply."""
        call = DecisionCall(input, tuple(questions), deadline, query_id)
        with self._lock:
            reply = self._replies[min(len(self.calls), len(self._replies) - 1)]
            self.calls.append(call)
        if callable(reply):
            given = reply(call)
            reply = await given if inspect.isawaitable(given) else given
        if isinstance(reply, Exception):
            if isinstance(reply, LaneError):
                reply.usage = (self._usage(type(reply).__name__),)
            raise reply.with_traceback(None)
        return reply if isinstance(reply, DecisionResponse) else self._response(call, reply)

    async def close(self) -> None:
        """There is nothing to close."""

    def _response(self, call: DecisionCall, said: tuple[Said, ...]) -> DecisionResponse:
        answers = {
            question.id: _answer(question, said[min(place, len(said) - 1)])
            for place, question in enumerate(call.questions)
        }
        return DecisionResponse(answers, f"{self.provider}/{self.model}", (self._usage("ok"),))

    def _usage(self, outcome: str) -> Usage:
        return Usage("decide", f"{self.provider}/{self.model}", 11, outcome=outcome)


def _answer(question: Question, said: Said) -> DecisionAnswer:
    if isinstance(said, AnswerStatus):
        return DecisionAnswer(question.id, said)
    return DecisionAnswer(question.id, probabilities=distribution(question, said))
