"""What a model is asked: documents as fenced data, the conversation, the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.generate.pack import Packed, PackedHit, pack
from fingerpost.generate.plain import neutralise
from fingerpost.prompts import load_prompt
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types import Hit, Turn
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.evidence import PartEvidence

SENTINEL = "NOTHING_IN_THE_DOCUMENTS"
"""What the model replies when the documents do not answer."""

_MAX_TURN_CHARS = 2_000
_HEAD_TOKENS = 30


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer by a model may take.

    Attributes:
        max_context_tokens: Of the documents shown, estimated.
        max_answer_tokens: Of the reply.
        temperature: 0 to 2.
    """

    max_context_tokens: int = 4_000
    max_answer_tokens: int = 800
    temperature: float = 0.2


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the hits behind its numbers.

    Attributes:
        request: For the model.
        packed: Marker ``n`` of the reply names ``packed.kept[n - 1]``.
        prompt: Name and hash of the prompt.
        delimiter: Fences the documents; empty when there are none.
    """

    request: ChatRequest
    packed: Packed
    prompt: str
    delimiter: str = ""


def answer_request(
    question: str,
    hits: Sequence[Hit],
    *,
    history: Sequence[Turn],
    delimiter: str,
    limits: Limits,
    parts: Sequence[PartEvidence] = (),
    deadline: float | None = None,
    query_id: str = "",
) -> Asked:
    """Return the request for a cited answer.

    Args:
        question: Made to stand alone.
        hits: Best first; those that do not fit are left out, not cut off the end of the list.
        history: The conversation window, oldest first.
        delimiter: Random letters that no document can know; taken out of their text all the same.
        limits: Of context and reply.
        parts: What the question was split into; the model is told which documents were found for
            each, so that it can say which part has none.
        deadline: When the call must have ended, by the lane's clock.
        query_id: For events.
    """
    packed = pack(
        hits,
        max_tokens=limits.max_context_tokens,
        count=lambda text: estimate_tokens(text) + _HEAD_TOKENS,
    )
    shown = "\n".join(_document(n, one, delimiter) for n, one in enumerate(packed.kept, start=1))
    prompt = load_prompt("answer")
    request = ChatRequest(
        (
            Message("system", prompt.fill(sentinel=SENTINEL, delimiter=delimiter)),
            *_turns(history),
            Message("user", f"{shown}\n\nQuestion: {question}{_parts(parts, packed)}"),
        ),
        job="generate",
        max_tokens=limits.max_answer_tokens,
        temperature=limits.temperature,
        deadline=deadline,
        query_id=query_id,
    )
    return Asked(request, packed, f"{prompt.name}@{prompt.fingerprint}", delimiter)


def talk_request(
    text: str,
    *,
    history: Sequence[Turn],
    limits: Limits,
    deadline: float | None = None,
    query_id: str = "",
) -> Asked:
    """Return the request for a reply that needs nothing looked up. See `answer_request`."""
    prompt = load_prompt("talk")
    request = ChatRequest(
        (Message("system", prompt.text), *_turns(history), Message("user", text)),
        job="generate",
        max_tokens=limits.max_answer_tokens,
        temperature=limits.temperature,
        deadline=deadline,
        query_id=query_id,
    )
    return Asked(request, Packed((), (), 0), f"{prompt.name}@{prompt.fingerprint}")


def _parts(parts: Sequence[PartEvidence], packed: Packed) -> str:
    """Return each part of the question with the markers of what was found for it."""
    if not parts:
        return ""
    marker = {one.hit.chunk.id: f"[{n}]" for n, one in enumerate(packed.kept, start=1)}
    lines = []
    for part in parts:
        shown = [marker[hit.chunk.id] for hit in part.hits if hit.chunk.id in marker]
        lines.append(f"- {' '.join(part.question.split())}: {''.join(shown) or 'nothing'}")
    return "\n\nIts parts, and the documents that were found for each:\n" + "\n".join(lines)


def _turns(history: Sequence[Turn]) -> list[Message]:
    return [Message(turn.role, turn.text[:_MAX_TURN_CHARS]) for turn in history]


def _document(number: int, packed: PackedHit, delimiter: str) -> str:
    """Return one document between lines with the delimiter; no text of it can end the fence."""
    hit = packed.hit
    trail = " > ".join(hit.chunk.heading_path) or hit.document.title
    head = neutralise(f"[{number}] {hit.document.path} | {trail}").replace("\n", " ")
    body = neutralise(packed.text)
    inner = f"{head}\n{body}".replace(delimiter, "")
    return f"<<<{delimiter}\n{inner}\n{delimiter}>>>"
