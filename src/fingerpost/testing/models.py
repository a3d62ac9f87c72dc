"""Deterministic models for tests: no network, no third party but numpy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["HashEmbedder"]

_WORD: Final = re.compile(r"\w+")


class HashEmbedder:
    """An `EmbeddingModel` whose vectors are sums of hashed words: shared words, near vectors.

    Args:
        dimension: Length of each vector.
        revision: What the model says of its weights; another one is another model.
        languages: ISO 639-1 codes that it claims.

    Attributes:
        n_calls: Calls of `embed` so far.
        n_texts: Texts embedded so far.
        texts: These texts, in order.
    """

    def __init__(
        self,
        dimension: int = 64,
        *,
        revision: str = "1",
        max_tokens: int = 254,
        languages: frozenset[str] = frozenset({"en"}),
    ) -> None:
        self.name = "testing/hash"
        self.revision = revision
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.languages = languages
        self.n_calls = 0
        self.n_texts = 0
        self.texts: list[str] = []
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length vector per text, in order, and count the call."""
        with self._lock:
            self.n_calls += 1
            self.n_texts += len(texts)
            self.texts.extend(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return the number of words of ``text``."""
        return len(_WORD.findall(text))

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, dtype=np.float64)
        vector[0] = 1e-3  # an empty text has a direction too
        for word in _WORD.findall(text.casefold())[: self.max_tokens]:
            seed = blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
            number = int.from_bytes(seed, "big")
            vector[number % self.dimension] += 1.0 if number >> 63 else -1.0
            vector[(number >> 20) % self.dimension] += 1.0 if number >> 62 & 1 else -1.0
        unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit
