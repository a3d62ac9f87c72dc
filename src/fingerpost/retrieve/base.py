"""What retrieval is asked and what it may use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from anyio import CapacityLimiter

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.observe.observer import Observer, ignore
from fingerpost.retrieve.imagine import Imagination
from fingerpost.retrieve.translate import Translator
from fingerpost.types.decision import Strategy, Tier
from fingerpost.types.evidence import Hit
from fingerpost.types.query import Filters
from fingerpost.types.source import Passage

GraphExpand = Callable[[Sequence[Hit]], Sequence[Hit] | Awaitable[Sequence[Hit]]]
Rerank = Callable[[str, Sequence[Hit], int], Sequence[Hit] | Awaitable[Sequence[Hit]]]


@dataclass(frozen=True, slots=True)
class Research:
    """What a research hook or the built-in research pass gives back."""

    synthesis: str
    hits: tuple[Hit, ...] = ()


DeepResearch = Callable[[str, Sequence[str]], Research | Awaitable[Research]]
WebSearchHook = Callable[[str, int], Sequence[Passage] | Awaitable[Sequence[Passage]]]


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """One question for retrieval.

    Attributes:
        text: The question, made to stand alone.
        tier: How much work to spend.
        strategy: Never weaker than the tier's own.
        filters: Hold on every leg.
        top_k: Hits to keep; ``None`` takes the tier's number (T1 5, T2 5, T3 10).
        suggested_sources: Research hints (``web``, ``docs``, ``media``).
        query_id: For events.
        context: Earlier questions of the conversation, oldest first, when ``text`` may lean
            on them; they count little.
        explain: Keep every candidate on the evidence, not only those read for the hits.
    """

    text: str
    tier: Tier
    strategy: Strategy
    filters: Filters = field(default_factory=Filters)
    top_k: int | None = None
    suggested_sources: tuple[str, ...] = ()
    query_id: str = ""
    context: tuple[str, ...] = ()
    explain: bool = False


@dataclass(frozen=True, slots=True)
class RetrieveTools:
    """What retrieval may use besides the index.

    Attributes:
        embedder: The index's own embedding model; ``None`` searches by words alone.
        graph_enabled: Expand T2 and T3 along the document graph.
        graph_depth: Edges of the document graph that the expansion follows, >= 0.
        raptor_enabled: Answer overview questions from what the summaries lead to.
        deep_research_enabled: Run the research pass on T3.
        max_sub_queries: Most parts a question is split into, >= 1.
        graph_expand: Replaces the built-in expansion.
        rerank: Replaces the built-in reranker.
        deep_research: Replaces the built-in research pass.
        research_rounds: Most rounds of the built-in research pass, >= 0.
        web: Finds at most so many passages of the web for a question; ``None`` leaves the web
            alone.
        web_always: Ask the web in every research pass, not only when the hints name it.
        observe: Takes events.
        remaining_s: Returns the seconds left, ``inf`` without a deadline.
        imagine: Writes passages to search with and sub-questions; ``None`` does without.
        translate: Translates questions into the language of the documents; ``None`` searches as
            they were asked.
        hyde_hypotheses: Passages to search with on T2 and T3, >= 1.
        limiter: Bounds the worker threads of all questions together; ``None`` takes anyio's
            own limit.
    """

    embedder: EmbeddingModel | None = None
    graph_enabled: bool = True
    graph_depth: int = 2
    raptor_enabled: bool = True
    deep_research_enabled: bool = True
    max_sub_queries: int = 5
    graph_expand: GraphExpand | None = None
    rerank: Rerank | None = None
    deep_research: DeepResearch | None = None
    research_rounds: int = 3
    web: WebSearchHook | None = None
    web_always: bool = False
    observe: Observer = ignore
    remaining_s: Callable[[], float] = lambda: float("inf")
    imagine: Imagination | None = None
    translate: Translator | None = None
    hyde_hypotheses: int = 1
    limiter: CapacityLimiter | None = None
