"""Chooses sources by letting a chat model pick from a numbered list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fingerpost.decide.base import BaseSourceRouter
from fingerpost.decide.chat_fence import fill_fenced, one_line, shown
from fingerpost.decide.conversation import ConversationWindow, MessageFilter
from fingerpost.decide.options import checked_able
from fingerpost.decide.sources import Described
from fingerpost.errors import ConfigError, LaneError, MalformedOutputError
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.guarded import GuardedChat
from fingerpost.lanes.structured import without_thoughts
from fingerpost.prompts import Prompt, load_prompt
from fingerpost.types.chat import ChatRequest, ChatResponse, Message, StopReason
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.ids import digest
from fingerpost.types.question import DecisionInput, Question
from fingerpost.types.routing import FallbackStrategy, SourceAssessment, SourceRouting

_UNSTATED: Final = 0.5
_TOKENS: Final = 32
_TOKENS_PER_SOURCE: Final = 4
_NUMBERS: Final = r"(?:\"\d{1,4}\"|\d{1,4})"
_LIST: Final = rf"{_NUMBERS}(?:\s*,\s*{_NUMBERS})*"
# The whole reply: an object with the list, the list alone, or the bare numbers; maybe in a fence
# or behind a word. What was opened must be closed. Anything else was cut off or is prose, in which
# a number need not be a choice.
_REPLY: Final = re.compile(
    r"(?P<fence>```\w*\s*)?(?:output\s*:\s*)?(?P<object>\{\s*\"sources\"\s*:\s*)?"
    rf"(?:\[\s*(?P<list>(?:{_LIST})?)\s*,?\s*\]|(?P<bare>{_LIST})|\"none\"|none\.?)"
    r"(?(object)\s*,?\s*\})(?(fence)\s*```)",
    re.IGNORECASE | re.ASCII,
)
_SCHEMA: Final = {
    "type": "object",
    "properties": {"sources": {"type": "array", "items": {"type": "integer"}}},
    "required": ["sources"],
    "additionalProperties": False,
}


class LanguageModelQueryRouter(BaseSourceRouter):
    """Routes a query to the sources that a chat model picks from a numbered list.

    One call. The reply names numbers from 1, or none. Every reply that cannot be read as that
    (a number that is not in the list, one that is named twice, prose, a list that was cut off)
    and every call that fails ends in the fallback strategy, with its reason on the routing;
    nothing is guessed from a part of a reply. A chat model states no probabilities, so the
    confidence of a routing is always 0.5. Retrieved text is never part of the prompt.

    Args:
        chat: The model.
        retrievers: Retrievers with a description each, or sources.
        prompt: Text with the places ``{{sources}}``, ``{{input}}`` and ``{{delimiter}}``, which
            stands for the code of the fences around the other two; ``None`` takes our own.
        fallback_strategy: What to do when the model fails or its reply cannot be read.
        max_messages: See `ConversationWindow`.
        max_message_length: See `ConversationWindow`.
        message_filter: See `ConversationWindow`.

    Raises:
        ConfigError: A value is not allowed; the message names it and the rule.
    """

    def __init__(
        self,
        chat: ChatModel,
        retrievers: Described,
        *,
        prompt: str | None = None,
        fallback_strategy: FallbackStrategy = FallbackStrategy.DO_NOT_ROUTE,
        max_messages: int = 10,
        max_message_length: int = 2000,
        message_filter: MessageFilter | None = None,
    ) -> None:
        super().__init__(retrievers, kind="language-model", fallback_strategy=fallback_strategy)
        own = load_prompt("decide_sources")
        self._prompt = own if prompt is None else _own_prompt(prompt)
        fill_fenced(self._prompt, input="", sources="")
        self._chat = GuardedChat(checked_able(chat, "complete", "chat"))
        self._window = ConversationWindow(max_messages, max_message_length, message_filter)
        self._menu = [
            f"{n}. {one_line(source.description)}" for n, source in enumerate(self._sources, 1)
        ]

    async def route(
        self,
        query: str,
        conversation: Sequence[ConversationMessage] = (),
        *,
        also: Sequence[Question] = (),  # noqa: ARG002 - a chat model is not asked them
        deadline: float | None = None,
        query_id: str = "",
    ) -> SourceRouting:
        """Return the sources that the model picked. See `SourceRouter.route`.

        Raises:
            LaneError: There is no pick and the fallback strategy is ``FAIL``.
            InvalidQueryError: The question or the conversation is none.
        """
        try:
            about = self._window.input(query, conversation)
            response = await self._chat.complete(self._request(about, deadline, query_id))
            picked = self._picked(response)
        except LaneError as error:
            return self._fallen_back(error, self._assessments(frozenset()))
        return self._routed(
            self._assessments(picked),
            model=response.model,
            confidence=_UNSTATED,
            usage=response.usage,
        )

    def _request(self, about: DecisionInput, deadline: float | None, query_id: str) -> ChatRequest:
        prompt = fill_fenced(self._prompt, input=shown(about), sources="\n".join(self._menu))
        return ChatRequest(
            (Message("user", prompt),),
            job="decide",
            max_tokens=_TOKENS + _TOKENS_PER_SOURCE * len(self._menu),
            temperature=0.0,
            schema=_SCHEMA,
            deadline=deadline,
            query_id=query_id,
        )

    def _picked(self, response: ChatResponse) -> frozenset[int]:
        """Return the numbers that a reply names.

        Raises:
            MalformedOutputError: It is no list of numbers of sources.
        """
        numbers, fault = read_numbers(response, len(self._menu))
        if fault:
            error = MalformedOutputError(f"the reply of {response.model} {fault}")
            error.usage = response.usage
            raise error
        return frozenset(numbers)

    def _assessments(self, picked: frozenset[int]) -> list[SourceAssessment]:
        return [
            SourceAssessment(source.name, chosen=n in picked, question=line)
            for n, (source, line) in enumerate(zip(self._sources, self._menu, strict=True), 1)
        ]


def _own_prompt(text: str) -> Prompt:
    if not isinstance(text, str):
        raise ConfigError(f"prompt is a {type(text).__name__}, allowed is text with its places")
    return Prompt("prompt", text, digest(text))


def read_numbers(response: ChatResponse, n_sources: int) -> tuple[list[int], str]:
    """Return the numbers that a reply names, and what is wrong with it, empty for nothing.

    Never raises. With a fault the numbers are not to be used.
    """
    if response.stop is StopReason.LENGTH:
        return [], "was cut off"
    # Without runs of blanks, on which the pattern could be slow.
    found = _REPLY.fullmatch(one_line(without_thoughts(response.text)))
    if found is None:
        return [], "is no list of numbers"
    numbers = [int(n) for n in re.findall(r"\d+", found["list"] or found["bare"] or "")]
    unknown = [n for n in numbers if not 1 <= n <= n_sources]
    if unknown:
        return [], f"names source {unknown[0]}, there are 1 to {n_sources}"
    if len(set(numbers)) < len(numbers):
        return [], "names a source twice"
    return numbers, ""
