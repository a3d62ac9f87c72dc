"""Retrieval by plan: several kinds of sources side by side, fused by reciprocal rank."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from fingerpost.errors import ConfigError, LaneError, RetrievalError
from fingerpost.observe.events import RetrieveComplete, RetrieveStart
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.beside import MOST, filled, joined_neighbours
from fingerpost.retrieve.branches import Branches, BranchSources
from fingerpost.retrieve.continued import continued
from fingerpost.retrieve.dates import HALF_LIFE_DAYS, is_young_enough, recent_first
from fingerpost.retrieve.dispatch import KEPT
from fingerpost.retrieve.foreign import still_unknown
from fingerpost.retrieve.hybrid import coverage_of
from fingerpost.retrieve.investigate import interleaved, split, uncovered_of, with_findings
from fingerpost.retrieve.overview import overview_subject
from fingerpost.retrieve.pack import spread
from fingerpost.retrieve.plan import Policy, plan_for, under
from fingerpost.retrieve.question import Question, clean
from fingerpost.retrieve.research import Findings
from fingerpost.retrieve.research_stage import research_stage
from fingerpost.retrieve.run import Run, merged
from fingerpost.retrieve.stages import rerank_stage
from fingerpost.retrieve.translate import translate_stage
from fingerpost.stores.base import Reader
from fingerpost.types.decision import Tier
from fingerpost.types.evidence import Evidence, Hit
from fingerpost.types.plan import ExecutionPlan
from fingerpost.types.source import Retriever

_WEAK_COVERAGE: Final = 0.6
_NEAR: Final = 0.45
_RANKED: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class UnifiedRetriever:
    """Runs an `ExecutionPlan` over the sources it was built with.

    Branches run side by side and each may fail alone; their rankings are fused by reciprocal
    rank (k = 60), newer documents are raised when the plan prefers them, and the rest is as
    without a plan: reranked, spread over documents, researched. When nothing is found, or what
    is found is weak, the next policy runs once. A question with filters goes to none of the
    host's own retrievers, whose passages cannot pass them; the index stands in where it can.

    Attributes:
        policy: How much a plan may cost.
        hybrid: Instead of words and vectors of the index.
        graph: Instead of the index's document graph.
        raptor: Instead of the index's own summaries.
        memory: Earlier conversations, such as a `TextMemory`; none without it.
        multimodal: Media; without it the passages of the corpus that show pictures.
        half_life_days: Age at which the gain of a newer document has halved, > 0.
        max_age_days: Documents known to be older are left out; ``None`` keeps all.
        wall: Seconds since the epoch.

    Raises:
        ConfigError: A value is not allowed.
    """

    policy: Policy = Policy.BALANCED
    hybrid: Retriever | None = None
    graph: Retriever | None = None
    raptor: Retriever | None = None
    memory: Retriever | None = None
    multimodal: Retriever | None = None
    half_life_days: float = HALF_LIFE_DAYS
    max_age_days: float | None = None
    wall: Callable[[], float] = field(default=time.time, compare=False)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "policy", Policy(self.policy))
        except ValueError as error:
            allowed = ", ".join(Policy)
            raise ConfigError(f"policy is {self.policy!r}, allowed are {allowed}") from error
        for name in ("half_life_days", "max_age_days"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ConfigError(f"{name} is {value!r}, allowed is a number above 0")
        for name in ("hybrid", "graph", "raptor", "memory", "multimodal"):
            source = getattr(self, name)
            if source is not None and not callable(getattr(source, "retrieve", None)):
                raise ConfigError(f"{name} is a {type(source).__name__}, which cannot retrieve")

    async def retrieve(
        self,
        reader: Reader,
        request: RetrieveRequest,
        tools: RetrieveTools,
        plan: ExecutionPlan | None = None,
    ) -> Evidence:
        """Return the evidence for one question.

        Args:
            reader: One generation of the index, open until this returns.
            request: The question.
            tools: Model, hooks, observer and limits.
            plan: What a classifier proposed; ``None`` plans by the tier.

        Raises:
            RetrievalError: Every branch failed.
        """
        started = time.perf_counter()
        run = Run(reader, request, tools)
        if self.max_age_days is not None:
            now, most = self.wall(), self.max_age_days
            run.is_young = lambda hit: is_young_enough(hit, now, most)
        level = Tier(max(request.tier, request.strategy.rank))
        run.emit(RetrieveStart, tier=int(level))
        if request.tier is Tier.TRIVIAL or request.top_k == 0:
            evidence = Evidence(hits=(), tiers_used=(0,), generation=reader.info.generation)
        else:
            if request.filters:
                run.within = await run.in_thread(lambda: reader.select(request.filters))
            evidence = await self._at(run, level, plan or _planned(level, request.text))
        spent = run.took("retrieve", started)
        run.emit(RetrieveComplete, n_hits=len(evidence.hits), duration_ms=spent)
        return replace(evidence, timings=run.timings, fallbacks=tuple(run.fallbacks))

    async def _at(self, run: Run, level: Tier, plan: ExecutionPlan) -> Evidence:
        evidence = await self._under(self.policy, run, level, plan)
        higher, reason = self.policy.higher, weakness(evidence)
        if reason and higher is not None and run.tools.remaining_s() > 0:
            run.fall_back("policy-escalation", f"{reason}; ran {higher.value} once")
            try:
                again = await self._under(higher, run, level, plan)
            except RetrievalError:  # what there is stands, weak as it is
                return evidence
            told = (*evidence.diagnostics, *again.diagnostics)
            better = again if again.hits else evidence
            evidence = replace(better, diagnostics=told)
        return evidence

    async def _under(self, policy: Policy, run: Run, level: Tier, plan: ExecutionPlan) -> Evidence:
        chosen = under(policy, plan)
        k = KEPT[level] if run.request.top_k is None else run.request.top_k
        await translate_stage(run, [run.request.text])
        imagined = await _imagined(run, chosen)
        sources = BranchSources(self.hybrid, self.graph, self.raptor, self.memory, self.multimodal)
        branches = Branches(run, sources, chosen, policy, k, imagined)
        await self._searched(branches)
        if branches.missing is not None:
            raise branches.missing
        if branches.diagnostics and all(
            item.error or item.skipped for item in branches.diagnostics
        ):
            told = "; ".join(f"{item.name}: {item.error or item.skipped}"
                             for item in branches.diagnostics)  # fmt: skip
            raise RetrievalError(f"No source could be searched: {told}")
        if level > Tier.LOOKUP and run.tools.remaining_s() <= 0:
            run.fall_back("deadline-reached", f"one search instead of {level.label}")
            level, policy, chosen = Tier.LOOKUP, Policy.FAST, replace(chosen, deep_research=False)
        question = await run.in_thread(lambda: branches.question)
        ranked = await self._ranked(branches, policy, question)
        parts, findings = await _researched(run, question, chosen, ranked)
        found = _Found(branches, question, ranked, parts, findings)
        return await run.in_thread(lambda: _evidence(found, level))

    async def _searched(self, branches: Branches) -> None:
        """Run the branches of the plan side by side; what builds on the hybrid one after it."""
        plan = branches.plan
        has_summaries = branches.run.reader.info.n_summaries > 0
        own_raptor = has_summaries and branches.host("raptor") is None

        async def own() -> None:
            await branches.tell("hybrid", branches.hybrid)
            async with anyio.create_task_group() as inner:
                graph = plan.graph and plan.graph_depth and branches.run.tools.graph_enabled
                if graph and branches.has_start("graph"):
                    inner.start_soon(branches.tell, "graph", branches.graph)
                if plan.multimodal and branches.has_start("multimodal"):
                    inner.start_soon(branches.tell, "multimodal", branches.multimodal)
                if plan.raptor and own_raptor and branches.has_start("raptor"):
                    inner.start_soon(branches.tell, "raptor", branches.raptor)

        async with anyio.create_task_group() as group:
            group.start_soon(own)
            for name, wanted in (("raptor", plan.raptor), ("memory", plan.memory)):
                retriever = branches.host(name) if wanted else None
                if wanted and retriever is None and not (name == "raptor" and own_raptor):
                    branches.skip(name, "no such source was given")
                elif wanted and retriever is not None:
                    group.start_soon(branches.tell, name, _asking(branches, name, retriever))

    async def _ranked(self, branches: Branches, policy: Policy, question: Question) -> list[Hit]:
        run, plan = branches.run, branches.plan
        if run.overview:  # what stands for the whole is no answer to its words
            return branches.lists["raptor"]
        order = ("hybrid", "graph", "raptor", "memory", "multimodal")
        lists = [branches.lists[name] for name in order if branches.lists.get(name)]
        now = self.wall()
        fused = await run.in_thread(lambda: interleaved(lists, run.request.text) if lists else [])
        fused = list(await run.in_thread(lambda: run.young(fused)))
        if plan.prefer_recent:
            fused = await run.in_thread(
                lambda: recent_first(fused, now, half_life_days=self.half_life_days)
            )
        if policy is Policy.FAST:
            return fused
        return await rerank_stage(run, question, fused, max(_RANKED, MOST * branches.k))


def _planned(level: Tier, text: str) -> ExecutionPlan:
    """Return the plan of a tier, with the summaries where an overview is asked for."""
    plan = plan_for(level)
    return plan if overview_subject(text) is None else replace(plan, raptor=True)


def weakness(evidence: Evidence) -> str:
    """Return why the evidence is weak, empty when it is not.

    There are no hits, or the best ones hold too few of the question's words and none of them
    is near it by meaning; a single such hit is told apart.
    """
    if evidence.overview:
        return ""
    if not evidence.hits:
        return "no hits"
    nearest = max((hit.vector_score or 0.0 for hit in evidence.hits), default=0.0)
    if evidence.coverage >= _WEAK_COVERAGE or nearest >= _NEAR:
        return ""
    return "a single weak hit" if len(evidence.hits) == 1 else "weak hits"


def _asking(
    branches: Branches, name: str, retriever: Retriever
) -> Callable[[], Awaitable[Sequence[Hit]]]:
    return lambda: branches.asked(name, retriever)


async def _imagined(run: Run, plan: ExecutionPlan) -> list[str]:
    imagine = run.tools.imagine
    wanted = plan.hyde_hypotheses and plan.vector and run.reader.info.n_vectors
    if imagine is None or not wanted or run.tools.embedder is None:
        return []
    try:
        text = run.translated.get(run.request.text, run.request.text)
        return await imagine.passages(text, plan.hyde_hypotheses)
    except LaneError as error:
        run.fall_back("hyde-unavailable", f"{type(error).__name__}: {error}")
        return []


async def _researched(
    run: Run, question: Question, plan: ExecutionPlan, ranked: Sequence[Hit]
) -> tuple[list[str], Findings | None]:
    """Return the parts of the question and what research adds, none without it."""
    if not plan.deep_research:
        return [], None
    text, most = clean(run.request.text), run.tools.max_sub_queries
    parts = await run.in_thread(lambda: split(text, most)) or [text]
    await translate_stage(run, parts)
    return parts, await research_stage(run, question, parts, ranked)


@dataclass(frozen=True, slots=True)
class _Found:
    """What one policy found: the branches, their hits in one ranking, and what research added."""

    branches: Branches
    question: Question
    ranked: list[Hit]
    parts: list[str]
    findings: Findings | None


def _evidence(given: _Found, level: Tier) -> Evidence:
    branches, ranked, findings = given.branches, given.ranked, given.findings
    run, found, k = branches.run, branches.found, branches.k
    hits = spread(ranked, k)
    if findings is not None and findings.hits and not run.overview:
        hits = with_findings(hits, findings.hits, k)
    if level > Tier.LOOKUP:
        hits = filled(hits, ranked, k)
    kept = joined_neighbours(hits) if level > Tier.LOOKUP else hits
    further = continued(run.reader, hits, run.request.filters)
    known = found.candidates if found is not None else ()
    uncovered = () if findings is None else uncovered_of(run, given.parts, hits, findings)
    return Evidence(
        hits=tuple(kept),
        candidates=tuple(merged(kept, hits, further, ranked, known)),
        tiers_used=(int(level),),
        vectors_searched=run.vectors_searched,
        synthesis=findings.synthesis if findings is not None else "",
        uncovered=uncovered,
        lexical_weight=found.weight if found is not None else None,
        coverage=coverage_of(given.question, hits),
        unknown_terms=still_unknown(given.question, hits),
        web_searched=findings is not None and findings.web_searched,
        overview=run.overview,
        generation=run.reader.info.generation,
        translation=run.translated.get(run.request.text, ""),
        diagnostics=tuple(branches.diagnostics),
    )
