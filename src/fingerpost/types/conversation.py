"""A conversation with tools in it, as a decision model may be shown it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the assistant asked for.

    Attributes:
        id: Ties it to its result.
        name: Of the tool.
        arguments: JSON text.
    """

    id: str
    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message of a conversation.

    Attributes:
        role: Who said it; ``tool`` for the result of a tool call.
        text: What was said.
        tool_calls: Of an assistant message; all of them count as one message with it.
        tool_call_id: Of a tool result: the call that it answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
