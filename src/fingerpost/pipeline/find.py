"""The step that retrieves."""

from __future__ import annotations

from fingerpost.classify.followup import earlier_questions
from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.imagine import Imagination
from fingerpost.running import Run
from fingerpost.types.decision import ClassificationResult, Tier
from fingerpost.types.evidence import Evidence


async def find(run: Run, classification: ClassificationResult) -> Evidence:
    """Return the evidence for the question; none for small talk."""
    if classification.tier is Tier.TRIVIAL:
        return Evidence(hits=(), tiers_used=(0,))
    run.hold_deadline("retrieve")
    began = run.parts.clock()
    evidence = await retrieve(run.reader, _request(run, classification), _tools(run))
    run.timed("retrieve", began)
    run.noted(evidence.fallbacks)
    await run.notify(run.parts.config.on_retrieval, evidence)
    return evidence


def _request(run: Run, classification: ClassificationResult) -> RetrieveRequest:
    query = run.query
    return RetrieveRequest(
        text=run.text,
        tier=classification.tier,
        strategy=classification.strategy,
        filters=query.filters,
        top_k=query.top_k,
        suggested_sources=classification.suggested_sources,
        query_id=query.query_id,
        context=earlier_questions(run.window),
        explain=query.explain,
    )


def _tools(run: Run) -> RetrieveTools:
    config = run.parts.config
    chat = run.metered(run.parts.models.classifier)
    imagine = None
    if chat is not None:
        imagine = Imagination(chat, run.deadline, run.query.query_id)
    return RetrieveTools(
        embedder=run.searcher,
        graph_enabled=config.graph_enabled,
        deep_research_enabled=config.deep_research_enabled,
        max_sub_queries=config.strategy_config.max_sub_queries,
        graph_expand=config.graph_expand,
        rerank=config.rerank,
        deep_research=config.deep_research,
        observe=run.take,
        remaining_s=run.remaining_s,
        imagine=imagine,
        hyde_hypotheses=config.hyde_hypotheses,
        limiter=run.limiter,
    )
