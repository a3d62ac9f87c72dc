"""What a chat model writes for retrieval: passages to search with, and sub-questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.text.language import same_language
from fingerpost.types.chat import ChatRequest, Message

_MAX_QUESTION = 4_000
_MAX_PASSAGE = 1_200
_MAX_PART = 400
_TOKENS_PER_PASSAGE = 220
_TOKENS_PER_PART = 60


@dataclass(frozen=True, slots=True)
class Imagination:
    """Asks a chat model for texts to search with.

    Attributes:
        chat: The model.
        deadline: When a call must have ended, by the lane's clock; ``None`` for no limit.
        query_id: For events.
    """

    chat: ChatModel
    deadline: float | None = None
    query_id: str = ""

    async def passages(self, question: str, count: int) -> list[str]:
        """Return up to ``count`` passages that could answer the question, for HyDE.

        Those in another language than the question's are dropped; the list may be empty.
        HyDE is described by Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance
        Labels" (2022).

        Raises:
            LaneError: The model could not be asked, or its reply not be read.
        """
        found = await self._list(
            "hyde", "passages", question, count, _TOKENS_PER_PASSAGE, _MAX_PASSAGE
        )
        return [passage for passage in found if same_language(question, passage)][:count]

    async def sub_questions(self, question: str, most: int) -> list[str]:
        """Return what the question splits into, at most ``most``; empty when it has one part.

        Parts in another language than the question's are dropped.

        Raises:
            LaneError: The model could not be asked, or its reply not be read.
        """
        found = await self._list(
            "decompose", "questions", question, most, _TOKENS_PER_PART, _MAX_PART
        )
        parts = list(dict.fromkeys(part for part in found if same_language(question, part)))
        return parts[:most] if len(parts) > 1 else []

    async def _list(
        self, job: str, key: str, question: str, count: int, tokens_each: int, longest: int
    ) -> list[str]:
        prompt = load_prompt(job).fill(count=str(count), question=question[:_MAX_QUESTION])
        request = ChatRequest(
            (Message("user", prompt),),
            job=job,
            max_tokens=count * tokens_each + _TOKENS_PER_PART,
            temperature=0.0,
            schema=texts_schema(key),
            deadline=self.deadline,
            query_id=self.query_id,
        )
        return await ask_json(self.chat, request, read_texts(key, longest))


def texts_schema(key: str) -> Mapping[str, object]:
    """Return the schema of an object with a list of texts under ``key``."""
    return {
        "type": "object",
        "properties": {key: {"type": "array", "items": {"type": "string"}}},
        "required": [key],
        "additionalProperties": False,
    }


_MOST_ITEMS: Final = 20


def read_texts(key: str, longest: int) -> Callable[[object], list[str] | None]:
    """Return what reads such an object: each text on one line, cut at ``longest``, at most 20."""

    def read(value: object) -> list[str] | None:
        items = value.get(key) if isinstance(value, dict) else value
        if not isinstance(items, list):
            return None
        texts = (" ".join(item.split())[:longest] for item in items if isinstance(item, str))
        return [text for text in texts if any(map(str.isalnum, text))][:_MOST_ITEMS]

    return read
