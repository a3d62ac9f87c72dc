"""The first steps: make the question stand alone, then choose its tier."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from fingerpost.classify import (
    ModelClassifier,
    apply_policy,
    fallback_classification,
    rewrite_follow_up,
    rewrite_with_model,
)
from fingerpost.errors import (
    DeadlineExceededError,
    FingerpostError,
    LaneError,
    MissingRecordingError,
)
from fingerpost.observe import events
from fingerpost.pipeline.capabilities import offered, recommended
from fingerpost.pipeline.sources import UNDERSTANDING, choose_sources, classify_by_decision
from fingerpost.retrieve import first_look
from fingerpost.running import Run
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.evidence import FirstLook

_LOG = logging.getLogger("fingerpost.pipeline")
_ASKS_MODEL = frozenset({"hybrid", "llm"})


async def rewrite(run: Run) -> None:
    """Put the stand-alone question in place of a follow-up."""
    window = run.window
    if not window:
        return
    chat = run.metered(run.parts.models.classifier)
    if chat is not None and run.parts.config.strategy_config.classifier_mode in _ASKS_MODEL:
        began = run.parts.clock()
        try:
            run.text = await rewrite_with_model(
                chat,
                run.query.text,
                window,
                deadline=run.share(UNDERSTANDING),
                query_id=run.query.query_id,
            )
        except LaneError as error:
            run.hold_deadline("rewrite")
            run.fall_back("classify-fallback", f"rewriting failed: {error}")
        else:
            return
        finally:
            run.timed("rewrite", began)
    run.text = rewrite_follow_up(run.query.text, window) or run.query.text


def begin(run: Run) -> None:
    """Say that the question is being understood."""
    run.emit(events.ClassifyStart)


async def classify(run: Run) -> ClassificationResult:
    """Return the tier after escalation and caps; never fails but by the deadline."""
    run.hold_deadline("classify")
    query, config = run.query, run.parts.config
    cap = config.max_tier if query.max_tier is None else min(config.max_tier, query.max_tier)
    asks = config.strategy_config.classifier_mode == "decision" and _forced_tier(run) is None
    await choose_sources(run, with_tier=asks)
    began = run.parts.clock()
    raw = await _raw(run)
    if raw.decided_by is not DecidedBy.LLM:
        raw = await recommended(run, raw)
    run.timed("classify", began)
    result = apply_policy(
        raw,
        confidence_threshold=config.confidence_threshold,
        max_tier=cap,
        force_strategy=config.strategy_config.force_strategy,
        forced_tier=None if query.tier is None else Tier(query.tier),
    )
    result = replace(result, routing=run.routing)
    run.prompted(result.prompt)
    if result.escalated_from is not None:
        run.fall_back(
            "tier-escalation",
            f"confidence {result.confidence:.2f} lies below {config.confidence_threshold:g}",
        )
    _tell(run, result)
    await run.notify(config.on_classification, result)
    return result


def _tell(run: Run, result: ClassificationResult) -> None:
    took = run.timings.get("classify", 0.0)
    run.emit(events.ClassifyComplete, classification=result, duration_ms=took)
    run.emit(events.StrategySelect, strategy=result.strategy.value, source=result.decided_by.value)
    if result.recommendations:
        ids = tuple(f"{item.kind}:{item.id}" for item in result.recommendations)
        run.emit(events.CapabilitiesActivate, capability_ids=ids)


async def _raw(run: Run) -> ClassificationResult:
    """Return the classification before the policy: forced, by a model, or without one."""
    config = run.parts.config.strategy_config
    forced = _forced_tier(run)
    if forced is not None:
        return _forced(forced)
    reason = ""
    try:
        asked = await _asked(run)
        if asked is not None:
            return asked
    except LaneError as error:
        run.hold_deadline("classify")
        reason = _failed(run, error)
    if reason and config.classifier_mode == "llm":
        return fallback_classification(reason, config.default_strategy)
    try:
        return await run.in_thread(lambda: _without_model(run))
    except (DeadlineExceededError, MissingRecordingError):
        raise
    except Exception as error:
        _LOG.exception("classification failed")
        return fallback_classification(_failed(run, error), config.default_strategy)


def _forced_tier(run: Run) -> int | None:
    forced, strategy = run.query.tier, run.parts.config.strategy_config.force_strategy
    return strategy.rank if strategy is not None and forced is None else forced


async def _asked(run: Run) -> ClassificationResult | None:
    """Return what a model said of the tier, ``None`` when none is to be asked.

    Raises:
        LaneError: It said nothing of use.
    """
    mode = run.parts.config.strategy_config.classifier_mode
    if mode == "decision":
        found = await classify_by_decision(run)
        if found is None:
            raise LaneError("the decision model did not choose a tier")
        return found
    chat = run.metered(run.parts.models.classifier)
    if chat is None or mode not in _ASKS_MODEL:
        return None
    return await _by_model(run, ModelClassifier(chat))


def _failed(run: Run, error: Exception) -> str:
    """Tell of a classifier that failed; return why."""
    run.emit(events.ClassifyError, error=type(error).__name__)
    run.fall_back("classify-fallback", str(error))
    return type(error).__name__


def _forced(tier: int) -> ClassificationResult:
    return ClassificationResult(
        tier=Tier(tier),
        strategy=Strategy.for_tier(tier),
        confidence=1.0,
        reasoning="The caller fixed the tier.",
        decided_by=DecidedBy.FORCED,
    )


async def _by_model(run: Run, model: ModelClassifier) -> ClassificationResult:
    parts, config = run.parts, run.parts.config
    topics = await run.in_thread(parts.topics)
    return await model.classify(
        run.text,
        history=run.window,
        topics=topics,
        tool_names=config.available_tools,
        capabilities=await offered(run),
        deadline=run.share(UNDERSTANDING),
        query_id=run.query.query_id,
    )


def _without_model(run: Run) -> ClassificationResult:
    classify_ = partial(
        run.parts.classifier.classify,
        run.text,
        history=run.window,
        confidence_threshold=0.0,
        first_look=_first_look(run),
        tool_names=run.parts.config.available_tools,
    )
    found = classify_()
    # A topic only keeps a question from T0, and reading the topics of a large index takes long.
    if found.tier is Tier.TRIVIAL:
        found = classify_(topics=run.parts.topics())
    return found


def _first_look(run: Run) -> FirstLook | None:
    try:
        return first_look(run.reader, run.text, run.query.filters)
    except FingerpostError:
        _LOG.warning("the first look failed; classifying without it", exc_info=True)
        return None
