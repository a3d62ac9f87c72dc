"""The step that retrieves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio

from fingerpost.classify.followup import earlier_questions
from fingerpost.decide.fetch import fetch
from fingerpost.errors import FingerpostError, MissingRecordingError, RetrievalError
from fingerpost.pipeline.sources import UNDERSTANDING, places_to_search
from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import Rerank, RetrieveRequest, RetrieveTools
from fingerpost.retrieve.dispatch import KEPT
from fingerpost.retrieve.foreign import joined
from fingerpost.retrieve.imagine import Imagination
from fingerpost.retrieve.translate import Translator
from fingerpost.running import Run
from fingerpost.types.decision import ClassificationResult, Tier
from fingerpost.types.evidence import Evidence
from fingerpost.types.query import Filters
from fingerpost.types.source import Passage, Source

ASKING: Final = 0.6
"""Share of the time left that the host's own retrievers may take."""
RERANKING: Final = 0.3
"""Share that a model takes for reranking; retrieval itself ends it a little later."""


async def find(run: Run, classification: ClassificationResult) -> Evidence:
    """Return the evidence for the question; none for small talk."""
    if classification.tier is Tier.TRIVIAL:
        return Evidence(hits=(), tiers_used=(0,))
    run.hold_deadline("retrieve")
    began = run.parts.clock()
    evidence = await _found(run, classification)
    run.timed("retrieve", began)
    run.noted(evidence.fallbacks)
    await run.notify(run.parts.config.on_retrieval, evidence)
    return evidence


async def _found(run: Run, classification: ClassificationResult) -> Evidence:
    """Search the index and ask the host's own retrievers, side by side."""
    filters, foreign = places_to_search(run)
    k = run.query.top_k or KEPT[_level(classification)]
    passages: dict[str, tuple[Passage, ...]] = {}
    evidence = Evidence(
        hits=(), tiers_used=(int(classification.tier),), generation=run.reader.info.generation
    )

    async def ask_others() -> None:
        passages.update(await _passages(run, foreign, k))

    failure: FingerpostError | None = None
    async with anyio.create_task_group() as group:
        if foreign:
            group.start_soon(ask_others)
        if filters is not None:
            request = _request(run, classification, filters)
            try:
                evidence = await _from_index(run, request, classification)
            except FingerpostError as error:  # out of the group, which would wrap it
                failure = error
    if failure is not None:
        if not isinstance(failure, RetrievalError) or not any(passages.values()):
            raise failure
        run.fall_back("source-skip", f"the index: {failure}")
    if not any(passages.values()):
        return evidence
    return await run.in_thread(
        lambda: joined(run.reader, evidence, passages, run.text, k, run.embedder)
    )


async def _from_index(
    run: Run, request: RetrieveRequest, classification: ClassificationResult
) -> Evidence:
    unified = run.parts.unified()
    try:
        if unified is None:
            return await retrieve(run.reader, request, _tools(run))
        return await unified.retrieve(run.reader, request, _tools(run), classification.plan)
    except BaseExceptionGroup as several:  # of stages that run side by side
        missing: BaseException | None = several.subgroup(MissingRecordingError)
        while isinstance(missing, BaseExceptionGroup):
            missing = missing.exceptions[0]
        if missing is None:
            raise
        raise missing from None


def _level(classification: ClassificationResult) -> Tier:
    return Tier(max(classification.tier, classification.strategy.rank))


async def _passages(run: Run, sources: Sequence[Source], k: int) -> dict[str, tuple[Passage, ...]]:
    """Return what each of the host's retrievers found; one that fails is named and left out."""
    asked = {source.name: source for source in sources}
    until = run.share(ASKING)
    findings = await fetch(asked, run.text, k, deadline=until, limiter=run.limiter)
    for item in findings:
        if item.failure:
            run.fall_back("source-skip", f"source {item.source!r}: {item.failure}")
    return {item.source: item.passages for item in findings}


def _request(run: Run, classification: ClassificationResult, filters: Filters) -> RetrieveRequest:
    query = run.query
    return RetrieveRequest(
        text=run.text,
        tier=classification.tier,
        strategy=classification.strategy,
        filters=filters,
        top_k=query.top_k,
        suggested_sources=classification.suggested_sources,
        query_id=query.query_id,
        context=earlier_questions(run.window),
        explain=query.explain,
    )


def _reranker(run: Run) -> Rerank | None:
    make = run.parts.reranker
    if make is None:
        return None
    return make(run.meter, run.query.query_id, lambda: run.share(RERANKING))


def _tools(run: Run) -> RetrieveTools:
    config = run.parts.config
    chat = run.metered(run.parts.models.classifier)
    imagine, translate = None, None
    if chat is not None:
        until, query_id = run.share(UNDERSTANDING), run.query.query_id
        imagine, translate = Imagination(chat, until, query_id), Translator(chat, until, query_id)
    return RetrieveTools(
        embedder=run.searcher,
        graph_enabled=config.graph_enabled,
        deep_research_enabled=config.deep_research_enabled,
        max_sub_queries=config.strategy_config.max_sub_queries,
        graph_expand=config.graph_expand,
        rerank=_reranker(run),
        deep_research=config.deep_research,
        research_rounds=config.research_rounds,
        web=run.metered_web(),
        web_always=config.web_research == "always",
        observe=run.take,
        remaining_s=run.remaining_s,
        imagine=imagine,
        translate=translate,
        hyde_hypotheses=config.hyde_hypotheses,
        limiter=run.limiter,
    )
