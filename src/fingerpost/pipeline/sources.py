"""The step that chooses among described sources, and the tier with them where one call can."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import anyio

from fingerpost.classify.decision import TIER_QUESTION, classification_of
from fingerpost.errors import ConfigError, MissingRecordingError, UsageError
from fingerpost.lanes.asked import ask
from fingerpost.observe import events
from fingerpost.running import RoutedSources, Run
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.query import Filters
from fingerpost.types.question import AnswerStatus
from fingerpost.types.routing import FallbackStrategy, SourceAssessment, SourceRouting
from fingerpost.types.source import Source

UNDERSTANDING: Final = 0.35
"""Share of the time left that one model call before the answer may take."""
_GRACE_S: Final = 0.05  # so that a router that keeps its deadline itself can say how it ended


async def choose_sources(run: Run, *, with_tier: bool) -> SourceRouting | None:
    """Return which of the described sources the question is sent to, ``None`` without any.

    Args:
        run: The question.
        with_tier: Ask for the tier in the same call.

    Raises:
        LaneError: They could not be chosen and ``source_fallback`` is ``fail``.
        ConfigError: The thresholds are those of another decision model.
    """
    routed = run.parts.routed
    if routed is None:
        return None
    run.hold_deadline("sources")
    began = run.parts.clock()
    try:
        routing = await _routing(run, routed, with_tier=with_tier)
    except (ConfigError, MissingRecordingError, UsageError):
        raise
    except Exception as error:  # a host's own router may fail in any way
        run.hold_deadline("sources")
        if routed.fallback is FallbackStrategy.FAIL:
            raise
        routing = _instead(routed, f"{type(error).__name__}: {error}")
    run.hold_deadline("sources")
    if routed.is_own:
        run.meter.settle(0.0, routing.usage)
    if routing.fallback is not None:
        run.fall_back("routing-fallback", routing.reason)
    took = run.timed("sources", began)
    run.routing = shown(routing)
    run.emit(events.SourcesSelect, routing=run.routing, duration_ms=took)
    return routing


async def _routing(run: Run, routed: RoutedSources, *, with_tier: bool) -> SourceRouting:
    """Ask the router within its share of the time; what it gives is held to its form.

    Raises:
        TimeoutError: It took longer.
        TypeError: It gave no routing.
        Exception: Whatever a host's own router raises.
    """
    until = run.share(UNDERSTANDING)
    patience = math.inf if until is None else until - run.parts.clock() + _GRACE_S
    with anyio.fail_after(max(0.0, patience)):
        routing = await routed.router(run.metered_decider()).route(
            run.text,
            [ConversationMessage(turn.role, turn.text) for turn in run.query.history],
            also=[TIER_QUESTION] if with_tier else (),
            deadline=until,
            query_id=run.query.query_id,
        )
    if not isinstance(routing, SourceRouting):
        raise TypeError(f"the router gave {type(routing).__name__} instead of a SourceRouting")
    if not isinstance(routing.answers, Mapping) or not isinstance(routing.usage, tuple):
        raise TypeError("the router gave a routing whose answers or usage are of no use")
    return routing


def shown(routing: SourceRouting) -> SourceRouting:
    """Return the routing without the retrievers, which are no values."""
    return replace(routing, retrievers=(), passed=tuple(map(shown, routing.passed)))


def _instead(routed: RoutedSources, reason: str) -> SourceRouting:
    every = routed.fallback is FallbackStrategy.ROUTE_TO_ALL
    return SourceRouting(
        retrievers=routed.sources if every else (),
        assessments=tuple(
            SourceAssessment(source.name, chosen=every, status=AnswerStatus.NOT_ANSWERED)
            for source in routed.sources
        ),
        router="none",
        fallback=routed.fallback,
        reason=reason,
    )


async def classify_by_decision(run: Run) -> ClassificationResult | None:
    """Return the tier that the decision model chose, ``None`` when it gave none.

    Raises:
        LaneError: It could not be asked.
    """
    routing, model = run.routing, run.metered_decider()
    if routing is not None and TIER_QUESTION.id in routing.answers:
        return classification_of(routing.answers[TIER_QUESTION.id], routing.model)
    if model is None:
        return None
    response = await ask(
        model,
        run.text,
        [TIER_QUESTION],
        deadline=run.share(UNDERSTANDING),
        query_id=run.query.query_id,
    )
    return classification_of(response.answers[TIER_QUESTION.id], response.model)


def places_to_search(run: Run) -> tuple[Filters | None, tuple[Source, ...]]:
    """Return the filters of the index, ``None`` when it is not searched, and whom else to ask.

    Sources that a caller's own filter leaves out are not used. A retriever of the host's own
    knows no path, tag or language, so that a question with such a filter does not go there.
    """
    routed, filters = run.parts.routed, run.query.filters
    if routed is None or run.routing is None:
        return filters, ()
    chosen = set(run.routing.names)
    own = [source for source in routed.sources if isinstance(source.retriever, str)]
    every = [*routed.always(), *(source.name for source in own)]
    allowed = [name for name in every if name in chosen or name in routed.always()]
    foreign = [
        source
        for source in routed.sources
        if source.name in chosen and not isinstance(source.retriever, str)
    ]
    if filters.sources:
        allowed = [name for name in allowed if name in filters.sources]
        foreign = [source for source in foreign if source.name in filters.sources]
    if replace(filters, sources=()):
        foreign = []
    if not allowed:
        return None, tuple(foreign)
    narrowed = filters if len(allowed) == len(every) else replace(filters, sources=tuple(allowed))
    return narrowed, tuple(foreign)
