"""How much of a conversation a decision model is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fingerpost.decide.options import checked_count
from fingerpost.errors import ConfigError, InvalidQueryError, LaneError
from fingerpost.types.conversation import ConversationMessage, ToolCall
from fingerpost.types.question import DecisionInput

MessageFilter = Callable[[ConversationMessage], bool]


@dataclass(frozen=True, slots=True)
class ConversationWindow:
    """What goes to a decision model beside the query.

    Attributes:
        max_messages: The last messages that are shown, the query itself included, at least 1.
            An assistant message with its tool calls counts as one, each tool result as one.
        max_message_length: Characters of each text and of each tool call's arguments, at least
            1. A longer one keeps its beginning and its end around a note, see `shortened`.
        message_filter: Which messages of the conversation may be shown, ``None`` for all. It
            also rules over the system message and the last user message; the query is always
            shown.

    Raises:
        ConfigError: A number is below 1, or the filter cannot be called.
    """

    max_messages: int = 10
    max_message_length: int = 2000
    message_filter: MessageFilter | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that would show nothing, and a filter that is none."""
        checked_count(self.max_messages, "max_messages")
        checked_count(self.max_message_length, "max_message_length")
        if self.message_filter is not None and not callable(self.message_filter):
            raise ConfigError(f"message_filter is {self.message_filter!r}, allowed is a function")

    def input(self, query: str, conversation: Sequence[ConversationMessage]) -> DecisionInput:
        """Return the query alone, or with the messages before it as a JSON object.

        Args:
            query: The question.
            conversation: What was said before it, oldest first. A chat memory that holds the
                query as its last message will do as well.

        Raises:
            InvalidQueryError: See `check_question`.
            LaneError: The filter failed.
        """
        check_question(query, conversation)
        before = conversation
        if conversation and conversation[-1] == ConversationMessage("user", query):
            before = conversation[:-1]
        query = shortened(query, self.max_message_length)
        messages = self.shown(before)
        return {"query": query, "messages": [_json(m) for m in messages]} if messages else query

    def shown(self, conversation: Sequence[ConversationMessage]) -> list[ConversationMessage]:
        """Return the messages before the query that are shown, the system message first.

        The last user message comes along when it is older than the window, unless the query
        alone is wanted. A tool result is left out when the call that it answers is.
        """
        allowed = self._allowed(conversation)
        said = [message for message in allowed if message.role != "system"]
        system = [message for message in allowed if message.role == "system"][-1:]
        n_before = self.max_messages - 1
        first = max(0, len(said) - n_before)
        window = _with_their_calls(said[first:])
        if n_before and not any(message.role == "user" for message in window):
            window = [m for m in said[:first] if m.role == "user"][-1:] + window
        return system + [self._cut(message) for message in window]

    def _allowed(self, conversation: Sequence[ConversationMessage]) -> list[ConversationMessage]:
        try:
            return [m for m in conversation if not self.message_filter or self.message_filter(m)]
        except Exception as error:  # a host's filter may fail in any way
            kind = type(error).__name__
            raise LaneError(f"message_filter failed: {kind}: {error}") from error

    def _cut(self, message: ConversationMessage) -> ConversationMessage:
        limit = self.max_message_length
        calls = tuple(
            replace(call, arguments=shortened(call.arguments, limit)) for call in message.tool_calls
        )
        return replace(message, text=shortened(message.text, limit), tool_calls=calls)


def check_question(query: str, conversation: Sequence[ConversationMessage]) -> None:
    """Refuse what cannot be asked about.

    Raises:
        InvalidQueryError: The query is no text, or the conversation holds something else than
            messages.
    """
    if not isinstance(query, str):
        raise InvalidQueryError(f"the query is a {type(query).__name__}, allowed is text")
    if not isinstance(conversation, Sequence):
        raise InvalidQueryError(f"the conversation is a {type(conversation).__name__}, not a list")
    for place, message in enumerate(conversation):
        if not _is_message(message):
            raise InvalidQueryError(
                f"message {place} of the conversation is no ConversationMessage of texts"
            )


def shortened(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters, cut in its middle when it was longer.

    A note of about 90 characters says how many are missing. A limit with little room for it
    still keeps half of its length; the note then comes on top.

    Args:
        text: Any text.
        limit: Characters, at least 1.
    """
    if len(text) <= limit:
        return text
    room = max(limit - len(_note(len(text))), (limit + 1) // 2, 2)
    tail = room // 2
    return text[: room - tail] + _note(len(text) - room) + text[len(text) - tail :]


def _is_message(message: object) -> bool:
    if not isinstance(message, ConversationMessage) or not _are_texts(
        message.role, message.text, message.tool_call_id
    ):
        return False
    calls: object = message.tool_calls
    return isinstance(calls, list | tuple) and all(
        isinstance(call, ToolCall) and _are_texts(call.id, call.name, call.arguments)
        for call in calls
    )


def _are_texts(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)


def _note(n_missing: int) -> str:
    return (
        f" [... {n_missing} characters of this text were left out here;"
        " its beginning and end are kept ...] "
    )


def _with_their_calls(messages: Sequence[ConversationMessage]) -> list[ConversationMessage]:
    """Return the messages without results of tools that none of them called before."""
    called: set[str] = set()
    kept = []
    for message in messages:
        called.update(call.id for call in message.tool_calls)
        if message.role != "tool" or message.tool_call_id in called:
            kept.append(message)
    return kept


def _json(message: ConversationMessage) -> dict[str, object]:
    shown: dict[str, object] = {"role": message.role, "text": message.text}
    if message.tool_calls:
        shown["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        shown["tool_call_id"] = message.tool_call_id
    return shown
