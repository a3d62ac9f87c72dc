"""A reply that is being read, whole or piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field

from fingerpost.types.chat import TokenLogprob

__all__ = ["Draft"]


@dataclass(slots=True)
class Draft:
    """What an adapter has understood of a reply so far.

    Attributes:
        pieces: The answer's text, in order.
        is_reply: The provider's shape was recognised: an answer, if perhaps an empty one.
        is_ended: The provider announced the end: a finish reason, or its own end event.
        is_over: Nothing more is to be read of a stream.
        is_failed: It ended because something went wrong on the other side.
        is_cut: It ended because of a token limit.
        refusal: Why it was declined, empty when it was not.
        has_thought: Reasoning was told, or its tokens were counted.
        has_progress: The last event carried text or reasoning, not only a sign of life.
        input_tokens: ``None`` when not told.
        output_tokens: ``None`` when not told.
        cached_tokens: Those of ``input_tokens`` that the provider had in its cache.
        logprobs: Of the tokens, in order.
        request_id: The provider's id of the call, when the body tells it.
    """

    pieces: list[str] = field(default_factory=list)
    is_reply: bool = False
    is_ended: bool = False
    is_over: bool = False
    is_failed: bool = False
    is_cut: bool = False
    refusal: str = ""
    has_thought: bool = False
    has_progress: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    logprobs: list[TokenLogprob] = field(default_factory=list)
    request_id: str = ""

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    def add(self, text: str) -> None:
        """Take the next piece of text; an empty one is none."""
        if text:
            self.pieces.append(text)
            self.has_progress = True

    def think(self) -> None:
        """Take note of reasoning, which is no text but a sign that the model works."""
        self.has_thought = self.has_progress = True

    def end(
        self,
        reason: str,
        *,
        cut: frozenset[str],
        refused: frozenset[str] = frozenset(),
        failed: frozenset[str] = frozenset(),
    ) -> None:
        """Take the provider's word for why it ended; an empty one is none."""
        if reason:
            self.is_ended = True
            self.is_cut = reason in cut
            self.is_failed = reason in failed
            if reason in refused:
                self.refusal = reason
