"""The base of whatever stands around an embedding model and adds behaviour to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fingerpost.lanes.base import EmbeddingModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    def count_tokens(self, text: str) -> int:
        """Return the wrapped model's count."""
        return self._model.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the wrapped model's vectors. See `EmbeddingModel.embed`."""
        return self._model.embed(texts)
