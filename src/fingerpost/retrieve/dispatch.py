"""Retrieval by tier: one search, a wider one with graph and rerank, or an investigation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from fingerpost.observe.events import RetrieveComplete, RetrieveStart
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.beside import MOST, filled, joined_neighbours, regrouped
from fingerpost.retrieve.continued import continued
from fingerpost.retrieve.foreign import still_unknown
from fingerpost.retrieve.hybrid import HybridResult, coverage_of
from fingerpost.retrieve.investigate import investigate
from fingerpost.retrieve.pack import spread
from fingerpost.retrieve.raptor import overview_stage
from fingerpost.retrieve.run import Run, merged
from fingerpost.retrieve.stages import expand_stage, imagine_stage, rerank_stage
from fingerpost.retrieve.translate import translate_stage
from fingerpost.stores.base import Reader
from fingerpost.types.decision import Tier
from fingerpost.types.evidence import Evidence, Hit

WIDE_K = 15
KEPT = {Tier.LOOKUP: 5, Tier.MULTI_SOURCE: 5, Tier.RESEARCH: 10}


async def retrieve(reader: Reader, request: RetrieveRequest, tools: RetrieveTools) -> Evidence:
    """Return the evidence for one question.

    A strategy stronger than the tier's own decides how much is run. Whatever fails but the
    search itself is left out and named in ``fallbacks``. When the time is over after the first
    search, its hits are the evidence, and ``tiers_used`` says T1.

    Args:
        reader: One generation of the index, open until this returns.
        request: The question.
        tools: Model, hooks, observer and limits.

    Raises:
        RetrievalError: Neither words nor vectors could be searched.
    """
    started = time.perf_counter()
    run = Run(reader, request, tools)
    level = Tier(max(request.tier, request.strategy.rank))
    if request.tier is Tier.TRIVIAL or request.top_k == 0:
        level = Tier.TRIVIAL
    run.emit(RetrieveStart, tier=int(level))
    evidence = await _at_level(run, level)
    spent = run.took("retrieve", started)
    run.emit(RetrieveComplete, n_hits=len(evidence.hits), duration_ms=spent)
    return evidence


async def _at_level(run: Run, level: Tier) -> Evidence:
    if level is Tier.TRIVIAL:
        return Evidence(hits=(), tiers_used=(0,), generation=run.reader.info.generation)
    if run.request.filters:
        run.within = await run.in_thread(lambda: run.reader.select(run.request.filters))
    k = KEPT[level] if run.request.top_k is None else run.request.top_k
    await translate_stage(run, [run.request.text])
    if level is Tier.LOOKUP:
        found = await first_search(run, k)
        kept = await overview_stage(run, found, found.hits, k)
        return await run.in_thread(lambda: evidence_of(run, level, found, kept[:k]))
    imagined = await imagine_stage(run, level)
    found = await first_search(run, max(WIDE_K, k), imagined.passages)
    if run.tools.remaining_s() <= 0:
        run.fall_back("deadline-reached", f"one search instead of {level.label}")
        hits = spread(found.hits, k)
        return await run.in_thread(lambda: evidence_of(run, Tier.LOOKUP, found, hits))
    if level is Tier.MULTI_SOURCE:
        wide = await expand_stage(run, found, found.hits)
        ranked = await rerank_stage(run, found.question, wide, max(WIDE_K, MOST * k))
        hits = await run.in_thread(lambda: filled(spread(ranked, k), ranked, k))
        kept = await overview_stage(run, found, hits, k)
        return await run.in_thread(lambda: evidence_of(run, level, found, kept, wide))
    deep = await investigate(run, found, k, imagined.parts)
    kept = await overview_stage(run, found, deep.hits, k)
    evidence = await run.in_thread(lambda: evidence_of(run, level, found, kept, deep.ranked))
    return replace(
        evidence,
        sub_queries=deep.sub_queries,
        parts=tuple(replace(p, hits=regrouped(p.hits, evidence.hits)) for p in deep.parts),
        uncovered=deep.uncovered,
        synthesis=deep.synthesis,
        web_searched=deep.web_searched,
    )


async def first_search(run: Run, k: int, imagined: Sequence[str] = ()) -> HybridResult:
    """Return the hybrid search for the question itself.

    Args:
        run: The retrieval in flight.
        k: How many hits.
        imagined: Passages that could answer the question.
    """
    started = time.perf_counter()
    request = run.request
    found = await run.in_thread(
        lambda: run.search(run.question(request.text, request.context, imagined), k)
    )
    run.took("search", started)
    run.tell(found, started)
    return found


def evidence_of(
    run: Run,
    level: Tier,
    found: HybridResult,
    hits: Sequence[Hit],
    wide: Sequence[Hit] = (),
) -> Evidence:
    """Return the hits with what they go on in, and all that was looked at on the way.

    From T2 on, hits that stand next to each other are one passage.
    """
    further = continued(run.reader, hits, run.request.filters)
    kept = joined_neighbours(hits) if level > Tier.LOOKUP else hits
    return Evidence(
        hits=tuple(kept),
        candidates=tuple(merged(kept, hits, further, wide, found.candidates)),
        tiers_used=(int(level),),
        fallbacks=tuple(run.fallbacks),
        vectors_searched=run.vectors_searched,
        lexical_weight=found.weight,
        coverage=coverage_of(found.question, hits),
        unknown_terms=still_unknown(found.question, hits),
        generation=run.reader.info.generation,
        timings=run.timings,
        translation=run.translated.get(run.request.text, ""),
        overview=run.overview,
    )
