"""Further queries by a chat model, which sees the question and the headings found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.retrieve.imagine import read_texts, texts_schema
from fingerpost.retrieve.research_notes import Notes
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.evidence import Hit

JOB: Final = "research"
PATIENCE_S: Final = 10.0
_TOKENS_PER_QUERY: Final = 40
_LONGEST_QUERY: Final = 200
_LONGEST_QUESTION: Final = 2_000
_LONGEST_HEADING: Final = 160
_MOST_HEADINGS: Final = 30
_NONE: Final = "none"


async def written_queries(
    chat: ChatModel,
    question: str,
    open_parts: Sequence[str],
    notes: Notes,
    most: int,
    *,
    seconds: float,
    query_id: str = "",
) -> list[str]:
    """Return up to ``most`` queries for what is open; none when the model sees nothing open.

    Args:
        chat: The model.
        question: As it was asked.
        open_parts: Parts of it that the evidence does not cover.
        notes: The evidence, of which the model sees titles and headings.
        most: >= 1.
        seconds: How long the call may take, at most 10.
        query_id: For events.

    Raises:
        LaneError: The model could not be asked, or its reply not be read.
    """
    prompt = load_prompt(JOB).fill(
        count=str(most),
        question=_line(question, _LONGEST_QUESTION),
        open=_lines(open_parts),
        asked=_lines(sorted(notes.asked)),
        found=_lines(list(dict.fromkeys(map(_trail, notes.hits)))[:_MOST_HEADINGS]),
    )
    request = ChatRequest(
        (Message("user", prompt),),
        job=JOB,
        max_tokens=(most + 1) * _TOKENS_PER_QUERY,
        temperature=0.0,
        schema=texts_schema("queries"),
        deadline=time.monotonic() + min(seconds, PATIENCE_S),
        query_id=query_id,
    )
    return await ask_json(chat, request, read_texts("queries", _LONGEST_QUERY))


def _trail(hit: Hit) -> str:
    return " > ".join((hit.document.title, *hit.chunk.heading_path))


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {_line(text, _LONGEST_HEADING)}" for text in texts) or _NONE


def _line(text: str, longest: int) -> str:
    return " ".join(text.split())[:longest].replace("==", "=")
