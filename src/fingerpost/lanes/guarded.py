"""A host's own chat model, held to what a `ChatModel` promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

from fingerpost.errors import BadResponseError, FingerpostError, LaneError, StreamTruncatedError
from fingerpost.lanes.wrapped import WrappedChat
from fingerpost.types.chat import ChatRequest, ChatResponse


class GuardedChat(WrappedChat):
    """Wraps a model that may break its promises; whatever it does wrong is a `LaneError`."""

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the reply. See `ChatModel.complete`."""
        with self._contained():
            response = await self._model.complete(request)
        return self._checked(response)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the reply up to its `ChatResponse`. See `ChatModel.stream`."""
        with self._contained():
            async with aclosing(self._model.stream(request)) as items:
                async for item in items:
                    if isinstance(item, str):
                        if item:
                            yield item
                    else:
                        yield self._checked(item)
                        return
        raise StreamTruncatedError(
            f"{self._name} ended without a ChatResponse", provider=self.provider, model=self.model
        )

    async def close(self) -> None:
        """Close the model where it can be closed."""
        if hasattr(self._model, "close"):
            await self._model.close()

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
