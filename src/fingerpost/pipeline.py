"""The stages in order: rewrite, classify, retrieve, generate, verify.

The only module that imports every stage. What a result says is built from return values of the
stages; events tell the same story to whoever listens and are never read back.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from fingerpost.classify import apply_policy, fallback_classification
from fingerpost.classify.followup import earlier_questions, rewrite_follow_up
from fingerpost.errors import DeadlineExceededError, FingerpostError, UsageError
from fingerpost.generate import (
    abstain,
    cite_sources,
    extract_answer,
    should_abstain,
    small_talk,
)
from fingerpost.lanes.metered import MeteredEmbedder
from fingerpost.observe import events
from fingerpost.retrieve import first_look, retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.running import Parts, Run, notify, pieces, source_texts
from fingerpost.stores.base import Reader
from fingerpost.text.language import detect_language
from fingerpost.types.answer import (
    AbstentionReason,
    Answer,
    GenerationMode,
    SourceCitation,
    VerifiedResponse,
)
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.evidence import Evidence, FirstLook
from fingerpost.types.ids import digest
from fingerpost.types.query import Query, Turn
from fingerpost.types.result import QueryResult
from fingerpost.verify import apply_verdict_policy

_LOG = logging.getLogger("fingerpost.pipeline")
T = TypeVar("T")


class Pipeline:
    """Runs questions. One object serves many questions at once."""

    def __init__(self, parts: Parts, n_threads: int) -> None:
        self._parts = parts
        self._n_threads = n_threads
        self._limiters: RunVar[anyio.CapacityLimiter] = RunVar(f"fingerpost-limiter-{id(self)}")
        self._fingerprint = digest(repr(parts.config), size=16)

    @property
    def _limiter(self) -> anyio.CapacityLimiter:
        """Return what bounds the worker threads of the running event loop."""
        try:
            return self._limiters.get()
        except LookupError:
            limiter = anyio.CapacityLimiter(self._n_threads)
            self._limiters.set(limiter)
            return limiter

    @property
    def fingerprint(self) -> str:
        """Return the hash of the settings that shape every result."""
        return self._fingerprint

    def stand_alone(self, query: Query) -> str:
        """Return the question made to stand alone with the help of the conversation window."""
        return rewrite_follow_up(query.text, self._window(query)) or query.text

    def _window(self, query: Query) -> tuple[Turn, ...]:
        size = self._parts.config.conversation_window_size
        return query.history[-size:] if size else ()

    async def classify(self, query: Query) -> ClassificationResult:
        """Classify without retrieving anything but a first look."""
        with self._parts.store.reader() as reader:
            run = self._begin(query, reader)
            return await self._classify(run)

    async def retrieve(self, query: Query) -> Evidence:
        """Classify and retrieve, without writing an answer."""
        with self._parts.store.reader() as reader:
            run = self._begin(query, reader)
            classification = await self._classify(run)
            return await self._retrieve(run, classification)

    async def run(self, query: Query) -> QueryResult:
        """Answer a question. See `stream`."""
        result: QueryResult | None = None
        async for event in self.stream(query):
            if isinstance(event, events.RouteComplete):
                result = event.result
        if result is None:
            raise UsageError("the pipeline ended without a result")
        return result

    async def stream(self, query: Query) -> AsyncGenerator[events.Event]:
        """Yield every event of the question in order; the last is `RouteComplete`.

        Raises:
            DeadlineExceededError: The deadline passed.
        """
        with self._parts.store.reader() as reader:
            run = self._begin(query, reader)
            classification = await self._classify(run)
            for event in self._drain(run):
                yield event
            evidence = await self._retrieve(run, classification)
            for event in self._drain(run):
                yield event
            answer = await self._generate(run, classification, evidence)
            held_back = self._holds_back()
            for event in self._drain(run, () if held_back else pieces(answer.text)):
                yield event
            result = await self._finish(run, classification, evidence, answer)
            for event in self._drain(run, pieces(result.answer) if held_back else ()):
                yield event
            self._emit(run, events.RouteComplete, result=result, duration_ms=result.duration_ms)
            for event in self._drain(run):
                yield event

    def _holds_back(self) -> bool:
        return self._parts.verifier is not None and self._parts.config.on_unsupported == "drop"

    def _begin(self, query: Query, reader: Reader) -> Run:
        started = self._parts.clock()
        limit = query.deadline_s or self._parts.config.deadline_s
        return Run(query, self.stand_alone(query), started, reader, limit, self._parts.clock)

    def _emit(self, run: Run, kind: type[events.Event], **values: Any) -> None:
        event = kind(at=self._parts.wall(), query_id=run.query.query_id, **values)
        self._take(run, event)

    def _take(self, run: Run, event: events.Event) -> None:
        run.pending.append(event)
        self._parts.observe(event)

    def _drain(self, run: Run, pieces: tuple[str, ...] = ()) -> list[events.Event]:
        for piece in pieces:
            self._emit(run, events.GenerateDelta, text=piece)
        drained, run.pending = run.pending, []
        return drained

    async def _stage(self, run: Run, name: str, work: Callable[[], T]) -> T:
        """Run a stage in a worker thread, time it, and hold the deadline."""
        run.hold_deadline(name)
        started = self._parts.clock()
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._limiter)
        finally:
            run.timed(name, started)

    async def _notify(self, run: Run, hook: Callable[..., Any] | None, value: object) -> None:
        await notify(hook, value, limiter=self._limiter, remaining_s=run.remaining_s())

    async def _classify(self, run: Run) -> ClassificationResult:
        self._emit(run, events.ClassifyStart)
        query, config = run.query, self._parts.config
        cap = config.max_tier if query.max_tier is None else min(config.max_tier, query.max_tier)
        try:
            raw = await self._stage(run, "classify", lambda: self._raw_classification(run))
        except DeadlineExceededError:
            raise
        except Exception as error:
            _LOG.exception("classification failed")
            self._emit(run, events.ClassifyError, error=type(error).__name__)
            run.fall_back("classify-fallback")
            raw = fallback_classification(str(error), config.strategy_config.default_strategy)
        result = apply_policy(
            raw,
            confidence_threshold=config.confidence_threshold,
            max_tier=cap,
            force_strategy=config.strategy_config.force_strategy,
            forced_tier=None if query.tier is None else Tier(query.tier),
        )
        if result.escalated_from is not None:
            run.fall_back("tier-escalation")
        self._emit(
            run,
            events.ClassifyComplete,
            classification=result,
            duration_ms=run.timings.get("classify", 0.0),
        )
        self._emit(
            run,
            events.StrategySelect,
            strategy=result.strategy.value,
            source=result.decided_by.value,
        )
        await self._notify(run, config.on_classification, result)
        return result

    def _raw_classification(self, run: Run) -> ClassificationResult:
        config = self._parts.config
        forced = run.query.tier
        if config.strategy_config.force_strategy is not None and forced is None:
            forced = config.strategy_config.force_strategy.rank
        if forced is not None:
            return ClassificationResult(
                tier=Tier(forced),
                strategy=Strategy.for_tier(forced),
                confidence=1.0,
                reasoning="The caller fixed the tier.",
                decided_by=DecidedBy.FORCED,
            )
        classify = partial(
            self._parts.classifier.classify,
            run.text,
            history=self._window(run.query),
            confidence_threshold=0.0,
            first_look=self._first_look(run),
            tool_names=config.available_tools,
        )
        found = classify()
        # A topic only keeps a question from T0, and reading the topics of a large index takes long.
        return classify(topics=self._parts.topics()) if found.tier is Tier.TRIVIAL else found

    def _first_look(self, run: Run) -> FirstLook | None:
        try:
            return first_look(run.reader, run.text, run.query.filters)
        except FingerpostError:
            _LOG.warning("the first look failed; classifying without it", exc_info=True)
            return None

    async def _retrieve(self, run: Run, classification: ClassificationResult) -> Evidence:
        if classification.tier is Tier.TRIVIAL:
            return Evidence(hits=(), tiers_used=(0,))
        run.hold_deadline("retrieve")
        config, query = self._parts.config, run.query
        started = self._parts.clock()
        embedder = None
        if self._parts.embedder is not None:
            embedder = MeteredEmbedder(self._parts.embedder)
        request = RetrieveRequest(
            text=run.text,
            tier=classification.tier,
            strategy=classification.strategy,
            filters=query.filters,
            top_k=query.top_k,
            suggested_sources=classification.suggested_sources,
            query_id=query.query_id,
            context=earlier_questions(self._window(query)),
            explain=query.explain,
        )
        tools = RetrieveTools(
            embedder=embedder,
            graph_enabled=config.graph_enabled,
            deep_research_enabled=config.deep_research_enabled,
            max_sub_queries=config.strategy_config.max_sub_queries,
            graph_expand=config.graph_expand,
            rerank=config.rerank,
            deep_research=config.deep_research,
            observe=lambda event: self._take(run, event),
            remaining_s=run.remaining_s,
            limiter=self._limiter,
        )
        evidence = await retrieve(run.reader, request, tools)
        run.timed("retrieve", started)
        run.fall_back(*evidence.fallbacks)
        if embedder is not None and embedder.n_calls:
            run.usage.append(embedder.usage())
        await self._notify(run, config.on_retrieval, evidence)
        return evidence

    async def _generate(
        self, run: Run, classification: ClassificationResult, evidence: Evidence
    ) -> Answer:
        mode = "small_talk" if classification.tier is Tier.TRIVIAL else "extractive"
        self._emit(run, events.GenerateStart, mode=mode)
        answer = await self._stage(
            run, "generate", lambda: self._write(run, classification, evidence)
        )
        self._emit(
            run,
            events.GenerateComplete,
            mode=answer.mode.value,
            duration_ms=run.timings["generate"],
        )
        return answer

    def _write(self, run: Run, classification: ClassificationResult, evidence: Evidence) -> Answer:
        language = detect_language(run.query.text)
        if classification.tier is Tier.TRIVIAL:
            return small_talk(run.query.text, language)
        reason = self._why_nothing(run, evidence) or should_abstain(run.text, evidence)
        if reason is not None:
            return abstain(reason, run.text, language)
        return extract_answer(
            run.text,
            evidence,
            tier=classification.tier,
            max_tokens=self._parts.config.max_context_tokens,
        )

    def _why_nothing(self, run: Run, evidence: Evidence) -> AbstentionReason | None:
        if evidence.hits:
            return None
        if run.reader.info.n_chunks == 0:
            return AbstentionReason.NO_DOCUMENT_INDEXED
        selection = run.reader.select(run.query.filters)
        if selection is not None and selection.n_documents == 0:
            return AbstentionReason.FILTER_EXCLUDES_ALL
        return AbstentionReason.NO_DOCUMENT_MATCHES

    async def _finish(
        self, run: Run, classification: ClassificationResult, evidence: Evidence, answer: Answer
    ) -> QueryResult:
        sources = cite_sources(answer, evidence, docs_url=self._parts.config.docs_url)
        grounding, status = await self._verify(run, answer, evidence)
        if grounding is not None and self._holds_back():
            answer, sources, grounding = apply_verdict_policy(answer, sources, grounding)
        return self._result(run, classification, evidence, answer, sources, grounding, status)

    async def _verify(
        self, run: Run, answer: Answer, evidence: Evidence
    ) -> tuple[VerifiedResponse | None, str]:
        verifier = self._parts.verifier
        if verifier is None:
            return None, "not_requested"
        if answer.mode in (GenerationMode.ABSTAINED, GenerationMode.SMALL_TALK):
            return VerifiedResponse(), "checked"
        try:
            found = await self._stage(
                run,
                "verify",
                lambda: verifier.verify_sync(answer.text, source_texts(answer, evidence)),
            )
        except DeadlineExceededError:
            raise
        except Exception as error:
            _LOG.exception("verification failed")
            self._emit(run, events.VerifyComplete, status="unavailable", error=type(error).__name__)
            return None, "unavailable"
        self._emit(
            run,
            events.VerifyComplete,
            status="checked",
            n_claims=found.total_claims,
            n_supported=found.supported_count,
            n_contradicted=found.contradicted_count,
            duration_ms=run.timings["verify"],
        )
        return found, "checked"

    def _result(
        self,
        run: Run,
        classification: ClassificationResult,
        evidence: Evidence,
        answer: Answer,
        sources: tuple[SourceCitation, ...],
        grounding: VerifiedResponse | None,
        status: str,
    ) -> QueryResult:
        state = run.reader.info
        total = (self._parts.clock() - run.started) * 1000
        run.timings["total"] = total
        with_vectors = self._parts.embedder is not None and state.n_vectors > 0
        return QueryResult(
            answer=answer.text,
            classification=classification,
            sources=sources,
            research_synthesis=evidence.synthesis or None,
            grounding=grounding,
            grounding_status=status,
            tiers_used=evidence.tiers_used,
            fallbacks_used=tuple(run.fallbacks),
            duration_ms=total,
            generation_mode=answer.mode,
            abstention=answer.abstention,
            citations=answer.citations,
            removed_markers=answer.removed_markers,
            timings=run.timings,
            usage=tuple(run.usage),
            trace_id=run.query.query_id,
            rewritten_query=None if run.text == run.query.text else run.text,
            retrieval_mode="vector+keyword-fallback" if with_vectors else "keyword-only",
            vector_coverage=state.n_vectors / state.n_chunks if state.n_chunks else 0.0,
            candidates=evidence.candidates,
            sub_queries=evidence.sub_queries,
            uncovered=evidence.uncovered,
            query=run.query,
            lexical_weight=evidence.lexical_weight,
            fingerprints={
                "index": state.fingerprint,
                "config": self._fingerprint,
                "generation": str(state.generation),
            },
        )
