"""A chat model as a reranker: all passages judged in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Final

from fingerpost.decide.chat_fence import fill_fenced, one_line
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.ranking import Ranking

_BEST: Final = 10.0
_TOKENS_EACH: Final = 16
_TOKENS_MORE: Final = 32


class ChatReranker:
    """A `RerankModel` that asks a chat model for a score from 0 to 10 for each passage.

    A passage that the model leaves out scores 0. What the calls take is counted where the chat
    model counts, so the ranking carries no usage.

    Args:
        chat: The model.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def provider(self) -> str:
        """The chat model's route word."""
        return self._chat.provider

    @property
    def model(self) -> str:
        """The chat model's name."""
        return self._chat.model

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        """Return the scores. See `RerankModel.rerank`.

        Raises:
            MalformedOutputError: The model gave no scores, asked twice.
            LaneError: A call failed.
        """
        passages = (f"{n}. {one_line(text)}" for n, text in enumerate(texts, start=1))
        prompt = fill_fenced(
            load_prompt("rerank"), question=one_line(query), passages="\n".join(passages)
        )
        request = ChatRequest(
            (Message("user", prompt),),
            job="rerank",
            max_tokens=len(texts) * _TOKENS_EACH + _TOKENS_MORE,
            temperature=0.0,
            schema=_SCHEMA,
            deadline=deadline,
            query_id=query_id,
        )
        return Ranking(await ask_json(self._chat, request, _reader(len(texts))))

    async def close(self) -> None:
        """Close the chat model's idle connections."""
        await self._chat.close()


_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "scores": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"passage": {"type": "integer"}, "score": {"type": "number"}},
                "required": ["passage", "score"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["scores"],
    "additionalProperties": False,
}


def _reader(n_texts: int) -> Callable[[object], tuple[float, ...] | None]:
    def read(value: object) -> tuple[float, ...] | None:
        items = value.get("scores") if isinstance(value, dict) else None
        if not isinstance(items, list):
            return None
        told = dict(filter(None, map(_entry, items)))
        known = {place: score for place, score in told.items() if 1 <= place <= n_texts}
        if not known:
            return None
        return tuple(known.get(place, 0.0) for place in range(1, n_texts + 1))

    return read


def _entry(item: object) -> tuple[int, float] | None:
    if not isinstance(item, dict):
        return None
    place, score = item.get("passage"), item.get("score")
    if not isinstance(place, int) or not isinstance(score, int | float) or not isfinite(score):
        return None
    return place, min(1.0, max(0.0, score / _BEST))
