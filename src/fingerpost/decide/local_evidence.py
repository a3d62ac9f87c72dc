"""How far a question speaks for each of the described sources."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.decide.local_source import SourceDescription
from fingerpost.decide.vectors import vectors_of
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.text.analyse import query_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES: Final = ("nearest", "centre", "heading", "words")
"""The columns of `LocalEvidence.of`."""

_TEMPLATES: Final = ("{}", "questions about {}", "What about {}?", "Help with {}.")


class LocalEvidence:
    """What is known of the sources, ready to be compared with questions.

    Everything is embedded once, when it is built; a question then costs one product.

    Args:
        sources: At least one.
        embedder: ``None`` compares words only; the other features are then 0.

    Raises:
        EmbeddingError: The embedding model gave no usable vector.
    """

    def __init__(
        self, sources: Sequence[SourceDescription], embedder: EmbeddingModel | None
    ) -> None:
        self._embedder = embedder
        self._words = _Words(
            [[source.heading, *source.own_texts, *source.gloss] for source in sources]
        )
        if embedder is not None:
            rows = [_rows(source, embedder) for source in sources]
            self._sizes = list(map(len, rows))
            self._starts = np.cumsum([0, *self._sizes[:-1]])
            self.rows = np.vstack(rows)
            self.headings = np.vstack([_asked(_heading(source), embedder) for source in sources])
            self.centres = _unit(np.add.reduceat(self.rows, self._starts, axis=0))

    @property
    def owners(self) -> NDArray[np.int64]:
        """Return the place of the source that each of `rows` belongs to."""
        return np.repeat(np.arange(len(self._sizes)), self._sizes)

    def of(self, text: str, embedding: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        """Return the evidence for each source: shape (number of sources, 4), see `FEATURES`.

        The first three are cosines with the nearest text, the mean of all texts, and name with
        description; the last is the share of the question's words that the source has, 0 to 1,
        rare words counting more.

        Args:
            text: The question.
            embedding: Its vector by the same embedding model, where known already.

        Raises:
            EmbeddingError: The embedding model gave no usable vector.
        """
        words = self._words.shared(text)
        found = np.zeros((len(words), len(FEATURES)))
        found[:, 3] = words
        if self._embedder is not None:
            vector = vectors_of(self._embedder, [text])[0] if embedding is None else embedding
            found[:, 0] = np.maximum.reduceat(self.rows @ vector, self._starts)
            found[:, 1] = self.centres @ vector
            found[:, 2] = self.headings @ vector
        return found


class _Words:
    """The words of each source."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._sources = [frozenset(w for text in of for w in query_tokens(text)) for of in texts]
        self._known = Counter(word for words in self._sources for word in words)

    def shared(self, text: str) -> list[float]:
        n = len(self._sources)
        weights = {
            word: math.log(1 + n / (1 + self._known[word])) for word in set(query_tokens(text))
        }
        total = sum(weights.values()) or 1.0
        return [sum(weights[w] for w in weights.keys() & own) / total for own in self._sources]


def _rows(source: SourceDescription, embedder: EmbeddingModel) -> NDArray[np.float32]:
    """Return what a question may be near to: examples as they are, other texts as asked about."""
    said = [] if not source.sayings else [vectors_of(embedder, source.sayings)]
    pieces = source.pieces or ([] if said else [_heading(source)])
    return np.vstack([*said, *(_asked(text, embedder) for text in (*pieces, *source.gloss))])


def _heading(source: SourceDescription) -> str:
    return source.heading or next(iter(source.sayings), "")


def _asked(text: str, embedder: EmbeddingModel) -> NDArray[np.float32]:
    """Return the mean vector of questions about it: shape (1, dimension)."""
    vectors = vectors_of(embedder, [template.format(text) for template in _TEMPLATES])
    return _unit(vectors.mean(axis=0, keepdims=True))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows at length 1; a zero row stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
