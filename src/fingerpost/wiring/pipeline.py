"""Configuration to a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, reduce

from fingerpost.classify import LocalClassifier
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.config.secrets import Secret
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.budget import Meter, ProcessBudget
from fingerpost.lanes.providers.scrub import Scrubber
from fingerpost.observe.gap_log import GapLog
from fingerpost.observe.observer import Observer
from fingerpost.pipeline import Pipeline
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.running import Models, Parts, Platform
from fingerpost.stores.base import Store
from fingerpost.types.document import Document
from fingerpost.types.plan import CapabilitySource
from fingerpost.wiring.index import cores
from fingerpost.wiring.rerank import make_reranker
from fingerpost.wiring.sources import make_routed_sources
from fingerpost.wiring.tape import Tape, make_delimiter
from fingerpost.wiring.verify import verifier_maker
from fingerpost.wiring.web import make_web_search


def make_pipeline(
    config: QueryRouterConfig,
    store: Store,
    embedder: EmbeddingModel | None,
    observe: Observer,
    read_topics: Callable[[], tuple[str, ...]],
    models: Models,
    tape: Tape | None = None,
    capabilities: Callable[[], CapabilitySource | None] = lambda: None,
    always_searched: Callable[[], tuple[str, ...]] = tuple,
    unified: Callable[[], UnifiedRetriever | None] = lambda: None,
    is_stale: Callable[[Document], bool | None] = lambda _: None,
    platform: Platform | None = None,
) -> Pipeline:
    """Return the pipeline for an open store."""
    parts = Parts(
        store=store,
        embedder=embedder,
        classifier=LocalClassifier(),
        make_verifier=verifier_maker(config),
        config=config,
        observe=observe,
        topics=read_topics,
        models=models,
        reranker=make_reranker(config, models),
        web=make_web_search(config, tape),
        make_meter=partial(Meter, process=process_budget(config.process_budget_usd)),
        delimiter=make_delimiter(tape),
        capabilities=capabilities,
        unified=unified,
        is_stale=is_stale,
        platform=platform,
        routed=make_routed_sources(config, models.decider, embedder, always_searched),
    )
    return Pipeline(parts, cores())


@lru_cache
def process_budget(usd: float | None) -> ProcessBudget:
    """Return the budget that every router of this process with this limit shares."""
    return ProcessBudget(usd)


def make_observers(config: QueryRouterConfig) -> tuple[Observer, ...]:
    """Return who gets every event from the start.

    Raises:
        MissingExtraError: Telemetry is wanted and OpenTelemetry not installed.
    """
    found: tuple[Observer, ...] = () if config.on_event is None else (config.on_event,)
    if config.telemetry:
        from fingerpost.observe.otel import OtelObserver  # noqa: PLC0415 - an extra

        found = (*found, OtelObserver(capture_content=config.capture_content))
    if config.gap_log is not None:
        found = (*found, GapLog(config.gap_log, clean=_without_keys(config)))
    return found


def _without_keys(config: QueryRouterConfig) -> Callable[[str], str]:
    """Return what takes the keys of the settings, and what looks like one, out of a text."""
    keys = [value for _, value in config if isinstance(value, Secret)]
    scrubbers = [Scrubber(key) for key in (*keys, None)]
    return lambda text: reduce(lambda said, scrubber: scrubber.masked(said), scrubbers, text)
