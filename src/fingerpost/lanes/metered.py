"""An embedding model that counts what went through it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.wrapped import WrappedEmbedder
from fingerpost.types.result import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MeteredEmbedder(WrappedEmbedder):
    """Wraps an `EmbeddingModel`; one object per question."""

    def __init__(self, model: EmbeddingModel) -> None:
        super().__init__(model)
        self._lock = threading.Lock()
        self.n_calls = 0
        self.n_tokens = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed and count. See `EmbeddingModel.embed`."""
        n_tokens = sum(self._model.count_tokens(text) for text in texts)
        with self._lock:
            self.n_calls += 1
            self.n_tokens += n_tokens
        return self._model.embed(texts)

    def usage(self) -> Usage:
        """Return what went through so far; local models cost nothing."""
        return Usage(
            job="embed",
            model=self.name,
            input_tokens=self.n_tokens,
            cost_usd=0.0 if self.name.startswith("local/") else None,
        )
