"""An answer by a chat model: streamed or whole, its markers resolved, nothing active in it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from fingerpost.errors import MalformedOutputError
from fingerpost.generate.cite import MarkerStream
from fingerpost.generate.request import SENTINEL, Asked
from fingerpost.generate.safe import SafeStream
from fingerpost.lanes.base import ChatModel
from fingerpost.text.sentences import sentences
from fingerpost.types import Answer, GenerationMode
from fingerpost.types.chat import ChatResponse, StopReason

_MARKS = " *_`\"'“”„«»>#"
_SAID = re.compile(rf"[*`\"'“„«]*{SENTINEL}[*`\"'”“»]*\.?")
_LONGEST_LEAD = 200
_CHARS_PER_TOKEN = 32


async def write_answer(
    chat: ChatModel, asked: Asked, *, live: bool
) -> AsyncGenerator[str | Answer | None]:
    """Yield the safe pieces of an answer, then the answer; joined, the pieces are its text.

    ``None`` instead of the answer means that the model said that the documents hold none; no
    piece was yielded then. A reply cut off at its token limit is ``truncated``; when nothing
    has been yielded yet its last, unfinished sentence is left out. What passes 32 characters for
    each token that was asked for is not read.

    Args:
        chat: The model.
        asked: What it is asked.
        live: Yield pieces as they come; else one piece when the reply is whole.

    Raises:
        StreamTruncatedError: The reply broke off after a piece had been yielded.
        MalformedOutputError: Nothing was left of the reply once it was safe.
        LaneError: It failed before.
    """
    draft = _Draft(asked)
    if live:
        async with aclosing(chat.stream(asked.request)) as reply:
            async for piece in reply:
                if isinstance(piece, ChatResponse):
                    draft.truncated = piece.stop is StopReason.LENGTH
                elif text := draft.feed(piece):
                    yield text
                if draft.is_full:
                    break
        if rest := draft.close():
            yield rest
    else:
        response = await chat.complete(asked.request)
        draft.truncated = response.stop is StopReason.LENGTH
        said = _whole_sentences(response.text) if draft.truncated else response.text
        if whole := draft.feed(said) + draft.close():
            yield whole
    answer = draft.answer()
    if answer is None and not draft.is_declined:
        raise MalformedOutputError("nothing that may be shown was left of the model's reply")
    yield answer


@dataclass(slots=True)
class _Draft:
    """An answer in the making."""

    asked: Asked
    truncated: bool = False
    _start: str = ""
    _begun: bool = False
    _led: bool = False
    _text: str = ""
    _blanks: str = ""
    _room: int = field(init=False)
    _safe: SafeStream = field(init=False)
    _markers: MarkerStream = field(init=False)

    def __post_init__(self) -> None:
        self._room = (self.asked.request.max_tokens or 0) * _CHARS_PER_TOKEN
        kept = self.asked.packed.kept
        known = "\n".join(packed.text for packed in kept)
        self._safe = SafeStream(known, self.asked.delimiter)
        self._markers = MarkerStream(len(kept))

    @property
    def is_declined(self) -> bool:
        """Whether the whole reply said that the documents do not answer; there were some."""
        return not self._begun and bool(self.asked.packed.kept)

    @property
    def is_full(self) -> bool:
        """Whether more has come than the tokens that were asked for can hold."""
        return self._room < 0

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what is certain of the answer."""
        piece, self._room = piece[: max(0, self._room)], self._room - len(piece)
        if not self._begun:
            self._start = (self._start + piece).lstrip()
            if SENTINEL.startswith(self._start.lstrip(_MARKS)[: len(SENTINEL)]):
                self._start = self._start[:_LONGEST_LEAD]
                return ""  # it may turn out to be no answer
            piece, self._begun = self._start, True
        return self._marked(self._safe.feed(piece))

    def close(self) -> str:
        """Return the rest of the answer."""
        rest = ""
        if not self._begun and not self._start.lstrip(_MARKS).startswith(SENTINEL):
            self._begun = True
            rest = self._marked(self._safe.feed(self._start))
        rest += self._marked(self._safe.close()) + self._kept(self._markers.close())
        return rest if self._begun else ""

    def _marked(self, safe: str) -> str:
        """Return safe text with its markers resolved, without blanks that begin the answer."""
        safe = _SAID.sub("", safe)
        safe = safe if self._led else safe.lstrip()
        self._led |= bool(safe)
        return self._kept(self._markers.feed(safe))

    def _kept(self, text: str) -> str:
        """Return the text without the blanks that may turn out to end the answer."""
        text = self._blanks + text
        shown = text.rstrip()
        self._blanks = text[len(shown) :]
        self._text += shown
        return shown

    def answer(self) -> Answer | None:
        """Return the answer, ``None`` when there is none."""
        if not self._text.strip():
            return None
        return Answer(
            text=self._text,
            mode=GenerationMode.MODEL,
            citations=tuple(self._markers.citations),
            cited_chunk_ids=tuple(packed.hit.chunk.id for packed in self.asked.packed.kept),
            removed_markers=self._markers.removed,
            truncated=self.truncated or self.is_full,
            left_out=self.asked.packed.dropped,
            prompt=self.asked.prompt,
        )


def _whole_sentences(text: str) -> str:
    """Return the text without its last sentence, all of it when it has but one."""
    spans = sentences(text)
    return text[: spans[-2].end] if len(spans) > 1 else text
