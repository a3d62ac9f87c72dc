"""The branches of a planned retrieval: each searches one kind of source and may fail alone."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fingerpost.errors import MissingRecordingError
from fingerpost.observe.hooks import call_hook
from fingerpost.retrieve.foreign import hits_of, usable_passages
from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.overview import overview_subject
from fingerpost.retrieve.pictures import pictured
from fingerpost.retrieve.plan import Policy
from fingerpost.retrieve.question import Question
from fingerpost.retrieve.raptor import leads_of
from fingerpost.retrieve.run import Run
from fingerpost.retrieve.stages import expansion
from fingerpost.types.evidence import BranchDiagnostics, Hit
from fingerpost.types.plan import ExecutionPlan
from fingerpost.types.source import Retriever

WIDE_K: Final = 15
_FILTERED: Final = "the question has filters, which passages of the host's own cannot pass"
_UNSEARCHED: Final = "it starts from the index's own search, which did not run or failed"
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class BranchSources:
    """Who serves each branch; ``None`` takes the built-in one where there is one.

    Attributes:
        hybrid: Instead of words and vectors of the index.
        graph: Instead of links, places and headings around the best hits.
        raptor: Instead of the index's own summaries.
        memory: Earlier conversations; `TextMemory` is one. Nothing without it.
        multimodal: Instead of what stands beside pictures in the documents.
    """

    hybrid: Retriever | None = None
    graph: Retriever | None = None
    raptor: Retriever | None = None
    memory: Retriever | None = None
    multimodal: Retriever | None = None


@dataclass(slots=True)
class Branches:
    """The branches of one question under one plan.

    Attributes:
        run: The retrieval in flight.
        sources: Who serves them.
        plan: Which of them run.
        policy: For the diagnostics.
        k: Hits of each branch.
        imagined: Passages that could answer, for the vector leg.
        found: What the built-in hybrid search gave, for what builds on it.
        lists: Name of a branch → its hits, best first.
        diagnostics: Of those that ran or were left out, in the order in which they ended.
        missing: What a replay has no record of; it ends the question.
    """

    run: Run
    sources: BranchSources
    plan: ExecutionPlan
    policy: Policy
    k: int
    imagined: Sequence[str] = ()
    found: HybridResult | None = None
    lists: dict[str, list[Hit]] = field(default_factory=dict)
    diagnostics: list[BranchDiagnostics] = field(default_factory=list)
    missing: MissingRecordingError | None = None

    def host(self, name: str) -> Retriever | None:
        """Return who serves a branch instead of the index, ``None`` without one.

        Passages of the host's own have no path, tag or language, so that a question with a
        filter does not go there, unless it is one of sources and names the branch.
        """
        retriever: Retriever | None = getattr(self.sources, name)
        filters = self.run.request.filters
        if retriever is None or not filters:
            return retriever
        if name in filters.sources and not replace(filters, sources=()):
            return retriever
        self.run.fall_back(f"{name}-skip", _FILTERED)
        return None

    async def tell(self, name: str, search: Callable[[], Awaitable[Sequence[Hit]]]) -> None:
        """Run one branch; note its hits, its time and how it failed.

        The search of the index itself runs however late it is: without it there is no answer.
        """
        started = time.perf_counter()
        error = ""
        try:
            first = name == "hybrid" and self.host(name) is None
            if self.run.tools.remaining_s() <= 0 and not first:
                error = "no time left"
            else:
                self.lists[name] = list(await search())
        except MissingRecordingError as missing:
            self.missing = missing
        except Exception as failure:  # one branch never takes the others with it
            error = f"{type(failure).__name__}: {failure}"[:_LONGEST]
        if error:
            self.run.fall_back(f"{name}-skip", error)
        self.diagnostics.append(
            BranchDiagnostics(
                name,
                n_hits=len(self.lists.get(name, ())),
                duration_ms=(time.perf_counter() - started) * 1000,
                error=error,
                policy=self.policy.value,
            )
        )

    @property
    def question(self) -> Question:
        """Return the analysed question; reads the index when its own search did not run."""
        run = self.run
        found = self.found
        return run.question(run.request.text) if found is None else found.question

    def has_start(self, name: str) -> bool:
        """Return whether a branch has its own retriever or a search of the index to start from."""
        if self.host(name) is not None or self.found is not None:
            return True
        self.skip(name, _UNSEARCHED)
        return False

    def skip(self, name: str, reason: str) -> None:
        """Note a branch that does not run, and why."""
        self.diagnostics.append(BranchDiagnostics(name, skipped=reason, policy=self.policy.value))

    async def hybrid(self) -> Sequence[Hit]:
        """Search by words and vectors, as far as the plan wants each."""
        own = self.host("hybrid")
        if own is not None:
            return await self.asked("hybrid", own)
        run, plan = self.run, self.plan
        started = time.perf_counter()
        self.found = found = await run.in_thread(self._searched)
        if plan.vector:
            run.tell(found, started)
        return found.hits

    def _searched(self) -> HybridResult:
        run, plan = self.run, self.plan
        request = run.request
        question = run.question(request.text, request.context, self.imagined)
        asked = question if plan.bm25 or not plan.vector else replace(question, tokens={})
        return run.search(asked, max(WIDE_K, self.k), by_meaning=plan.vector)

    async def graph(self) -> Sequence[Hit]:
        """Follow the document graph from the hybrid hits."""
        own = self.host("graph")
        if own is not None:
            return await self.asked("graph", own)
        if self.found is None or not self.found.hits:
            return []
        return await expansion(self.run, self.found, self.found.hits, self.plan.graph_depth)

    async def raptor(self) -> Sequence[Hit]:
        """Follow the index's own summaries down to chunks."""
        run, found = self.run, self.found
        if found is None:
            return []
        subject = overview_subject(run.request.text)
        wanted = run.request.text if subject is None else subject
        layers = self.plan.raptor_layers
        leads = await run.in_thread(lambda: leads_of(run, found, wanted, self.k, layers))
        leads = list(await run.in_thread(lambda: run.young(leads)))
        run.overview = subject == "" and bool(leads)
        return leads

    async def multimodal(self) -> Sequence[Hit]:
        """Return what the host's retriever sees, else the passages that show pictures."""
        own = self.host("multimodal")
        if own is not None:
            return await self.asked("multimodal", own)
        found = self.found
        return [] if found is None else await self.run.in_thread(lambda: pictured(self.run, found))

    async def asked(self, name: str, retriever: Retriever) -> list[Hit]:
        """Return what a host's retriever found, as hits."""
        run = self.run
        more = {"plan": self.plan} if _takes_plan(retriever) else {}
        search: Callable[..., Any] = retriever.retrieve
        given: object = await call_hook(
            search, run.tools.limiter, run.tools.remaining_s(),
            run.request.text, self.k, **more,
        )  # fmt: skip
        passages = usable_passages(given, self.k)
        return await run.in_thread(lambda: hits_of(name, passages))


def _takes_plan(retriever: Retriever) -> bool:
    try:
        return "plan" in inspect.signature(retriever.retrieve).parameters
    except (TypeError, ValueError):  # a callable that does not tell
        return False
