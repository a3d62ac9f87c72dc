"""Described sources to a router over them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fingerpost.config.schema import QueryRouterConfig
from fingerpost.decide.embedding import EmbeddingQueryRouter
from fingerpost.decide.local import LocalDecisionModel
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.lanes.base import DecisionModel, EmbeddingModel
from fingerpost.running import RoutedSources
from fingerpost.types.routing import SourceRouter


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
        decider: The decision model; ``None`` takes the local one, or where sources have
            examples the nearest of these.
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
    if decider is None and any(source.examples for source in config.sources):
        near = EmbeddingQueryRouter(
            embedder, config.sources, fallback_strategy=config.source_fallback
        )
        return make(lambda _: near)
    fitted = config.source_thresholds
    router = partial(
        DecisionModelQueryRouter,
        retrievers=config.sources,
        min_probability=config.source_min_probability,
        fallback_strategy=config.source_fallback,
        max_messages=1,
        thresholds=None if fitted is None else RoutingThresholds.load(fitted),
    )
    unmetered = router(decider or LocalDecisionModel(embedder))
    return make(lambda metered: unmetered if metered is None else router(metered))
