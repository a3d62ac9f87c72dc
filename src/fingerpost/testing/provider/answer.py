"""What a scripted provider is asked and what it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from fingerpost.types.question import Question

__all__ = ["Answer", "Received"]

_WORD: Final = re.compile(r"\s*\S+\s*?(?=\s|\Z)|\s+\Z")


@dataclass(frozen=True, slots=True)
class Received:
    """One request that came in.

    Attributes:
        api: ``openai``, ``anthropic``, ``gemini``, ``ollama``, ``systemone`` or ``rerank``; empty
            for an unknown path.
        kind: ``chat``, ``embed``, ``decide``, ``rerank`` or ``models``; empty for an unknown path.
        method: ``GET`` or ``POST``.
        path: With the query, as it came.
        headers: Names in lower case.
        body: The JSON that was posted, an empty object when it is none.
        raw: The body's bytes.
        model: The model that was asked for.
        stream: The answer is wanted in pieces.
        messages: Role and text of each, the system text first; empty unless ``chat``.
        texts: What is to be embedded or ranked; empty unless ``embed`` or ``rerank``.
        schema: JSON schema that the answer must follow, in the API's own field for it;
            ``None`` when none is given.
        questions: Under their names on the wire; empty unless ``decide``.
    """

    api: str
    kind: str
    method: str
    path: str
    headers: Mapping[str, str] = field(hash=False)
    body: Mapping[str, Any] = field(hash=False)
    raw: bytes = b""
    model: str = ""
    stream: bool = False
    messages: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    questions: tuple[Question, ...] = ()

    @property
    def input(self) -> Any:
        """What the questions are about, as it was sent; ``None`` unless ``decide``."""
        return self.body.get("state", self.body.get("input")) if self.kind == "decide" else None

    @property
    def prompt(self) -> str:
        """The text of the last message, empty when there is none."""
        return self.messages[-1][1] if self.messages else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the model, told in the shape of whichever API was asked.

    Attributes:
        text: What it says; may be empty.
        pieces: How a stream cuts it up; empty cuts at words.
        stop: Why it ends: ``complete``, ``length`` or ``refused``.
        reasoning: What it thinks before, in the API's own field for it.
        usage: Tokens in and out; ``None`` leaves them out.
        cached: How many of the tokens in were in the provider's cache; Ollama tells none.
        logprobs: Tokens with their log-probabilities, told when asked for.
        delay_s: Seconds until it begins.
    """

    text: str = ""
    pieces: tuple[str, ...] = ()
    stop: Literal["complete", "length", "refused"] = "complete"
    reasoning: str = ""
    usage: tuple[int, int] | None = (11, 7)
    cached: int = 0
    logprobs: tuple[tuple[str, float], ...] = ()
    delay_s: float = 0.0

    @property
    def cut_up(self) -> tuple[str, ...]:
        """The pieces of a stream; joined they are the text."""
        return self.pieces or tuple(_WORD.findall(self.text))
