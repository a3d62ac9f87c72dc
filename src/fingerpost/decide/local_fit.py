"""Learns from examples which questions belong to a source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.decide.local_evidence import FEATURES, LocalEvidence
from fingerpost.decide.local_router import LocalSourceRouter, SourceHead
from fingerpost.decide.local_source import SourceDescription, check_sources
from fingerpost.decide.local_weights import packaged_weights, softmax
from fingerpost.decide.vectors import vectors_of
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.wrapped import WrappedEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_WEIGHTS: Final = len(FEATURES) + 1
"""Weights of a fitted router: one per feature, one for the linear model."""

_FOLDS: Final = 5
_RIDGE: Final = 2e-4
_STEPS: Final = 80
_PRIOR_RIDGE: Final = 0.3
_HEAD_PRIOR: Final = 0.5
_REFUSED: Final = 0.02
_THRESHOLDS: Final = (0.02, 0.9)
_ROUNDS: Final = 30
_STEP: Final = 0.7  # of Newton's whole step, which may overshoot at first


def fit_router(
    sources: Sequence[SourceDescription],
    examples: Mapping[str, Sequence[str]],
    embedder: EmbeddingModel,
    *,
    seed: int = 0,
) -> LocalSourceRouter:
    """Return a router that has learnt from examples, ten or so per source.

    The examples join the sources; a linear model over their vectors is learnt, and how much it
    counts beside the rest of the evidence, with the temperature of the whole, on examples that
    were held out in turn. No source is chosen from that probability of none on which two in a
    hundred of the held-out examples reach. The same arguments give the same router; it takes
    seconds for a thousand examples, and the time to embed them.

    Args:
        sources: At least two.
        examples: Source id → questions that belong to it. A source may have none; two sources
            or more must have some.
        embedder: Compares texts; loading a saved router needs the same.
        seed: Of the order in which examples are held out.

    Raises:
        ConfigError: An unknown source, no two sources with examples, or sources that cannot be
            told apart.
        EmbeddingError: The embedding model gave no usable vector.
    """
    check_sources(sources)
    places = {source.id: place for place, source in enumerate(sources)}
    unknown = sorted(set(examples) - set(places))
    if unknown:
        raise ConfigError(f"examples name {unknown[0]!r}, which is no source")
    pairs = [
        (places[name], text) for name, texts in examples.items() for text in texts if text.strip()
    ]
    if len({place for place, _ in pairs}) < min(2, len(sources)) or not pairs:
        raise ConfigError("examples of at least two sources are needed to learn from")
    known = _Known(embedder)
    whole = _with(sources, pairs)
    evidence = LocalEvidence(whole, known)
    told = _held_out(sources, pairs, known, np.random.default_rng(seed))
    head = _fitted(*told, _linear(evidence))
    return LocalSourceRouter(whole, embedder, head=head, evidence=evidence)


class _Known(WrappedEmbedder):
    """An embedding model that computes no text twice."""

    def __init__(self, model: EmbeddingModel) -> None:
        super().__init__(model)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, vectors_of(self._model, new), strict=True))
        return np.stack([self._vectors[text] for text in texts])


def _with(
    sources: Sequence[SourceDescription], pairs: Sequence[tuple[int, str]]
) -> list[SourceDescription]:
    more: dict[int, list[str]] = {}
    for place, text in pairs:
        more.setdefault(place, []).append(text)
    return [
        replace(source, examples=(*source.examples, *more.get(place, ())))
        for place, source in enumerate(sources)
    ]


def _held_out(
    sources: Sequence[SourceDescription],
    pairs: Sequence[tuple[int, str]],
    embedder: EmbeddingModel,
    chance: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the evidence of each example, the linear model's last, and the place of its source.

    It is that of sources which did not have the example.
    """
    fold = chance.permutation(len(pairs)) % min(_FOLDS, len(pairs))
    evidence, gold = [], []
    for held in range(fold.max() + 1):
        kept = [pair for pair, number in zip(pairs, fold, strict=True) if number != held]
        out = [pair for pair, number in zip(pairs, fold, strict=True) if number == held]
        found = LocalEvidence(_with(sources, kept), embedder)
        matrix = _linear(found)
        for place, text in out:
            vector = embedder.embed([text])[0]
            strength = (vector @ matrix)[:, None]
            evidence.append(np.concatenate([found.of(text, vector), strength], axis=1))
            gold.append(place)
    return np.stack(evidence), np.array(gold)


def _fitted(
    columns: NDArray[np.float64], gold: NDArray[np.int64], matrix: NDArray[np.float32]
) -> SourceHead:
    """Return the head; its weights are fitted on examples that it was not learnt from."""
    told = packaged_weights()["told"]
    none = [told.shares(held_out[:, :-1]).none for held_out in columns]
    return SourceHead(
        weights=_conditional_logit(columns, gold, np.array([*told.evidence, _HEAD_PRIOR])),
        matrix=matrix,
        threshold=float(np.clip(np.quantile(none, 1 - _REFUSED), *_THRESHOLDS)),
    )


def _linear(known: LocalEvidence) -> NDArray[np.float32]:
    """Return a logistic model over the vectors of what the sources say of themselves."""
    n = len(known.headings)
    rows = np.vstack([known.rows, known.headings])
    gold = np.eye(n, dtype=np.float32)[np.concatenate([known.owners, np.arange(n)])]
    scale = float(np.linalg.eigvalsh(rows.T @ rows)[-1]) / (2 * len(rows)) + _RIDGE
    found = ahead = np.zeros((rows.shape[1], n), dtype=np.float32)
    pace = 1.0
    for _ in range(_STEPS):  # Nesterov's accelerated gradient
        slope = rows.T @ (softmax(rows @ ahead) - gold) / len(rows) + _RIDGE * ahead
        after, faster = ahead - slope / scale, (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        ahead = after + (pace - 1) / faster * (after - found)
        found, pace = after, faster
    return found


def _conditional_logit(
    columns: NDArray[np.float64], gold: NDArray[np.int64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weights under which the right sources are most probable, by Newton's method.

    Args:
        columns: Evidence: shape (questions, sources, features).
        gold: Place of the right source of each question.
        prior: Weights to stay near, one per feature.
    """
    weights = prior.astype(np.float64)
    right = columns[np.arange(len(gold)), gold]
    for _ in range(_ROUNDS):
        shares = softmax(columns @ weights)
        mean = np.einsum("nk,nkf->nf", shares, columns)
        slope = (right - mean).sum(axis=0) - _PRIOR_RIDGE * (weights - prior)
        spread = np.einsum("nk,nkf,nkg->fg", shares, columns, columns, optimize=True)
        curve = spread - mean.T @ mean + _PRIOR_RIDGE * np.eye(len(prior))
        weights = weights + _STEP * np.linalg.solve(curve, slope)
    return weights
