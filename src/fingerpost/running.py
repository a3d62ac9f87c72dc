"""What a pipeline is made of, and the state of one question on its way through it."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Protocol, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter

from fingerpost.classify import LocalClassifier
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import DeadlineExceededError
from fingerpost.knowledge import Knowledge
from fingerpost.lanes.base import ChatModel, DecisionModel, EmbeddingModel, RerankModel
from fingerpost.lanes.budget import Meter
from fingerpost.lanes.web.counted import AskWeb, WebLane
from fingerpost.observe import events
from fingerpost.observe.hooks import call_hook
from fingerpost.observe.observer import Observer
from fingerpost.retrieve.base import Rerank
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.stores.base import Reader, Store
from fingerpost.types.document import Document
from fingerpost.types.plan import CapabilitySource
from fingerpost.types.query import Query, Turn
from fingerpost.types.result import Usage
from fingerpost.types.routing import FallbackStrategy, SourceRouter, SourceRouting
from fingerpost.types.source import Source
from fingerpost.verify import CitationVerifier, ClaimJudge

_LOG = logging.getLogger("fingerpost.pipeline")
T = TypeVar("T")
_NO_CHAT = frozenset({"embed", "decide", "rerank"})


@dataclass(frozen=True, slots=True)
class Models:
    """The chat models of a pipeline; ``None`` does a job without one.

    Attributes:
        classifier: Classifies, rewrites follow-ups, writes hypotheses and sub-questions.
        writer: Writes T0 and T1 answers.
        writer_deep: Writes T2 and T3 answers.
        decider: Chooses sources and, in the mode ``decision``, the tier.
        reranker: Orders hits.
    """

    classifier: ChatModel | None = None
    writer: ChatModel | None = None
    writer_deep: ChatModel | None = None
    decider: DecisionModel | None = None
    reranker: RerankModel | None = None

    async def close(self) -> None:
        """Close idle connections of the running event loop."""
        chat = (self.classifier, self.writer, self.writer_deep)
        for model in (*chat, self.decider, self.reranker):
            if model is not None:
                await model.close()

    def failed_over(self, usage: Sequence[Usage]) -> bool:
        """Return whether a lane answered with another model than its first."""
        firsts = {
            model.model
            for model in (self.classifier, self.writer, self.writer_deep)
            if model is not None and model.provider == "lane"
        }
        answered = {one.model for one in usage if one.job not in _NO_CHAT and one.outcome == "ok"}
        return bool(firsts) and not answered <= firsts


@dataclass(frozen=True, slots=True)
class RoutedSources:
    """The described sources of a router.

    Attributes:
        sources: At least one.
        router: Returns what chooses among them, with the decision model that it is given.
        is_own: It is the host's own router, whose calls are counted by what it tells of them.
        always: Returns the names of the corpus's other sources, which are always searched.
        fallback: What happens when the router fails.
    """

    sources: tuple[Source, ...]
    router: Callable[[DecisionModel | None], SourceRouter]
    is_own: bool = False
    always: Callable[[], tuple[str, ...]] = tuple
    fallback: FallbackStrategy = FallbackStrategy.ROUTE_TO_ALL


class Platform(Protocol):
    """What fingerpost knows about itself."""

    @property
    def knowledge(self) -> Knowledge:
        """Return the entries."""
        ...

    def store(self, model: EmbeddingModel | None) -> Store:
        """Return their index, with vectors of the model where it runs here; may block.

        Raises:
            FingerpostError: It cannot be made.
        """
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        store: Where the chunks are.
        embedder: The index's own embedding model; ``None`` searches by words alone.
        classifier: Chooses the tier without a model.
        make_verifier: Returns what checks claims with the embedding model and the judge it is
            given; ``None`` when verification is off.
        config: Settings.
        observe: Takes every event.
        topics: Returns what the corpus is about, for the classifier.
        models: Chat models, and the decision model.
        routed: Sources that each question is routed among; ``None`` without any.
        reranker: Returns the ``rerank`` hook of a question from its meter, its id and what returns
            when a call must have ended; ``None`` for the built-in reranker.
        web: Searches the web for the research pass; ``None`` leaves the web alone.
        make_meter: Returns what counts and bounds the spending of a question with the given
            budget in US dollars.
        capabilities: Returns who knows what may be recommended, ``None`` for nobody.
        unified: Returns the retriever that runs plans; ``None`` retrieves by tier.
        delimiter: Returns letters that no document can know, from the question and the
            documents when calls are recorded or replayed.
        is_stale: Returns whether a document's file has changed since it was indexed, ``None``
            when that cannot be known.
        platform: What fingerpost knows about itself; ``None`` leaves it out.
        clock: Monotonic seconds; deadlines of model calls are told in it.
        wall: Seconds since the epoch.
    """

    store: Store
    embedder: EmbeddingModel | None
    classifier: LocalClassifier
    make_verifier: Callable[[EmbeddingModel | None, ClaimJudge | None], CitationVerifier] | None
    config: QueryRouterConfig
    observe: Observer
    topics: Callable[[], tuple[str, ...]]
    models: Models = Models()
    routed: RoutedSources | None = None
    reranker: Callable[[Meter, str, Callable[[], float | None]], Rerank] | None = None
    web: WebLane | None = None
    make_meter: Callable[[float | None], Meter] = Meter
    capabilities: Callable[[], CapabilitySource | None] = lambda: None
    unified: Callable[[], UnifiedRetriever | None] = lambda: None
    delimiter: Callable[[Sequence[str]], str] = lambda _: token_hex(8)
    is_stale: Callable[[Document], bool | None] = lambda _: None
    platform: Platform | None = None
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


@dataclass(slots=True)
class Run:
    """The state of one question on its way through the pipeline."""

    parts: Parts
    query: Query
    reader: Reader
    limiter: CapacityLimiter
    text: str
    started: float
    limit_s: float | None
    meter: Meter
    embedder: EmbeddingModel | None
    pending: list[events.Event] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)
    routing: SourceRouting | None = None

    @property
    def window(self) -> tuple[Turn, ...]:
        """Return the last messages of the conversation, oldest first."""
        size = self.parts.config.conversation_window_size
        return self.query.history[-size:] if size else ()

    @property
    def deadline(self) -> float | None:
        """Return when the question must be done, by the pipeline's clock."""
        return None if self.limit_s is None else self.started + self.limit_s

    @property
    def searcher(self) -> EmbeddingModel | None:
        """Return the embedding model when the index's vectors are its own, else ``None``."""
        model, identity = self.embedder, self.reader.info.identity
        own = model is not None and identity is not None and identity.has_vectors_of(model)
        return model if own else None

    def metered(self, chat: ChatModel | None) -> ChatModel | None:
        """Return the model so that its calls count for this question."""
        return None if chat is None else self.meter.around(chat)

    def metered_web(self) -> AskWeb | None:
        """Return the web search so that its calls count for this question."""
        return None if self.parts.web is None else self.parts.web.metered(self.meter)

    def metered_decider(self) -> DecisionModel | None:
        """Return the decision model so that its calls count for this question."""
        model = self.parts.models.decider
        return None if model is None else self.meter.around_decider(model)

    def remaining_s(self) -> float:
        """Return the seconds left, ``inf`` without a deadline."""
        if self.limit_s is None:
            return math.inf
        return self.limit_s - (self.parts.clock() - self.started)

    def share(self, part: float) -> float | None:
        """Return when a step that may spend ``part`` of the time left must end, 0 to 1."""
        if self.limit_s is None:
            return None
        return self.parts.clock() + part * max(0.0, self.remaining_s())

    def is_late(self, stage: str) -> bool:
        """Return whether the deadline passed; if so, note that ``stage`` is done the short way."""
        if self.limit_s is None or self.remaining_s() > 0:
            return False
        self.fall_back("deadline-reached", f"{stage}: {self.limit_s:g} s have passed")
        return True

    def hold_deadline(self, stage: str) -> None:
        """Do not let a stage begin after the deadline.

        Raises:
            DeadlineExceededError: It passed.
        """
        if self.limit_s is None or self.remaining_s() > 0:
            return
        raise DeadlineExceededError(
            f"the deadline of {self.limit_s:g} s passed before the stage {stage!r}",
            elapsed_s=self.parts.clock() - self.started,
            deadline_s=self.limit_s,
            stage=stage,
        )

    async def stage(self, name: str, work: Callable[[], T]) -> T:
        """Run blocking work in a worker thread, time it, and hold the deadline."""
        self.hold_deadline(name)
        began = self.parts.clock()
        try:
            return await self.in_thread(work)
        finally:
            self.timed(name, began)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run blocking work in a worker thread; it is never abandoned."""
        return await anyio.to_thread.run_sync(work, limiter=self.limiter)

    def timed(self, stage: str, began: float) -> float:
        """Add the time since ``began`` to a stage; return it in milliseconds."""
        took = (self.parts.clock() - began) * 1000
        self.timings[stage] = self.timings.get(stage, 0.0) + took
        return took

    def emit(self, kind: type[events.Event], **values: Any) -> None:
        """Make an event of this question and hand it on."""
        self.take(kind(at=self.parts.wall(), query_id=self.query.query_id, **values))

    def take(self, event: events.Event) -> None:
        """Hand an event to the observers, and keep it for whoever follows the question."""
        self.pending.append(event)
        self.parts.observe(event)

    def drain(self) -> list[events.Event]:
        """Return the events since the last time."""
        drained, self.pending = self.pending, []
        return drained

    def fall_back(self, name: str, reason: str) -> None:
        """Note a fallback, once, in the order in which they fired, and say so."""
        if name not in self.fallbacks:
            self.fallbacks.append(name)
            self.emit(events.RetrieveFallback, name=name, reason=reason)

    def noted(self, names: Sequence[str]) -> None:
        """Note fallbacks that have been told as events already."""
        self.fallbacks.extend(name for name in names if name not in self.fallbacks)

    def prompted(self, prompt: str) -> None:
        """Note a prompt, ``name@hash``, for the result's fingerprints."""
        name, _, fingerprint = prompt.partition("@")
        if fingerprint:
            self.prompts[f"prompt:{name}"] = fingerprint

    async def notify(self, hook: Callable[..., Any] | None, value: object) -> None:
        """Tell a hook, sync or async; its failure is logged and never breaks a question.

        Past the deadline of the question it is left behind.
        """
        if hook is None:
            return
        try:
            await call_hook(hook, self.limiter, self.remaining_s(), value)
        except TimeoutError:
            _LOG.warning("a hook was left behind: the deadline of the question passed")
        except Exception:
            _LOG.exception("a hook failed")
