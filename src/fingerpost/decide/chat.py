"""A chat model as a decision model: probabilities from its tokens, else from a JSON answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from fingerpost.decide.chat_prompt import Asking, Lettered, lettered, orders_of
from fingerpost.decide.chat_read import averaged, read_shares, token_masses
from fingerpost.decide.options import checked_able, checked_count
from fingerpost.decide.together import together
from fingerpost.errors import LaneError, RefusedError
from fingerpost.lanes.asked import labels_of
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.guarded import GuardedChat
from fingerpost.lanes.structured import ask_json
from fingerpost.lanes.wrapped import WrappedChat
from fingerpost.prompts import load_prompt
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import (
    AnswerStatus,
    DecisionAnswer,
    DecisionInput,
    DecisionResponse,
    Question,
)
from fingerpost.types.result import Usage

_TOP_LOGPROBS: Final = 20
_ENOUGH: Final = 3


class ChatDecisionModel:
    """A `DecisionModel` made of a chat model.

    Where the provider gives token log-probabilities, each question is a call of its own for each
    order of its options: the model replies with a letter, and the probabilities are those of the
    letters at that token, averaged over the orders. What other tokens have is the answer's
    ``unknown_probability``. Questions do not see each other, and the options' places, which
    models favour, cancel out.

    Where it gives none, where a question has more than 20 options, and where the model says
    something else than a letter, one more call asks for the probabilities of all those questions
    as JSON. Such numbers are only what the model says of itself. Which way was taken stands in
    each answer's ``extras``: ``method`` (``logprobs`` or ``json``), ``orders`` and ``prompt``.

    Whether a model gives log-probabilities is learnt from its replies, per concrete model: after
    three decisions in a row without any it is no longer asked for them. A refusal is a refused
    answer: of its question, or of all questions of the JSON call.

    Args:
        chat: The model, a lane of several included.
        orders: Orders of the options to average over, at least 1; 2 is each order and its
            reverse. A question takes ``orders`` calls.
        at_once: Most calls under way at the same time, at least 1.
        logprobs: False always asks for JSON: one call for all questions.

    Raises:
        ConfigError: A number is below 1, or ``chat`` is no chat model.
    """

    def __init__(
        self, chat: ChatModel, *, orders: int = 2, at_once: int = 8, logprobs: bool = True
    ) -> None:
        self._chat = GuardedChat(checked_able(chat, "complete", "chat"))
        self._orders = checked_count(orders, "orders")
        self._at_once = checked_count(at_once, "at_once")
        self._logprobs = logprobs
        self._n_without: dict[str, int] = {}
        self._last = ""

    @property
    def provider(self) -> str:
        """The chat model's route word."""
        return self._chat.provider

    @property
    def model(self) -> str:
        """The chat model's name."""
        return self._chat.model

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        """Return an answer to each question. See `DecisionModel.decide`.

        Raises:
            MalformedOutputError: The model gave no probabilities, asked twice for JSON.
            LaneError: A call failed; its usage is that of all calls.
        """
        chat = _Counted(self._chat)
        asking = Asking(input, deadline, query_id)
        try:
            found = await self._by_letters(chat, asking, questions)
            rest = [question for question in questions if question.id not in found]
            found |= await self._by_json(chat, asking, rest) if rest else {}
        except LaneError as error:
            error.usage = tuple(chat.usage)
            raise
        return DecisionResponse(
            answers={question.id: found[question.id] for question in questions},
            model=", ".join(dict.fromkeys(chat.models)) or f"{self.provider}/{self.model}",
            usage=tuple(chat.usage),
            request_id=chat.request_id,
        )

    async def close(self) -> None:
        """Close the chat model's idle connections."""
        await self._chat.close()

    async def _by_letters(
        self, chat: _Counted, asking: Asking, questions: Sequence[Question]
    ) -> dict[str, DecisionAnswer]:
        """Return the answers that log-probabilities give, none when the model has none."""
        n_without = self._n_without.get(self._last)
        if not self._logprobs or (n_without or 0) >= _ENOUGH:
            return {}
        heard = _Heard()
        ask = [
            partial(self._ask_letter, chat, asking, lettered(question, order), heard)
            for question in questions
            if len(labels_of(question)) <= _TOP_LOGPROBS
            for order in orders_of(question, self._orders)
        ]
        if n_without != 0:  # not known, or in doubt
            await together(ask[:1], self._at_once)
            ask = ask[1:]
        if not heard.gives or any(heard.gives.values()):
            await together(ask, self._at_once)
        for model, gives in heard.gives.items():
            self._n_without[model] = 0 if gives else self._n_without.get(model, 0) + 1
        answers = ((question, heard.masses.get(question.id, [])) for question in questions)
        read = {question.id: _from_letters(question, told) for question, told in answers}
        return {id_: answer for id_, answer in read.items() if answer is not None}

    async def _ask_letter(
        self,
        chat: _Counted,
        asking: Asking,
        asked: Lettered,
        heard: _Heard,
    ) -> None:
        """Ask one question in one order and keep what is heard."""
        told = heard.masses.setdefault(asked.question.id, [])
        try:
            response = await chat.complete(asking.for_letter(asked, top_logprobs=_TOP_LOGPROBS))
        except RefusedError:
            told.append(None)
            return
        self._last = response.model
        heard.gives[response.model] = bool(response.logprobs) or heard.gives.get(
            response.model, False
        )
        masses = token_masses(response, asked)
        told.extend([masses] if masses is not None else [])

    async def _by_json(
        self, chat: _Counted, asking: Asking, questions: Sequence[Question]
    ) -> dict[str, DecisionAnswer]:
        asked = [lettered(question) for question in questions]
        try:
            read = partial(read_shares, asked=asked)
            shares = await ask_json(chat, asking.for_json(asked), read)
        except RefusedError:
            return {one.id: DecisionAnswer(one.id, AnswerStatus.REFUSED) for one in questions}
        self._last = chat.models[-1]
        pairs = zip(questions, shares, strict=True)
        return {question.id: _from_json(question, told) for question, told in pairs}


@dataclass(slots=True)
class _Heard:
    """What the letters of one decision said.

    Attributes:
        masses: Question id → probability of each label, per order; ``None`` for a refusal.
        gives: Model → whether any reply had log-probabilities.
    """

    masses: dict[str, list[dict[str, float] | None]] = field(default_factory=dict)
    gives: dict[str, bool] = field(default_factory=dict)


class _Counted(WrappedChat):
    """Keeps who answered the calls of one decision and what they took."""

    def __init__(self, chat: ChatModel) -> None:
        super().__init__(chat)
        self.usage: list[Usage] = []
        self.models: list[str] = []
        self.request_id = ""

    async def complete(self, request: ChatRequest) -> ChatResponse:
        try:
            response = await super().complete(request)
        except LaneError as error:
            self.usage.extend(error.usage)
            raise
        self.usage.extend(response.usage)
        self.models.append(response.model)
        self.request_id = response.request_id
        return response


def _from_letters(
    question: Question, told: Sequence[dict[str, float] | None]
) -> DecisionAnswer | None:
    """Return the answer, ``None`` when the replies hold none and it has to be asked for."""
    masses = [one for one in told if one is not None]
    if not masses:
        return DecisionAnswer(question.id, AnswerStatus.REFUSED) if told else None
    found = averaged(masses)
    if found is None:
        return None
    shares, unknown = found
    extras = {"method": "logprobs", "orders": len(masses), "prompt": _stamp("decide")}
    return DecisionAnswer(
        question.id, probabilities=shares, unknown_probability=unknown, extras=extras
    )


def _from_json(question: Question, shares: dict[str, float]) -> DecisionAnswer:
    extras = {"method": "json", "orders": 1, "prompt": _stamp("decide_all")}
    status = AnswerStatus.ANSWERED if shares else AnswerStatus.ABSTAINED
    return DecisionAnswer(question.id, status, shares, extras=extras)


def _stamp(name: str) -> str:
    prompt = load_prompt(name)
    return f"{prompt.name}@{prompt.fingerprint}"
