"""Described sources to a router over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from fingerpost.config.schema import QueryRouterConfig
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
        decider: The decision model; ``None`` takes the local one.
        embedder: Of the index; the local decision model compares by words without it.
        always: Names of the corpus's other sources.

    Raises:
        ConfigError: The file of thresholds cannot be used.
    """
    if not config.sources:
        return None
    own = config.source_router
    fitted = config.source_thresholds
    thresholds = None if fitted is None else RoutingThresholds.load(fitted)
    local = _local(embedder) if own is None and decider is None else None

    def router(metered: DecisionModel | None) -> SourceRouter:
        if own is not None:
            return cast("SourceRouter", own)
        return DecisionModelQueryRouter(
            metered or cast("DecisionModel", local),
            config.sources,
            min_probability=config.source_min_probability,
            fallback_strategy=config.source_fallback,
            max_messages=1,
            thresholds=thresholds,
        )

    router(decider)  # so that what cannot work is refused before a question is asked
    return RoutedSources(config.sources, router, own is not None, always, config.source_fallback)


def _local(embedder: EmbeddingModel | None) -> DecisionModel:
    from fingerpost.decide.local import LocalDecisionModel  # type: ignore[attr-defined]  # noqa: PLC0415

    return LocalDecisionModel(embedder)  # type: ignore[no-any-return]
