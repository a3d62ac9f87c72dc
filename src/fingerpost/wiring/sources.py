"""Described sources to a router over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from fingerpost.config.schema import QueryRouterConfig
from fingerpost.decide.local import LocalDecisionModel
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.lanes.base import DecisionModel, EmbeddingModel
from fingerpost.running import RoutedSources
from fingerpost.types.routing import SourceRouter
from fingerpost.types.source import Source

_SHOWN: Final = 10


def make_routed_sources(
    config: QueryRouterConfig,
    decider: DecisionModel | None,
    embedder: EmbeddingModel | None,
    always: Callable[[], tuple[str, ...]],
) -> RoutedSources | None:
    """Return the described sources with what chooses among them, ``None`` without any.

    The built-in router is shown the stand-alone question alone: what was said before it has
    gone into its rewriting.

    Args:
        config: The settings.
        decider: The decision model; ``None`` takes the local one.
        embedder: Of the index; the local decision model compares by words without it.
        always: Names of the corpus's other sources.

    Raises:
        ConfigError: The file of thresholds cannot be used.
    """
    if not config.sources:
        return None
    own: SourceRouter | None = config.source_router
    make = partial(RoutedSources, config.sources, always=always, fallback=config.source_fallback)
    if own is not None:
        return make(lambda _: own, is_own=True)
    fitted = config.source_thresholds
    router = partial(
        DecisionModelQueryRouter,
        retrievers=tuple(map(as_asked_about, config.sources)),
        min_probability=config.source_min_probability,
        fallback_strategy=config.source_fallback,
        max_messages=1,
        thresholds=None if fitted is None else RoutingThresholds.load(fitted),
    )
    unmetered = router(decider or LocalDecisionModel(embedder))
    return make(lambda metered: unmetered if metered is None else router(metered))


def as_asked_about(source: Source) -> Source:
    """Return the source with some of its examples in the description that is asked about."""
    if not source.examples:
        return source
    told = "; ".join(source.examples[:_SHOWN])
    return replace(source, description=f"{source.description}\nQuestions of this kind: {told}")
