"""Reasoning that a model writes into its answer, between tags, and that is no part of it."""

from __future__ import annotations

from typing import Final

__all__ = ["ThoughtFilter"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThoughtFilter:
    """Lets through what stands after a leading ``<think>…</think>``, however it is cut up.

    Only at the beginning of a reply: further on the tag is text about the tag.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"

    @property
    def is_thinking(self) -> bool:
        """The block has begun and not ended."""
        return self._state == "inside"

    def feed(self, piece: str) -> str:
        """Return what of ``piece``, and of what was held back, belongs to the answer."""
        if self._state == "through":
            return piece
        self._held += piece
        if self._state == "gap":
            return self._after(self._held)
        if self._state == "before":
            start = self._held.lstrip()
            if not start.startswith(_OPEN):
                return "" if _OPEN.startswith(start) else self._let_through(self._held)
            self._state, self._held = "inside", start[len(_OPEN) :]
        at = self._held.find(_CLOSE)
        if at < 0:
            self._held = self._held[-len(_CLOSE) :]
            return ""
        return self._after(self._held[at + len(_CLOSE) :])

    def end(self) -> str:
        """Return what was held back when nothing follows; an unfinished thought is nothing."""
        return self._let_through(self._held) if self._state == "before" else ""

    def _after(self, text: str) -> str:
        """Drop the blank lines between block and answer, which may still be to come."""
        self._held = text.lstrip()
        if not self._held:
            self._state = "gap"
            return ""
        return self._let_through(self._held)

    def _let_through(self, text: str) -> str:
        self._state, self._held = "through", ""
        return text
