"""Described sources to a router over them."""

from __future__ import annotations

from collections.abc import Callable

from fingerpost.config.schema import QueryRouterConfig
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.lanes.base import DecisionModel, EmbeddingModel
from fingerpost.running import RoutedSources


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
    router = config.source_router
    if router is None:
        from fingerpost.decide.local import LocalDecisionModel  # type: ignore  # noqa
        fitted = config.source_thresholds
        router = DecisionModelQueryRouter(
            decider or LocalDecisionModel(embedder),
            config.sources,
            min_probability=config.source_min_probability,
            fallback_strategy=config.source_fallback,
            max_messages=1,
            thresholds=None if fitted is None else RoutingThresholds.load(fitted),
        )
    return RoutedSources(config.sources, router, always, config.source_fallback)
