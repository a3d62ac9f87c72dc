"""A host's own chat model, held to what a `ChatModel` promises."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager

import anyio

from fingerpost.errors import (
    BadResponseError,
    FingerpostError,
    LaneError,
    ProviderTimeoutError,
    StreamTruncatedError,
)
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.wrapped import WrappedChat
from fingerpost.types.chat import ChatRequest, ChatResponse


class GuardedChat(WrappedChat):
    """Wraps a model that may break its promises; whatever it does wrong is a `LaneError`.

    Args:
        model: The model.
        clock: Monotonic seconds, of which ``request.deadline`` speaks.
    """

    def __init__(self, model: ChatModel, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(model)
        self._clock = clock

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the reply. See `ChatModel.complete`."""
        with self._contained(), anyio.move_on_after(self._left(request)):
            return self._checked(await self._model.complete(request))
        raise self._late()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the reply up to its `ChatResponse`. See `ChatModel.stream`."""
        with self._contained():
            async with aclosing(self._model.stream(request)) as items:
                while True:
                    item = await self._next(items, request)
                    if item is None:
                        break
                    if isinstance(item, str):
                        if item:
                            yield item
                    else:
                        yield self._checked(item)
                        return
        raise StreamTruncatedError(
            f"{self._name} ended without a ChatResponse", provider=self.provider, model=self.model
        )

    async def _next(
        self, items: AsyncGenerator[str | ChatResponse], request: ChatRequest
    ) -> str | ChatResponse | None:
        """Return the next item in time, ``None`` at the end."""
        with anyio.move_on_after(self._left(request)):
            return await anext(items, None)
        raise self._late()

    def _left(self, request: ChatRequest) -> float:
        """Return the seconds up to the deadline, which the model may not keep itself."""
        return math.inf if request.deadline is None else request.deadline - self._clock()

    def _late(self) -> ProviderTimeoutError:
        return ProviderTimeoutError(
            f"{self._name} did not answer in time", provider=self.provider, model=self.model
        )

    @property
    def _name(self) -> str:
        return f"{self.provider}/{self.model}"

    def _checked(self, response: object) -> ChatResponse:
        if isinstance(response, ChatResponse) and isinstance(response.text, str):
            return response
        kind = type(response).__name__
        raise BadResponseError(
            f"{self._name} gave {kind} instead of a ChatResponse",
            provider=self.provider,
            model=self.model,
        )

    @contextmanager
    def _contained(self) -> Iterator[None]:
        try:
            yield
        except FingerpostError:
            raise
        except Exception as error:
            raise LaneError(f"{self._name} failed: {type(error).__name__}: {error}") from error
