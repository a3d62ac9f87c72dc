"""Sentences that the sources do not bear out, written anew from the sources by a chat model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.types.answer import ClaimVerdict
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.document import Span
from fingerpost.verify.base import SourceText
from fingerpost.verify.unseen import without_unseen

_MAX_TOKENS = 1_200
_MOST_CHARS = 32_000
_LONGEST = 1_000
_OPENING_SIGNS = re.compile(r"^(?:[-*+>#]+\s+|\d{1,3}[.)]\s+)+")
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["number", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["sentences"],
    "additionalProperties": False,
}


async def rewrite_claims(
    chat: ChatModel,
    answer: str,
    claims: Sequence[ClaimVerdict],
    sources: Sequence[SourceText],
    *,
    delimiter: str,
    deadline: float | None = None,
    query_id: str = "",
) -> dict[Span, str]:
    """Return a new text, one line, for the place of each claim; empty where it is to go.

    Nothing that a model writes is safe to show before it has been cleaned.

    Args:
        chat: The model, asked once.
        answer: The text that the claims stand in.
        claims: Those to write anew; those without a place are left out.
        sources: What the answer rests on, all of it shown as far as 32,000 characters go.
        delimiter: Letters that no document can know; taken out of their text all the same.
        deadline: When the call must have ended, by the lane's clock.
        query_id: For events.

    Raises:
        MalformedOutputError: Two replies could not be read.
        LaneError: A call failed.
    """
    places = [(claim, claim.span) for claim in claims if claim.span is not None]
    if not places:
        return {}
    listed = [
        {
            "number": number,
            "text": answer[span.start : span.end],
            "found": "; ".join((claim.verdict.value, *claim.reasons)),
        }
        for number, (claim, span) in enumerate(places, start=1)
    ]
    request = ChatRequest(
        (
            Message(
                "user",
                load_prompt("repair").fill(
                    delimiter=delimiter,
                    documents=_documents(sources, delimiter),
                    sentences=json.dumps(listed, ensure_ascii=False, indent=1),
                ),
            ),
        ),
        job="generate",
        max_tokens=_MAX_TOKENS,
        temperature=0.0,
        schema=_SCHEMA,
        deadline=deadline,
        query_id=query_id,
    )
    written = await ask_json(chat, request, lambda value: _read(value, len(places)))
    return {span: written.get(number, "") for number, (_, span) in enumerate(places, start=1)}


def replaced(answer: str, rewrites: Mapping[Span, str]) -> str:
    """Return the answer with each place filled by its new text; empty texts leave it as it is."""
    parts, at = [], 0
    for span in sorted(rewrites):
        if rewrites[span]:
            parts += [answer[at : span.start], rewrites[span]]
            at = span.end
    return "".join((*parts, answer[at:]))


def _documents(sources: Sequence[SourceText], delimiter: str) -> str:
    room = _MOST_CHARS // max(1, len(sources))
    shown = []
    for source in sources:
        inner = f"[{source.index}] {source.ref}\n{without_unseen(source.text)[:room]}"
        shown.append(f"<<<{delimiter}\n{inner.replace(delimiter, '')}\n{delimiter}>>>")
    return "\n".join(shown)


def _read(value: object, n_sentences: int) -> dict[int, str] | None:
    """Return number → text of a reply, ``None`` when it is something else."""
    listed = value.get("sentences") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return None
    found: dict[int, str] = {}
    for item in listed:
        number = item.get("number") if isinstance(item, dict) else None
        text = item.get("text") if isinstance(item, dict) else None
        if isinstance(number, bool) or not isinstance(number, int) or not isinstance(text, str):
            return None
        if not 1 <= number <= n_sentences:
            return None
        line = _OPENING_SIGNS.sub("", " ".join(without_unseen(text).split()))
        found[number] = line if len(line) <= _LONGEST else ""
    return found
