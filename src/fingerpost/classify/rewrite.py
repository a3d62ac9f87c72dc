"""A follow-up made to stand alone by a chat model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fingerpost.classify.conversation import shown_turns
from fingerpost.classify.followup import repeats_first
from fingerpost.classify.words import filler_words, unspaced_characters, words_of
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.text.language import same_language
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.query import Turn

_MAX_TOKENS = 300
_MAX_CHARS = 2_000
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"standalone": {"type": "string"}},
    "required": ["standalone"],
    "additionalProperties": False,
}


async def rewrite_with_model(
    chat: ChatModel,
    text: str,
    history: Sequence[Turn],
    *,
    deadline: float | None = None,
    query_id: str = "",
) -> str:
    """Return the question made to stand alone, the question itself when it does already.

    What repeats the question that opened the conversation, or is too long to be a follow-up, is
    not sent. A rewrite in another language than the conversation's is not taken; one that has no
    word of it, or more than 2,000 characters, counts as a reply that could not be read.

    Args:
        chat: The model.
        text: The question.
        history: The conversation window, oldest first.
        deadline: When the call must have ended, by the lane's clock.
        query_id: For events.

    Raises:
        MalformedOutputError: Two replies could not be read.
        LaneError: A call failed.
    """
    asked = text.strip()
    if not history or len(asked) > _MAX_CHARS or repeats_first(asked, history):
        return asked
    request = ChatRequest(
        (
            Message(
                "user",
                load_prompt("rewrite").fill(conversation=shown_turns(history), question=asked),
            ),
        ),
        job="rewrite",
        max_tokens=_MAX_TOKENS,
        temperature=0.0,
        schema=_SCHEMA,
        deadline=deadline,
        query_id=query_id,
    )
    said = (asked, *(turn.text for turn in history))
    rewritten = await ask_json(chat, request, _reader(said))
    return rewritten if any(same_language(text, rewritten) for text in said) else asked


def _reader(said: Sequence[str]) -> Callable[[object], str | None]:
    spoken = {word for text in said for word in words_of(text)}

    def read(value: object) -> str | None:
        found = value.get("standalone") if isinstance(value, dict) else None
        if not isinstance(found, str) or not found.strip() or len(found) > _MAX_CHARS:
            return None
        words = set(words_of(found)) - filler_words(found)
        # A small model copies the example of the prompt, which would be searched then.
        strange = words.isdisjoint(spoken) and not unspaced_characters(found)
        return None if words and strange else " ".join(found.split())

    return read
