"""Vectors of texts, held against what an embedding model promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.errors import EmbeddingError
from fingerpost.lanes.base import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def vectors_of(embedder: EmbeddingModel, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one vector per text, in order: shape (number of texts, the model's dimension).

    Args:
        embedder: Any embedding model, the host's own included.
        texts: At least one.

    Raises:
        EmbeddingError: It gave too few, others than numbers, or some that are not finite.
    """
    try:
        rows = np.asarray(embedder.embed(texts), dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingError(f"{embedder.name} gave no vectors: {error}") from error
    wanted = (len(texts), embedder.dimension)
    if rows.shape != wanted:
        raise EmbeddingError(f"{embedder.name} gave vectors of shape {rows.shape}, not {wanted}")
    if not np.isfinite(rows).all():
        raise EmbeddingError(f"{embedder.name} gave a vector that is not finite")
    return rows
