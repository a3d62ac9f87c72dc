"""Which of the described sources a question belongs to, without a model call."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from fingerpost.errors import ConfigError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.text.analyse import query_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEMPLATES = ("{}", "questions about {}", "What about {}?", "Help with {}.")
_CENTRE_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """A source as the router sees it.

    Attributes:
        id: What the decision names; unique among the sources.
        name: A few words, may be empty when there is a description.
        description: What it holds, may be empty when there is a name.
        examples: Questions or intents that belong to it. Underscores read as blanks.
    """

    id: str
    name: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Return name and description in one line."""
        parts = (_readable(self.name), self.description.strip())
        return ": ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class SourceDecision:
    """The source of one question.

    Attributes:
        choice: Id of the source, ``None`` when none fits.
        confidence: Calibrated probability that the choice (or the abstention) is right, 0 to 1.
        scores: Likeness of the question to each source by id, 0 to 1; they need not sum to 1.
        abstained: Whether no source fits.
    """

    choice: str | None
    confidence: float
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)
    abstained: bool = False


class LocalSourceRouter:
    """Chooses the source whose description, or whose examples, a question is most like.

    Nearest prototypes: a source with examples is as like as its nearest example, and a little
    as its examples on the whole; one without is as like as its heading. With no embedding model
    shared words decide. The prototypes are embedded once, when it is built; deciding is one
    product. Ties go to the source that was named first.

    Args:
        sources: At least one; ids are unique, each has a name, a description or examples.
        embedder: ``None`` compares words only.

    Raises:
        ConfigError: No source, an id twice, or a source that says nothing of itself.
    """

    def __init__(
        self, sources: Sequence[SourceDescription], embedder: EmbeddingModel | None = None
    ) -> None:
        _check(sources)
        self._ids = tuple(source.id for source in sources)
        self._embedder = embedder
        self._tokens = [frozenset(query_tokens(_all_text(source))) for source in sources]
        self._prototypes: list[NDArray[np.float32]] = []
        self._centres = np.zeros((len(sources), 0), dtype=np.float32)
        if embedder is not None:
            self._prototypes = [_prototypes(source, embedder) for source in sources]
            self._centres = np.stack([_unit(rows.mean(axis=0)) for rows in self._prototypes])
        told = any(source.examples for source in sources)
        kind = "words" if embedder is None else "examples" if told else "names"
        self._calibration: Mapping[str, float] = _calibrations()[kind]

    def likeness(
        self, text: str, *, embedding: NDArray[np.float32] | None = None
    ) -> NDArray[np.float64]:
        """Return how like the text is to each source, in the order of the sources."""
        if self._embedder is None:
            return _shared_words(frozenset(query_tokens(text)), self._tokens)
        vector = self._embedder.embed([text])[0] if embedding is None else embedding
        nearest = np.array([float((rows @ vector).max()) for rows in self._prototypes])
        centre = (self._centres @ vector).astype(np.float64)
        return (nearest + _CENTRE_WEIGHT * centre) / (1 + _CENTRE_WEIGHT)

    def decide(self, text: str, *, embedding: NDArray[np.float32] | None = None) -> SourceDecision:
        """Return the source of a question that stands alone.

        Args:
            text: The question.
            embedding: Its vector by the router's own embedding model, where known already.

        Raises:
            EmbeddingError: The embedding model gave no usable vector.
        """
        scores = self.likeness(text, embedding=embedding)
        best = int(np.argmax(scores))
        fits = fit_probability(scores, self._calibration)
        named = {
            key: round(min(1.0, max(0.0, float(score))), 4)
            for key, score in zip(self._ids, scores, strict=True)
        }
        if scores[best] < self._calibration["floor"] or fits < self._calibration["threshold"]:
            return SourceDecision(None, round(1 - fits, 4), named, abstained=True)
        return SourceDecision(self._ids[best], round(fits, 4), named)


def fit_probability(scores: NDArray[np.float64], calibration: Mapping[str, float]) -> float:
    """Return the probability that the best score names the right source (Platt scaling)."""
    ranked = np.sort(scores)[::-1]
    gap = float(ranked[0] - ranked[1]) if len(ranked) > 1 else float(ranked[0])
    strength = (
        calibration["bias"]
        + calibration["best"] * float(ranked[0])
        + calibration["gap"] * gap
        + calibration["count"] * math.log(len(ranked))
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, strength))))


@lru_cache(maxsize=1)
def _calibrations() -> dict[str, dict[str, float]]:
    """Return the fitted numbers by kind of evidence."""
    value: dict[str, dict[str, float]] = _packaged("source_calibration.json")["kinds"]
    return value


@lru_cache(maxsize=1)
def _glosses() -> dict[str, list[str]]:
    """Return what sources of a common name usually hold."""
    value: dict[str, list[str]] = _packaged("glosses.json")["glosses"]
    return value


def _packaged(name: str) -> Any:
    """Return the JSON value of a file that ships with this package."""
    return json.loads((files(__package__ or "") / name).read_text(encoding="utf-8"))


def _check(sources: Sequence[SourceDescription]) -> None:
    """Raise unless the sources can be told apart."""
    if not sources:
        raise ConfigError("a source router needs at least one source")
    seen: set[str] = set()
    for source in sources:
        if source.id in seen:
            raise ConfigError(f"source id {source.id!r} is given twice")
        seen.add(source.id)
        if not _all_text(source).strip():
            raise ConfigError(
                f"source {source.id!r} has no name, description or examples",
                hint="Give each source a description of what it holds.",
            )


def _readable(text: str) -> str:
    """Return a name or an intent as words."""
    return text.replace("_", " ").strip()


def _all_text(source: SourceDescription) -> str:
    """Return everything that is said about a source."""
    examples = " ".join(map(_readable, source.examples))
    return f"{source.heading} {examples} {' '.join(_gloss(source))}"


def _gloss(source: SourceDescription) -> list[str]:
    """Return what its heading usually stands for; nothing when it has examples of its own."""
    if source.examples:
        return []
    heading = source.heading.casefold()
    words = heading.split()
    return [
        piece
        for key, pieces in _glosses().items()
        if (key in words if " " not in key else key in heading)
        for piece in pieces
    ]


def _prototypes(source: SourceDescription, embedder: EmbeddingModel) -> NDArray[np.float32]:
    """Return unit vectors that stand for a source: examples, or else its heading and gloss."""
    if source.examples:
        return embedder.embed([_readable(example) for example in source.examples])
    asked = embedder.embed([template.format(source.heading) for template in _TEMPLATES])
    heading = _unit(asked.mean(axis=0))[None, :]
    gloss = _gloss(source)
    return np.vstack([heading, embedder.embed(gloss)]) if gloss else heading


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector at length 1; a zero vector stays as it is."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def _shared_words(asked: frozenset[str], known: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """Return the share of the question's words that each source has, rare words counting more."""
    weights = {
        word: math.log(1 + len(known) / (1 + sum(word in tokens for tokens in known)))
        for word in asked
    }
    total = sum(weights.values()) or 1.0
    return np.array([sum(weights[word] for word in asked & tokens) / total for tokens in known])
