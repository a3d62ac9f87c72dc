"""Which of the described sources a question belongs to, without a model call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.decide.local_evidence import LocalEvidence
from fingerpost.decide.local_source import SourceDescription, are_told, check_sources
from fingerpost.decide.local_weights import Shares, packaged_weights, softmax
from fingerpost.decide.vectors import vectors_of
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SourceDecision:
    """The source of one question.

    Attributes:
        choice: Id of the source, ``None`` when none fits.
        confidence: Calibrated probability that the choice (or the abstention) is right, 0 to 1.
        scores: Source id → probability that it is the right one, 0 to 1. They sum to 1 with
            that of none.
        abstained: Whether no source fits.
    """

    choice: str | None
    confidence: float
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)
    abstained: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SourceHead:
    """What was learnt from examples; made by `fit_router`.

    Attributes:
        weights: One per feature of the evidence, the last of the head's own strength.
        matrix: Linear model over question vectors: shape (dimension, number of sources).
        threshold: Probability of none from which on no source is chosen, in (0, 1).
    """

    weights: NDArray[np.float64]
    matrix: NDArray[np.float32]
    threshold: float

    def shares(
        self, evidence: NDArray[np.float64], vectors: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Return the probability of each source when one of them fits.

        Args:
            evidence: Shape (…, number of sources, number of features).
            vectors: Of the questions: shape (…, dimension).
        """
        strength = (vectors @ self.matrix)[..., None]
        columns = np.concatenate([evidence, strength], axis=-1)
        return softmax(columns @ self.weights)


class LocalSourceRouter:
    """Chooses the source that a question speaks for, or none.

    A source is as strong as the nearest of its examples and of the things that its description
    lists, their mean, its name with description, and the words that it shares with the
    question. With no embedding model shared words decide alone. Fitted weights turn strength
    into probabilities, and tell when none fits: sooner where sources say much of themselves,
    because a bare name cannot tell a foreign question. The weights were fitted with the packaged
    model; with other models the order of the sources holds, the probabilities less so.

    Everything is embedded once, when it is built. Ties go to the source that was named first.

    Args:
        sources: At least one; ids are unique, each has a name, a description or examples.
        embedder: ``None`` compares words only.
        head: What was learnt from examples, see `fit_router`.
        evidence: Of these sources by this model, where it is there already.

    Raises:
        ConfigError: No source, an id twice, or a source that says nothing of itself.
        EmbeddingError: The embedding model gave no usable vector.
    """

    def __init__(
        self,
        sources: Sequence[SourceDescription],
        embedder: EmbeddingModel | None = None,
        *,
        head: SourceHead | None = None,
        evidence: LocalEvidence | None = None,
    ) -> None:
        check_sources(sources)
        if head is not None and embedder is None:
            raise ConfigError("what was learnt from examples needs the embedding model")
        self.sources = tuple(sources)
        self.embedder = embedder
        self.head = head
        self._evidence = evidence or LocalEvidence(sources, embedder)
        told = "told" if are_told(sources) else "named"
        weights = packaged_weights()["words" if embedder is None else told]
        if head is not None:
            weights = replace(packaged_weights()["told"], threshold=head.threshold)
        self._weights = weights

    def shares(self, text: str, *, embedding: NDArray[np.float32] | None = None) -> Shares:
        """Return the probability of each source, in their order, and of none.

        Args:
            text: A question that stands alone.
            embedding: Its vector by the router's own embedding model, where known already.

        Raises:
            EmbeddingError: The embedding model gave no usable vector.
        """
        vector = embedding
        if self.embedder is not None and vector is None:
            vector = vectors_of(self.embedder, [text])[0]
        evidence = self._evidence.of(text, vector)
        shares = self._weights.shares(evidence)
        if self.head is None or vector is None:
            return shares
        learnt = self.head.shares(evidence, vector)
        return replace(shares, sources=(1 - shares.none) * learnt)

    def decide(self, text: str, *, embedding: NDArray[np.float32] | None = None) -> SourceDecision:
        """Return the source of a question. Arguments and errors are those of `shares`."""
        shares = self.shares(text, embedding=embedding)
        best = int(np.argmax(shares.sources))
        scores = {
            source.id: round(float(share), 4)
            for source, share in zip(self.sources, shares.sources, strict=True)
        }
        if shares.abstain:
            return SourceDecision(None, round(shares.none, 4), scores, abstained=True)
        return SourceDecision(self.sources[best].id, round(float(shares.sources[best]), 4), scores)
