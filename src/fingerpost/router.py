"""`QueryRouter`: open a corpus, ask it, close it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

import anyio
import anyio.to_thread

from fingerpost import wiring
from fingerpost.blocking import Portal, inside_event_loop
from fingerpost.cache import ResultCache, result_key
from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.explain import CredentialRow, explain
from fingerpost.config.load import load_config
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import EmptyCorpusError, UsageError
from fingerpost.library import Library
from fingerpost.observe.events import Event, RouteComplete
from fingerpost.observe.observer import fan_out
from fingerpost.pipeline import Pipeline
from fingerpost.pipeline.against import CheckedText
from fingerpost.request import Filtering, History, make_query
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.evidence import Evidence
from fingerpost.types.plan import CapabilitySource
from fingerpost.types.query import Query
from fingerpost.types.result import QueryResult
from fingerpost.types.stats import CorpusStats, IndexSummary

T = TypeVar("T")


class QueryRouter:
    """Answers questions from a folder of documents, with a source and a verdict per claim.

    Example::

        async with QueryRouter(knowledge_corpus=["./docs"]) as router:
            result = await router.route("how do I configure a guardrail?")

    In a script or a notebook, without ``async``::

        with QueryRouter(knowledge_corpus=["./docs"]) as router:
            result = router.route_sync("how do I configure a guardrail?")

    Settings are those of `QueryRouterConfig`, given here, in ``FINGERPOST_…`` variables or in
    ``fingerpost.toml``; the nearest wins. A ready ``config`` is taken as it is.

    Raises:
        ConfigError: A setting is not allowed.
    """

    def __init__(self, config: QueryRouterConfig | None = None, **settings: Any) -> None:
        if config is not None and settings:
            raise UsageError("give either config or settings by name, not both")
        self.origins: dict[str, str] = {}
        if config is None:
            loaded = load_config(settings)
            config, self.origins = loaded.config, loaded.origins
        wiring.refuse_what_cannot_work(config)
        self._config = config
        self._observers = wiring.make_observers(config)
        self._tape = wiring.make_tape(config)
        self._library = Library(config, self._observe, self._tape)
        self._models = wiring.make_models(config, self._observe, self._tape)
        self._pipeline: Pipeline | None = None
        self._cache = ResultCache(
            max_entries=config.cache_max_entries,
            max_age_s=config.cache_max_age_s,
            clock=time.monotonic,
        )
        self._capabilities: CapabilitySource | None = None
        self._unified: UnifiedRetriever | None = None
        self._portal = Portal()
        self._closed = False

    @property
    def config(self) -> QueryRouterConfig:
        """Return the settings in force."""
        return self._config

    @property
    def index_summary(self) -> IndexSummary | None:
        """Return what the last `init` or `refresh` did, ``None`` before."""
        return self._library.summary

    @property
    def embedding_reason(self) -> str:
        """Return why there is no embedding model, empty when there is one."""
        return self._library.embedding.reason

    @property
    def corpus_shortfall(self) -> EmptyCorpusError | None:
        """Return why no document gave text; questions about fingerpost alone have answers then."""
        return self._library.shortfall

    def subscribe(self, observer: Callable[[Event], None]) -> Callable[[], None]:
        """Hand every event from now on to ``observer``; return what ends that.

        It is called in the thread where the event happens and must be quick; its exceptions
        are logged and dropped.
        """
        self._observers = (*self._observers, observer)

        def end() -> None:
            self._observers = tuple(item for item in self._observers if item is not observer)

        return end

    async def init(self) -> None:
        """Read what changed in the corpus, open the index and load the local model.

        Words answer as soon as this returns; missing vectors are computed in the background
        unless ``embed`` says otherwise. Calling it again does nothing.

        Raises:
            EmptyCorpusError: The paths gave no chunk, and platform knowledge is switched off.
            StoreError: The index cannot be opened.
            UsageError: The router is closed.
        """
        if self._closed:
            raise UsageError("this router is closed", hint="Make a new one.")
        if self._pipeline is not None:
            return
        await anyio.to_thread.run_sync(partial(self._library.open, may_be_empty=True))
        self._pipeline = wiring.make_pipeline(
            self._config,
            self._library.store,
            self._library.embedding.model,
            self._observe,
            self._library.topics,
            self._models,
            self._tape,
            lambda: self._capabilities,
            lambda: self._library.always_searched,
            lambda: self._unified,
            self._library.freshness.is_stale,
            self._library.platform,
        )
        self._library.start_background()

    async def close(self) -> None:
        """Stop background work and release the index. Safe to call twice."""
        self._closed = True
        self._pipeline = None
        await self._models.close()
        await anyio.to_thread.run_sync(self._library.close)

    async def __aenter__(self) -> Self:
        try:
            await self.init()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.close()

    async def route(
        self,
        query: str,
        *,
        history: History = (),
        filters: Filtering = None,
        tier: int | None = None,
        max_tier: int | None = None,
        top_k: int | None = None,
        deadline: float | None = None,
        budget: float | None = None,
        excluded_capability_ids: Sequence[str] = (),
        explain: bool = False,
        require_grounded: bool | None = None,
    ) -> QueryResult:
        """Answer a question.

        Args:
            query: The question, at most 8,192 characters, not blank.
            history: Earlier turns, oldest first: `Turn` objects, ``(role, text)`` pairs or
                ``{"role": …, "content": …}`` objects.
            filters: A `Filters`, or a mapping with ``paths``, ``tags``, ``sources``,
                ``languages``, ``metadata``.
            tier: Forces a tier, 0 to 3.
            max_tier: Caps the tier of this question, 0 to 3.
            top_k: How many sources the answer may rest on, 1 to 50.
            deadline: Seconds the question may take, > 0.
            budget: US dollars that model calls may cost, >= 0.
            excluded_capability_ids: Capabilities that must not be recommended.
            explain: Keep every candidate with its ranks in ``result.candidates``; without it
                only those that were read.
            require_grounded: Abstain rather than give an answer of which a claim is not
                supported or not checked; ``None`` takes the setting.

        Raises:
            InvalidQueryError: An argument is not usable.
            DeadlineExceededError: The deadline passed.
            UsageError: The router is not open.
        """
        asked = make_query(
            query,
            history=history,
            filters=filters,
            tier=tier,
            max_tier=max_tier,
            top_k=top_k,
            deadline=deadline,
            budget=budget,
            excluded_capability_ids=excluded_capability_ids,
            explain=explain,
            require_grounded=require_grounded,
        )
        pipeline = self._opened()
        if not self._config.cache_results:
            return await pipeline.run(asked)
        started = time.monotonic()
        key = self._cache_key(pipeline, asked)
        limit = asked.deadline_s or self._config.deadline_s
        result = await self._cache.get_or_run(key, partial(pipeline.run, asked), limit)
        if not result.cached:
            return result
        return self._reissue(asked, await pipeline.kept(result), started)

    async def stream(self, query: str, **request: Any) -> AsyncGenerator[Event]:
        """Yield every event of a question as it happens; the last carries the `QueryResult`.

        Takes the arguments of `route`. The text of the `GenerateDelta` events, joined, is the
        answer. The cache is neither read nor filled.
        """
        pipeline = self._opened()
        async with aclosing(pipeline.stream(make_query(query, **request))) as story:
            async for event in story:
                yield event

    async def classify(self, query: str, **request: Any) -> ClassificationResult:
        """Return how a question would be routed, without an answer. Arguments as in `route`."""
        return await self._opened().classify(make_query(query, **request))

    async def retrieve(self, query: str, **request: Any) -> Evidence:
        """Return what would be found for a question, without an answer. See `route`."""
        return await self._opened().retrieve(make_query(query, **request))

    async def refresh(self) -> IndexSummary:
        """Read what changed in the corpus since; forget cached results.

        Raises:
            StoreConflictError: Another process is writing the index.
        """
        self._opened()
        summary = await anyio.to_thread.run_sync(self._library.refresh)
        self._cache.clear()
        self._library.start_background()
        return summary

    async def embed(self, cancelled: Callable[[], bool] | None = None) -> int:
        """Compute missing vectors now; return how many. 0 without an embedding model.

        Args:
            cancelled: Asked between chunks; true ends the work, what is done is kept.
        """
        self._opened()
        return await anyio.to_thread.run_sync(partial(self._library.embed, cancelled))

    async def verify(self, text: str, *, numbered: Mapping[int, str] | None = None) -> CheckedText:
        """Hold any text, whoever wrote it, against the documents, with the local judge.

        Args:
            text: With or without markers and a list of sources at its end.
            numbered: Marker → path or title of a document, when the text has no such list.
        """
        self._opened()
        library = self._library
        check = partial(wiring.held_against, self._config, library.store, library.embedding.model)
        return await anyio.to_thread.run_sync(partial(check, text, numbered=numbered))

    def explain_credentials(self) -> tuple[CredentialRow, ...]:
        """Return where each job is sent and the name of the variable its key came from.

        No secret is in it. Works before `init`.
        """
        return explain(resolve_credentials(self._config))

    def set_capability_discovery_engine(self, engine: CapabilitySource | None) -> None:
        """Take what may be recommended with an answer from ``engine``; ``None`` ends it.

        Forgets cached results.
        """
        self._capabilities = engine
        self._cache.clear()

    def set_unified_retriever(self, retriever: UnifiedRetriever | None) -> None:
        """Retrieve by execution plan from now on; ``None`` goes back to retrieval by tier.

        Forgets cached results.

        Raises:
            UsageError: It is no `UnifiedRetriever`.
        """
        if retriever is not None and not isinstance(retriever, UnifiedRetriever):
            raise UsageError(f"expected a UnifiedRetriever, got {type(retriever).__name__}")
        self._unified = retriever
        self._cache.clear()

    def get_corpus_stats(self) -> CorpusStats:
        """Return the state of the corpus. Before `init` only ``initialized=False``."""
        if self._pipeline is None:
            return CorpusStats(configured_path_count=len(self._config.knowledge_corpus))
        return self._library.stats()

    def route_sync(self, query: str, **request: Any) -> QueryResult:
        """Answer a question, blocking. See `route`.

        Raises:
            UsageError: Called inside a running event loop.
        """
        return self._blocking(partial(self.route, query, **request))

    def classify_sync(self, query: str, **request: Any) -> ClassificationResult:
        """Blocking twin of `classify`."""
        return self._blocking(partial(self.classify, query, **request))

    def retrieve_sync(self, query: str, **request: Any) -> Evidence:
        """Blocking twin of `retrieve`."""
        return self._blocking(partial(self.retrieve, query, **request))

    def verify_sync(self, text: str, *, numbered: Mapping[int, str] | None = None) -> CheckedText:
        """Blocking twin of `verify`."""
        return self._blocking(partial(self.verify, text, numbered=numbered))

    def init_sync(self) -> None:
        """Blocking twin of `init`."""
        self._portal.call(self.init)

    def refresh_sync(self) -> IndexSummary:
        """Blocking twin of `refresh`."""
        return self._portal.call(self.refresh)

    def embed_sync(self, cancelled: Callable[[], bool] | None = None) -> int:
        """Blocking twin of `embed`."""
        return self._portal.call(partial(self.embed, cancelled))

    def close_sync(self) -> None:
        """Blocking twin of `close`."""
        self._portal.call(self.close)
        self._portal.close()

    def __enter__(self) -> Self:
        try:
            self.init_sync()
        except BaseException:
            self._library.close()
            self._portal.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self.close_sync()

    def _blocking(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a call that needs an open router; do not start a thread only to say it is not."""
        if not inside_event_loop():
            self._opened()
        return self._portal.call(call)

    def _opened(self) -> Pipeline:
        if self._closed:
            raise UsageError("this router is closed", hint="Make a new one.")
        if self._pipeline is None:
            raise UsageError(
                "this router is not open",
                hint="Use 'with' or init_sync(), 'async with' or init().",
            )
        return self._pipeline

    def _observe(self, event: Event) -> None:
        fan_out(self._observers)(event)

    def _cache_key(self, pipeline: Pipeline, query: Query) -> str:
        state = self._library.store.info()
        index = f"{state.location}\n{state.generation}"
        return result_key(query, (index, pipeline.fingerprint))

    def _reissue(self, query: Query, result: QueryResult, started: float) -> QueryResult:
        """Give a kept result the new question's own id and time, and tell the observers."""
        took = (time.monotonic() - started) * 1000
        result = replace(result, duration_ms=took, trace_id=query.query_id, query=query)
        self._observe(
            RouteComplete(at=time.time(), query_id=query.query_id, result=result, duration_ms=took)
        )
        return result
