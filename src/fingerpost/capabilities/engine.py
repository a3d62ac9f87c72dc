"""`CapabilityDiscoveryEngine`: what a host can do, found by words and by meaning."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.capabilities.catalogue import Catalogue, read_extensions, read_tools
from fingerpost.capabilities.confidence import features_of, packaged_confidence
from fingerpost.capabilities.described import Described
from fingerpost.capabilities.skills import read_skills
from fingerpost.capabilities.vectors import kept_vectors, unit
from fingerpost.capabilities.words import WordIndex, asked_words, places_of
from fingerpost.config.load import cache_folder
from fingerpost.decide.options import checked_able
from fingerpost.decide.vectors import vectors_of
from fingerpost.errors import EmbeddingError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.plan import Capability, CapabilityRecommendation, SkippedCapability

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG = logging.getLogger("fingerpost.capabilities")
_KINDS: Final = ("skill", "tool", "extension")
_MAX_CAPABILITIES: Final = 20_000
_MAX_SKIPPED: Final = 100
_MAX_QUESTION: Final = 4_000
_PLACES_TOLD: Final = 3


class CapabilityDiscoveryEngine:
    """Recommends the skills, tools and extensions of a host that may help with a question.

    Everything is read once, when the engine is built, which blocks: with an embedding model
    some 20 ms of CPU for each capability the first time, next to nothing once its vectors are
    kept. Nothing that is read is run, and what cannot be read is listed, not raised. Of two
    capabilities with the same kind and id the first one counts. Thread-safe.

    Example::

        engine = CapabilityDiscoveryEngine(skills=["~/.agents/skills"], tools=["tools.json"])
        router.set_capability_discovery_engine(engine)

    Args:
        skills: Folders that hold a ``SKILL.md`` with front matter, or folders that do.
        tools: JSON files, or lists, of tools: results of MCP's ``tools/list``, or OpenAI schemas.
        extensions: JSON files, or lists, of ``{"id": …, "summary": …}``; or `Capability` values.
        embedder: Compares meanings; ``None`` compares words alone.
        cache_dir: Where vectors are kept; the user's cache folder where ``None``.

    Attributes:
        skipped: What could not be read, and why, in the order met; of more than 100 the rest is
            counted, as are capabilities after the first 20,000.

    Raises:
        ConfigError: The embedder cannot embed.
        EmbeddingError: It gave no usable vector.
    """

    def __init__(
        self,
        *,
        skills: Sequence[str | Path] = (),
        tools: Sequence[Catalogue] = (),
        extensions: Sequence[Catalogue] = (),
        embedder: EmbeddingModel | None = None,
        cache_dir: str | Path | None = None,
    ) -> None:
        if embedder is not None:
            checked_able(embedder, "embed", "embedder")
        found = [
            *(item for folder in skills for item in read_skills(folder)),
            *(item for catalogue in tools for item in read_tools(catalogue)),
            *(item for catalogue in extensions for item in read_extensions(catalogue)),
        ]
        self._items, self.skipped = _sorted_out(found)
        self._words = WordIndex(self._items)
        self._embedder = embedder
        folder = cache_folder() if cache_dir is None else Path(cache_dir).expanduser()
        self._vectors = None if embedder is None else _vectors(self._items, embedder, folder)

    def capabilities(self) -> Sequence[Capability]:
        """Return everything with a summary of one line: skills, then tools, then extensions."""
        return [item.capability for item in self._items]

    def nearest(
        self, question: str, excluded_capability_ids: Sequence[str] = (), k: int = 30
    ) -> Sequence[Capability]:
        """Return the ``k`` capabilities nearest to a question, by kind and then by nearness."""
        near = self._ranked(question, excluded_capability_ids).best[: max(0, k)]
        kept = [self._items[row].capability for row in near]
        return sorted(kept, key=lambda item: _KINDS.index(item.kind))

    def recommend(
        self, question: str, excluded_capability_ids: Sequence[str] = (), k: int = 5
    ) -> tuple[CapabilityRecommendation, ...]:
        """Return up to ``k`` capabilities that may help, the likeliest first; empty when none may.

        The confidence is the probability that a capability helps, as fitted on questions that
        were labelled by hand (``docs/how-to/capabilities.md`` tells how well it holds). What is
        less likely than the fitted threshold is left out.

        Args:
            question: Made to stand alone; of a long one the first 4,000 characters count.
            excluded_capability_ids: With their kind before them (``tool:search``) or without.
            k: At most so many.
        """
        found = self._ranked(question, excluded_capability_ids)
        likely = [row for row in found.best if found.chances[row] >= found.threshold]
        words = asked_words(question[:_MAX_QUESTION])
        return tuple(
            CapabilityRecommendation(
                kind=self._items[row].capability.kind,
                id=self._items[row].capability.id,
                reasoning=_reasoning(self._items[row], words, found.cosine(row)),
                confidence=float(found.chances[row]),
                priority=priority,
            )
            for priority, row in enumerate(likely[: max(0, k)], start=1)
        )

    def features(self, question: str) -> Mapping[str, NDArray[np.float32]]:
        """Return what is weighed of each capability, in the order of `capabilities`."""
        asked = question[:_MAX_QUESTION]
        return features_of(self._words.shares(asked), self._meaning(asked))

    def _ranked(self, question: str, excluded: Sequence[str]) -> _Ranked:
        # One id that is given as it is must not count as all its parts.
        names = [excluded] if isinstance(excluded, str) else excluded
        features, model = self.features(question), packaged_confidence()
        chances, meaning = model.of(features), features.get("meaning")
        # Stable, so that of equals the first one that was given stays first.
        order = np.argsort(-chances, kind="stable").tolist()
        best = [row for row in order if not (names and self._items[row].capability.is_among(names))]
        threshold = model.threshold(with_meaning=meaning is not None)
        return _Ranked(best, chances, meaning, threshold)

    def _meaning(self, question: str) -> NDArray[np.float32] | None:
        """Return the cosine of each capability with the question, ``None`` without vectors."""
        if self._embedder is None or self._vectors is None or not self._items:
            return None
        try:
            vector = unit(vectors_of(self._embedder, [question]))[0]
        except EmbeddingError:
            _LOG.warning("capabilities are compared by words alone", exc_info=True)
            return None
        cosines: NDArray[np.float32] = self._vectors @ vector
        return cosines


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Numbers of capabilities, the best first, and what was thought of each."""

    best: list[int]
    chances: NDArray[np.float64]
    meaning: NDArray[np.float32] | None
    threshold: float

    def cosine(self, row: int) -> float | None:
        return None if self.meaning is None else float(self.meaning[row])


def _vectors(
    items: Sequence[Described], embedder: EmbeddingModel, folder: Path
) -> NDArray[np.float32]:
    """Return the mean of the vectors of each capability's texts: shape (number, dimension)."""
    if not items:
        return np.zeros((0, embedder.dimension), dtype=np.float32)
    texts = [item.texts for item in items]
    rows = kept_vectors([text for of in texts for text in of], embedder, folder)
    return unit(rows.reshape(len(texts), -1, embedder.dimension).mean(axis=1))


def _sorted_out(
    found: Iterable[Described | SkippedCapability],
) -> tuple[list[Described], tuple[SkippedCapability, ...]]:
    """Return what can be recommended, by kind, and what cannot."""
    kept: dict[str, Described] = {}
    skipped: list[SkippedCapability] = []
    n_beyond = 0
    for item in found:
        if isinstance(item, SkippedCapability):
            skipped.append(item)
        elif item.capability.full_id in kept:
            skipped.append(SkippedCapability(item.capability.full_id, "given twice"))
        elif len(kept) >= _MAX_CAPABILITIES:
            n_beyond += 1
        else:
            kept[item.capability.full_id] = item
    by_kind = sorted(kept.values(), key=lambda item: _KINDS.index(item.capability.kind))
    n_more = len(skipped) - _MAX_SKIPPED
    del skipped[_MAX_SKIPPED:]
    if n_more > 0:
        skipped.append(SkippedCapability(f"{n_more:,} more", "they cannot be used either"))
    if n_beyond:
        why = f"only the first {_MAX_CAPABILITIES:,} capabilities are used"
        skipped.append(SkippedCapability(f"{n_beyond:,} more", why))
    return by_kind, tuple(skipped)


def _reasoning(item: Described, words: dict[str, str], cosine: float | None) -> str:
    told = [
        f"{place} holds {', '.join(repr(word) for word in held)}"
        for place, held in places_of(item, words)
    ][:_PLACES_TOLD]
    if cosine is not None:
        told.append(f"similarity in meaning {cosine:.2f}")
    return "; ".join(told) or "no word shared"
