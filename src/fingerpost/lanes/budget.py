"""What one question spends on models."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from fingerpost.errors import LaneError
from fingerpost.lanes.base import ChatModel, EmbeddingModel
from fingerpost.lanes.wrapped import WrappedEmbedder
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.result import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Meter:
    """Counts the model calls of one question, failed attempts included, in their order.

    Args:
        budget_usd: US dollars that the question may spend; ``None`` sets no limit.
    """

    def __init__(self, budget_usd: float | None = None) -> None:
        self.budget_usd = budget_usd
        self._lock = threading.Lock()
        self._usage: list[Usage] = []

    @property
    def usage(self) -> tuple[Usage, ...]:
        """Return one item per call so far."""
        with self._lock:
            return tuple(self._usage)

    def spent(self, usage: Sequence[Usage]) -> None:
        """Note what a call has used."""
        with self._lock:
            self._usage.extend(usage)

    def around(self, model: ChatModel) -> ChatModel:
        """Return the model, its calls counted here."""
        return _MeteredChat(model, self)

    def around_embedder(self, model: EmbeddingModel) -> EmbeddingModel:
        """Return the embedding model, its calls counted here."""
        return _MeteredEmbedder(model, self)


class _MeteredChat:
    def __init__(self, model: ChatModel, meter: Meter) -> None:
        self._model = model
        self._meter = meter
        self.provider = model.provider
        self.api = model.api
        self.model = model.model

    async def complete(self, request: ChatRequest) -> ChatResponse:
        try:
            response = await self._model.complete(request)
        except LaneError as error:
            self._meter.spent(error.usage)
            raise
        self._meter.spent(response.usage)
        return response

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        try:
            async with aclosing(self._model.stream(request)) as items:
                async for item in items:
                    if isinstance(item, ChatResponse):
                        self._meter.spent(item.usage)
                    yield item
        except LaneError as error:
            self._meter.spent(error.usage)
            raise

    async def close(self) -> None:
        await self._model.close()


class _MeteredEmbedder(WrappedEmbedder):
    def __init__(self, model: EmbeddingModel, meter: Meter) -> None:
        super().__init__(model)
        self._meter = meter

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._model.embed(texts)
        self._meter.spent(
            [
                Usage(
                    job="embed",
                    model=self.name,
                    input_tokens=sum(self._model.count_tokens(text) for text in texts),
                    cost_usd=0.0 if self.name.startswith("local/") else None,
                )
            ]
        )
        return vectors
