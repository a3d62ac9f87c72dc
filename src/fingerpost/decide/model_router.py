"""Chooses the model that answers, by what a decision model says of the request."""

from __future__ import annotations

import logging
import re
import time
from bisect import bisect_left
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from typing import Final

from fingerpost.decide.conversation import shortened
from fingerpost.decide.options import (
    checked_able,
    checked_description,
    checked_probability,
    checked_text,
)
from fingerpost.errors import ConfigError, LaneError
from fingerpost.lanes.asked import ask
from fingerpost.lanes.base import ChatModel, DecisionModel
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import AnswerStatus, Choice, DecisionAnswer
from fingerpost.types.result import Usage

DEFAULT_LANE_QUESTION: Final = (
    "Which model should answer `query`? The whole request, documents included, has about "
    "`request_tokens` tokens. Take the cheapest that can do it well."
)
_ID: Final = "lane"
_LONGEST_QUERY: Final = 4_000
# How documents stand in a request, see generate/request.py.
_BEGIN: Final = re.compile(r"<<<(\w+)\n")
_END: Final = re.compile(r"\n(\w+)>>>")
_LOG: Final = logging.getLogger("fingerpost.decide")


@dataclass(frozen=True, slots=True)
class DescribedModel:
    """A chat model and what it is good for.

    Attributes:
        model: The model, or a lane of several.
        description: For the decision model, not blank: ``cheap, for short factual answers``.
    """

    model: ChatModel
    description: str


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """Which route a request is sent to.

    Attributes:
        route: Its name.
        probability: That it is the right one, 0 to 1; ``None`` when nothing was asked or
            answered.
        reason: Why the default was taken, empty when the decision model chose.
        usage: What the decision took.
    """

    route: str
    probability: float | None = None
    reason: str = ""
    usage: tuple[Usage, ...] = ()


class DecisionModelRouter:
    """A `ChatModel` that asks a decision model which of its described models shall answer.

    One choice question per request, about the text of its last user message without the
    documents in it, and about the request's length. Only requests that write an answer (job
    ``generate``) are asked about: the prompts of other jobs are ours and may hold documents. All
    else goes to the default route: other jobs, a choice below ``min_probability``, a refusal, an
    abstention, a decision that fails. Keeps no state. What the decision took stands first in
    the usage of the reply, or of its error.

    Args:
        decision_model: Whom to ask.
        routes: Name → described model, at least two. The names are the options.
        default: Name of the route for all that is not decided.
        min_probability: Of the chosen route, 0 to 1, both included.
        question: What is asked.
        timeout_s: Longest time for the decision; it is never more than half of what is left
            until the request's deadline.

    Raises:
        ConfigError: A value is not allowed; the message names it and the rule.
    """

    provider = "lane"
    api = "lane"
    model = "decision"

    def __init__(
        self,
        decision_model: DecisionModel,
        routes: Mapping[str, DescribedModel],
        *,
        default: str,
        min_probability: float = 0.5,
        question: str = DEFAULT_LANE_QUESTION,
        timeout_s: float = 5.0,
    ) -> None:
        self._decision_model = checked_able(decision_model, "decide", "decision_model")
        self._routes = _checked_routes(routes)
        if default not in self._routes:
            raise ConfigError(f"default is {default!r}, the routes are {', '.join(routes)}")
        number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
        if not number or not timeout_s > 0:
            raise ConfigError(f"timeout_s is {timeout_s!r}, allowed is a number above 0")
        self._default = default
        self._least = checked_probability(min_probability, "min_probability")
        self._timeout_s = timeout_s
        options = {name: route.description for name, route in routes.items()}
        self._question = Choice(_ID, checked_text(question, "question"), options)

    async def choose(self, request: ChatRequest) -> LaneChoice:
        """Return where the request is sent, and why; the default when the decision fails.

        Raises:
            MissingRecordingError: A replay has no record of the decision.
        """
        query = _query_of(request)
        if request.job != "generate" or not query:
            return LaneChoice(self._default, reason=f"nothing is asked about this {request.job!r}")
        n_tokens = sum(estimate_tokens(message.text) for message in request.messages)
        try:
            response = await ask(
                self._decision_model,
                {"query": query, "request_tokens": n_tokens},
                [self._question],
                deadline=self._deadline(request),
                query_id=request.query_id,
            )
        except LaneError as error:
            _LOG.warning(
                "the model could not be chosen, %s answers: %s", self._default, error.advice
            )
            return LaneChoice(self._default, reason=str(error), usage=tuple(error.usage))
        return self._read(response.answers[_ID], response.usage)

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the reply of the chosen model. See `ChatModel.complete`."""
        choice = await self.choose(request)
        with _spent_first(choice.usage):
            response = await self._routes[choice.route].model.complete(request)
        return _with_usage(response, choice.usage)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield what the chosen model streams. See `ChatModel.stream`."""
        choice = await self.choose(request)
        with _spent_first(choice.usage):
            stream = self._routes[choice.route].model.stream(request)
            async with aclosing(stream) as items:
                async for item in items:
                    yield item if isinstance(item, str) else _with_usage(item, choice.usage)

    async def close(self) -> None:
        """Close the idle connections of every model, the decision model's among them."""
        for route in self._routes.values():
            await route.model.close()
        if hasattr(self._decision_model, "close"):  # a host's own need not have it
            await self._decision_model.close()

    def _read(self, answer: DecisionAnswer, usage: tuple[Usage, ...]) -> LaneChoice:
        probability = answer.probabilities.get(answer.label)
        if answer.status is not AnswerStatus.ANSWERED or probability is None:
            said = f"the decision model gave no probability: {answer.status}"
            return LaneChoice(self._default, reason=said, usage=usage)
        if probability < self._least:
            said = f"{answer.label} has {probability:.2f}, below {self._least:.2f}"
            return LaneChoice(self._default, answer.probabilities[self._default], said, usage)
        return LaneChoice(answer.label, probability, usage=usage)

    def _deadline(self, request: ChatRequest) -> float:
        now = time.monotonic()
        left = self._timeout_s if request.deadline is None else (request.deadline - now) / 2
        return now + min(self._timeout_s, left)


def _query_of(request: ChatRequest) -> str:
    """Return the last user message without the documents in it."""
    said = [message.text for message in request.messages if message.role == "user"]
    return shortened(_without_documents(said[-1]).strip(), _LONGEST_QUERY) if said else ""


def _without_documents(text: str) -> str:
    """Return the text without what stands between fences of one code, in linear time."""
    ends: dict[str, list[re.Match[str]]] = {}
    for end in _END.finditer(text):
        ends.setdefault(end[1], []).append(end)
    kept, at = [], 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < at:
            continue
        own = ends.get(begin[1], [])
        place = bisect_left(own, begin.end(), key=lambda end: end.start())
        if place < len(own):
            kept.append(text[at : begin.start()])
            at = own[place].end()
            at += text.startswith("\n", at)
    return "".join((*kept, text[at:]))


def _checked_routes(routes: Mapping[str, DescribedModel]) -> dict[str, DescribedModel]:
    """Return the routes.

    Raises:
        ConfigError: Fewer than two, or one that is not usable.
    """
    if not isinstance(routes, Mapping):
        raise ConfigError(f"routes is a {type(routes).__name__}, allowed are models by name")
    if len(routes) < 2:  # noqa: PLR2004 - a choice
        raise ConfigError(f"routes has {len(routes)} models, a choice needs at least two")
    for name, route in routes.items():
        checked_text(name, "the name of a route")
        if not isinstance(route, DescribedModel):
            raise ConfigError(f"route {name!r} is a {type(route).__name__}, not a DescribedModel")
        checked_description(route.description, f"the description of route {name!r}")
        checked_able(route.model, "complete", f"the model of route {name!r}")
    return dict(routes)


def _with_usage(response: ChatResponse, spent: tuple[Usage, ...]) -> ChatResponse:
    return replace(response, usage=(*spent, *response.usage))


@contextmanager
def _spent_first(spent: tuple[Usage, ...]) -> Iterator[None]:
    """Put what the decision took before what a failed call took."""
    try:
        yield
    except LaneError as error:
        error.usage = (*spent, *error.usage)
        raise
