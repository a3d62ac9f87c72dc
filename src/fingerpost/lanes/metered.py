"""An embedding model that counts what went through it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.result import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MeteredEmbedder:
    """Wraps an `EmbeddingModel`; one object per question."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self.n_calls = 0
        self.n_tokens = 0

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

    def count_tokens(self, text: str) -> int:
        """Return the wrapped model's count."""
        return self._model.count_tokens(text)

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
