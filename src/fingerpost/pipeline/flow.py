"""The stages in order: rewrite, classify, retrieve, generate, verify.

What a result says is built from return values of the stages; events tell the same story to
whoever listens and are never read back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import InvalidQueryError, LaneError, UsageError
from fingerpost.generate import cite_sources
from fingerpost.observe import events
from fingerpost.pipeline.check import may_change, settle
from fingerpost.pipeline.find import find
from fingerpost.pipeline.fresh import compared
from fingerpost.pipeline.outcome import outcome
from fingerpost.pipeline.platform import Answered, answered, with_platform
from fingerpost.pipeline.understand import begin, classify, rewrite
from fingerpost.running import Parts, Run
from fingerpost.stores.base import Reader
from fingerpost.types.answer import Answer, SourceCitation
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.evidence import Evidence, Hit
from fingerpost.types.ids import digest
from fingerpost.types.query import Query
from fingerpost.types.result import QueryResult
from fingerpost.types.source import Source

_ROLES = ("complete", "decide", "route")


def _told(config: QueryRouterConfig) -> str:
    """Return the settings as text that is the same in every process; objects by their class."""
    told = []
    for name in type(config).model_fields:
        value = getattr(config, name)
        if name == "sources":
            value = list(map(_told_source, value))
        if callable(value) or any(hasattr(value, role) for role in _ROLES):
            kind = value if isinstance(value, type) else type(value)
            value = getattr(value, "__qualname__", kind.__qualname__)
        told.append(f"{name}={value!r}")
    return "\n".join(told)


def _told_source(source: Source) -> tuple[object, ...]:
    found = source.retriever
    place = found if isinstance(found, str) else type(found).__qualname__
    return source.name, source.description, source.examples, source.min_probability, place


@contextmanager
def _told_how_it_ends(run: Run) -> Iterator[None]:
    """Tell the observers of a question that ends without a result."""
    try:
        yield
    except BaseException as error:
        took = (run.parts.clock() - run.started) * 1000
        run.emit(events.RouteError, error=type(error).__name__, duration_ms=took)
        raise


async def _events(
    run: Run, pieces: AsyncGenerator[str | Answered]
) -> AsyncGenerator[events.Event | Answered]:
    """Yield the events of an answer in the making, then the answer."""
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                if isinstance(piece, Answered):
                    yield piece
                elif piece:
                    run.emit(events.GenerateDelta, text=piece)
                for event in run.drain():
                    yield event
        except LaneError:
            for event in run.drain():
                yield event
            raise


class Pipeline:
    """Runs questions. One object serves many questions at once."""

    def __init__(self, parts: Parts, n_threads: int) -> None:
        self._parts = parts
        self._n_threads = n_threads
        self._limiters: RunVar[anyio.CapacityLimiter] = RunVar(f"fingerpost-limiter-{id(self)}")
        self._fingerprint = digest(_told(parts.config), size=16)

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

    async def classify(self, query: Query) -> ClassificationResult:
        """Classify without retrieving anything but a first look."""
        with self._parts.store.reader() as reader:
            return await self._understand(self._begin(query, reader))

    async def retrieve(self, query: Query) -> Evidence:
        """Classify and retrieve, without writing an answer."""
        with self._parts.store.reader() as reader:
            run = self._begin(query, reader)
            classification = await self._understand(run)
            return await with_platform(run, classification, await find(run, classification))

    async def kept(self, result: QueryResult) -> QueryResult:
        """Return a result that was kept, compared with the files as they are now."""
        sources = await self._compared(result.sources, result.candidates)
        return replace(result, sources=sources)

    async def _compared(
        self, sources: tuple[SourceCitation, ...], hits: Sequence[Hit]
    ) -> tuple[SourceCitation, ...]:
        """Set which sources are stale: files are looked at off the event loop."""
        if not sources:
            return sources
        look = partial(compared, sources, hits, self._parts.is_stale)
        return await anyio.to_thread.run_sync(look, limiter=self._limiter)

    async def run(self, query: Query) -> QueryResult:
        """Answer a question. See `stream`."""
        result: QueryResult | None = None
        async with aclosing(self._story(query, live=False)) as story:
            async for event in story:
                if isinstance(event, events.RouteComplete):
                    result = event.result
        if result is None:
            raise UsageError("the pipeline ended without a result")
        return result

    async def stream(self, query: Query) -> AsyncGenerator[events.Event]:
        """Yield every event of the question in order; the last is `RouteComplete`.

        Raises:
            DeadlineExceededError: The deadline passed.
            LaneError: The model broke off after text had been yielded; the last event is
                `GenerateError`.
        """
        async with aclosing(self._story(query, live=True)) as story:
            async for event in story:
                yield event

    async def _understand(self, run: Run) -> ClassificationResult:
        begin(run)
        await rewrite(run)
        return await classify(run)

    def _begin(self, query: Query, reader: Reader) -> Run:
        parts = self._parts
        config = parts.config
        if query.require_grounded and parts.make_verifier is None:
            raise InvalidQueryError("require_grounded: verify_citations is off")
        budget = config.budget_usd if query.budget_usd is None else query.budget_usd
        meter = parts.make_meter(budget)
        return Run(
            parts=parts,
            query=query,
            reader=reader,
            limiter=self._limiter,
            text=query.text,
            started=parts.clock(),
            limit_s=query.deadline_s or config.deadline_s,
            meter=meter,
            embedder=None if parts.embedder is None else meter.around_embedder(parts.embedder),
        )

    async def _story(self, query: Query, *, live: bool) -> AsyncGenerator[events.Event]:
        with self._parts.store.reader() as reader:
            run = self._begin(query, reader)
            with _told_how_it_ends(run):
                begin(run)
                for event in run.drain():
                    yield event
                await rewrite(run)
                classification = await classify(run)
                for event in run.drain():
                    yield event
                evidence = await find(run, classification)
                for event in run.drain():
                    yield event
                found: Answered | None = None
                pieces = answered(run, classification, evidence, live=live and not may_change(run))
                async with aclosing(_events(run, pieces)) as written:
                    async for item in written:
                        if isinstance(item, Answered):
                            found = item
                        else:
                            yield item
                if found is None:
                    raise UsageError("the generator ended without an answer")
                result = await self._finish(run, classification, found, live=live)
                run.emit(events.RouteComplete, result=result, duration_ms=result.duration_ms)
            for event in run.drain():
                yield event

    async def _finish(
        self,
        run: Run,
        classification: ClassificationResult,
        found: Answered,
        *,
        live: bool,
    ) -> QueryResult:
        answer, evidence = found
        holds_back = may_change(run)
        if not holds_back:
            self._written(run, answer, told=live)
        sources = cite_sources(answer, evidence, docs_url=self._parts.config.docs_url)
        checked = await settle(run, answer, evidence, sources)
        if holds_back:
            self._written(run, checked.answer, told=False)
        sources = await self._compared(checked.sources, evidence.candidates)
        checked = checked._replace(sources=sources)
        return outcome(run, classification, evidence, checked, self._fingerprint)

    def _written(self, run: Run, answer: Answer, *, told: bool) -> None:
        """Tell the answer's text, unless it has been told, and that it is written."""
        if not told:
            for line in answer.text.splitlines(keepends=True):
                run.emit(events.GenerateDelta, text=line)
        run.emit(
            events.GenerateComplete,
            mode=answer.mode.value,
            duration_ms=run.timings.get("generate", 0.0),
        )
