"""The bases of whatever stands around a model and adds behaviour to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Generic, TypeVar

from fingerpost.lanes.asked import called, passed_on
from fingerpost.lanes.base import AnyModel, ChatModel, DecisionModel, EmbeddingModel
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import DecisionInput, DecisionResponse, Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

M = TypeVar("M", bound=AnyModel)


class Wrapped(Generic[M]):
    """Stands around a model under its name; a host's own need not have one, nor a ``close``."""

    def __init__(self, model: M) -> None:
        self._model = model

    @property
    def provider(self) -> str:
        """Return the wrapped model's route word."""
        return called(self._model)[0]

    @property
    def model(self) -> str:
        """Return the wrapped model's name."""
        return called(self._model)[1]

    @property
    def server(self) -> str:
        """Return the wrapped model's host and port, empty where it has none."""
        return getattr(self._model, "server", "")

    async def close(self) -> None:
        """Close the wrapped model where it can be closed."""
        if hasattr(self._model, "close"):
            await self._model.close()


class WrappedChat(Wrapped[ChatModel]):
    """A `ChatModel` that hands everything on to another one."""

    @property
    def api(self) -> str:
        """Return the wrapped model's API shape."""
        return self._model.api

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the wrapped model's reply. See `ChatModel.complete`."""
        return await self._model.complete(request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield what the wrapped model streams. See `ChatModel.stream`."""
        async with aclosing(self._model.stream(request)) as items:
            async for item in items:
                yield item


class WrappedEmbedder:
    """An `EmbeddingModel` that hands everything on to another one."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Return the wrapped model's name."""
        return self._model.name

    @property
    def revision(self) -> str:
        """Return the wrapped model's revision."""
        return self._model.revision

    @property
    def dimension(self) -> int:
        """Return the wrapped model's dimension."""
        return self._model.dimension

    @property
    def max_tokens(self) -> int:
        """Return the wrapped model's limit."""
        return self._model.max_tokens

    @property
    def languages(self) -> frozenset[str]:
        """Return the wrapped model's languages."""
        return self._model.languages

    @property
    def batch_size(self) -> int:
        """Return how many texts the wrapped model likes at once; 1 unless it says otherwise."""
        size: int = getattr(self._model, "batch_size", 1)
        return size

    @property
    def overhead_tokens(self) -> int:
        """Return the tokens that the next call sends beside its texts."""
        n_tokens: int = getattr(self._model, "overhead_tokens", 0)
        return n_tokens

    def count_tokens(self, text: str) -> int:
        """Return the wrapped model's count."""
        return self._model.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the wrapped model's vectors. See `EmbeddingModel.embed`."""
        return self._model.embed(texts)


class WrappedDecision(Wrapped[DecisionModel]):
    """A `DecisionModel` that hands everything on to another one."""

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        """Return the wrapped model's answers. See `DecisionModel.decide`."""
        return await passed_on(self._model, input, questions, deadline=deadline, query_id=query_id)
