"""A chat model that says what a test tells it to."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Final, TypeAlias

from fingerpost.errors import LaneError
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.result import Usage

__all__ = ["Reply", "ScriptedChat"]

# A word with what is blank before and after the last; joined they are the text.
_WORD: Final = re.compile(r"\s*\S+(?:\s+\Z)?|\s+")

_Said: TypeAlias = str | ChatResponse | Exception
Reply: TypeAlias = _Said | Callable[[ChatRequest], _Said | Awaitable[_Said]]


class ScriptedChat:
    """A `ChatModel` that gives one reply per call, in order; the last one answers the rest.

    Args:
        replies: At least one. A text is said; a `ChatResponse` is returned with provider, model
            and usage filled in where they are empty; an exception is raised, and in a stream
            after the ``text`` that it carries, if any. A function of the request, plain or
            async, returns or raises one of these.
        provider: Route word.
        model: Name of the model.
        stream_pieces: Length of a streamed piece in characters; ``None`` streams word by word.

    Attributes:
        requests: What was asked, in the order of the calls.
        n_open: Calls and streams that are not finished or closed.
    """

    api = "testing"

    def __init__(
        self,
        replies: Sequence[Reply],
        provider: str = "testing",
        model: str = "scripted",
        stream_pieces: int | None = None,
    ) -> None:
        self.provider = provider
        self.model = model
        self.requests: list[ChatRequest] = []
        self.n_open = 0
        self._replies = tuple(replies)
        self._piece = stream_pieces
        self._lock = Lock()

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return or raise the next reply."""
        reply = self._begin(request)
        try:
            said = await self._said(reply, request)
        finally:
            self._end()
        if isinstance(said, Exception):
            raise said
        return said

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the next reply in pieces, then whole, or raise it."""
        reply = self._begin(request)
        try:
            said = await self._said(reply, request)
            text = said.text if isinstance(said, ChatResponse) else getattr(said, "text", "")
            for piece in self._pieces(text):
                yield piece
            if isinstance(said, Exception):
                raise said
            yield said
        finally:
            self._end()

    async def close(self) -> None:
        """There is nothing to close."""

    def _begin(self, request: ChatRequest) -> Reply:
        with self._lock:
            reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
            self.requests.append(request)
            self.n_open += 1
        return reply

    def _end(self) -> None:
        with self._lock:
            self.n_open -= 1

    async def _said(self, reply: Reply, request: ChatRequest) -> ChatResponse | Exception:
        if callable(reply):
            try:
                given = reply(request)
                reply = await given if inspect.isawaitable(given) else given
            except Exception as error:
                reply = error
        if isinstance(reply, Exception):
            if isinstance(reply, LaneError):
                reply.usage = (self._usage(request, "", type(reply).__name__),)
            return reply.with_traceback(None)
        response = ChatResponse(reply, "") if isinstance(reply, str) else reply
        return replace(
            response,
            model=response.model or f"{self.provider}/{self.model}",
            usage=response.usage or (self._usage(request, response.text, "ok"),),
        )

    def _usage(self, request: ChatRequest, text: str, outcome: str) -> Usage:
        return Usage(
            job=request.job,
            model=f"{self.provider}/{self.model}",
            input_tokens=sum(estimate_tokens(message.text) for message in request.messages),
            output_tokens=estimate_tokens(text),
            outcome=outcome,
            estimated=True,
        )

    def _pieces(self, text: str) -> list[str]:
        if self._piece is None:
            return _WORD.findall(text)
        return [text[at : at + self._piece] for at in range(0, len(text), self._piece)]
