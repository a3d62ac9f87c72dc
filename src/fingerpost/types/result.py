"""Everything about one question."""

from __future__ import annotations

from dataclasses import dataclass, field

from fingerpost.types.answer import (
    AbstentionReason,
    Citation,
    GenerationMode,
    SourceCitation,
    VerifiedResponse,
)
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.evidence import BranchDiagnostics, Hit
from fingerpost.types.query import Query

_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one model call.

    Attributes:
        job: ``classify``, ``generate``, ``embed``, …
        model: Provider and model, ``local/minilm-l6-v2-int8``.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        cost_usd: ``None`` when the price is not known; 0.0 for local models.
        outcome: ``ok``, or the class name of the error that the call ended in.
        estimated: The provider told no counts; these are ours.
        cached_tokens: Those of ``input_tokens`` that the provider had in its cache, as it told.
    """

    job: str
    model: str
    input_tokens: int
    output_tokens: int = 0
    cost_usd: float | None = None
    outcome: str = "ok"
    estimated: bool = False
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer to one question and the record of how it came about.

    Attributes:
        answer: Text with ``[n]`` markers.
        classification: Tier, strategy, confidence, reasoning.
        sources: What the markers point at, by ``index``; after an abstention the nearest
            sources with ``cited=False``.
        research_synthesis: Notes of the research pass, which name ``candidates`` by chunk id;
            ``None`` when it did not run.
        grounding: A verdict for each claim; ``None`` unless ``grounding_status`` is
            ``checked``.
        grounding_status: ``checked``, ``not_requested`` or ``unavailable``.
        recommendations: Capability recommendations; empty without capability discovery.
        tiers_used: Tiers that really ran, ascending.
        fallbacks_used: Fallback names in the order in which they fired, each once.
        duration_ms: Wall time of the whole route.
        generation_mode: Who wrote the answer.
        abstention: Why there is no answer, ``None`` when there is one.
        citations: Markers with their places in the answer, in reading order.
        removed_markers: Markers that named no source and were removed.
        truncated: The model stopped at its token limit; the answer may lack its end.
        left_out: Hits that the model did not get to see, for want of room; no sources.
        timings: Stage → milliseconds.
        usage: One item per model call.
        unpriced: Models that were asked although a budget was set that they could not be held
            to, since their price is not known; empty without a budget.
        cached: The result came from the cache.
        trace_id: Ties result, events and logs together.
        rewritten_query: The stand-alone question used for routing and retrieval, when the
            question was a follow-up; else ``None``.
        translated_query: The question in the language of the documents, as it was searched for as
            well, where a model translated it; else ``None``.
        retrieval_mode: ``vector+keyword-fallback`` or ``keyword-only`` for this question.
        vector_coverage: Share of the index's chunks that have a vector of the model in use, 0
            to 1; 0 without a model.
        candidates: Every candidate with its ranks, for ``--explain``.
        sub_queries: What the question was split into.
        uncovered: Sub-questions for which nothing, or too little for an answer, was found.
        answerability: How likely the documents answer the question at all, 0 to 1, judged from
            words and vectors for an answer without a model: below one half (`doubtful`) the
            quotes are what comes nearest, and may answer something else. ``None`` where it was
            not judged: small talk, an answer that a model wrote, a question whose parts were
            judged one by one, a section of just that name.
        diagnostics: What each branch of a planned retrieval did; empty without a plan.
        lexical_weight: Weight of the lexical leg in fusion, ``None`` when one leg ran.
        fingerprints: ``index``, ``config`` and ``generation`` that produced it, and
            ``prompt:…`` for each prompt that a model was given.
        query: The request as it was made; with the fingerprints it can be asked again.
        web_searched: Whether the research pass asked the web.
    """

    answer: str
    classification: ClassificationResult
    sources: tuple[SourceCitation, ...] = ()
    research_synthesis: str | None = None
    grounding: VerifiedResponse | None = None
    grounding_status: str = "not_requested"
    recommendations: tuple[object, ...] = ()
    tiers_used: tuple[int, ...] = ()
    fallbacks_used: tuple[str, ...] = ()
    duration_ms: float = 0.0
    generation_mode: GenerationMode = GenerationMode.EXTRACTIVE
    abstention: AbstentionReason | None = None
    citations: tuple[Citation, ...] = ()
    removed_markers: int = 0
    truncated: bool = False
    left_out: tuple[Hit, ...] = ()
    timings: dict[str, float] = field(default_factory=dict, hash=False)
    usage: tuple[Usage, ...] = ()
    unpriced: tuple[str, ...] = ()
    cached: bool = False
    trace_id: str = ""
    rewritten_query: str | None = None
    translated_query: str | None = None
    retrieval_mode: str = "keyword-only"
    vector_coverage: float = 0.0
    candidates: tuple[Hit, ...] = ()
    sub_queries: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    answerability: float | None = None
    diagnostics: tuple[BranchDiagnostics, ...] = ()
    lexical_weight: float | None = None
    fingerprints: dict[str, str] = field(default_factory=dict, hash=False)
    query: Query | None = None
    web_searched: bool = False

    @property
    def doubtful(self) -> bool:
        """Return whether there is an answer that may well not answer the question."""
        likely = self.answerability
        return self.abstention is None and likely is not None and likely < _EVEN

    @property
    def stale(self) -> bool:
        """Return whether the file of a source has changed or gone since it was indexed."""
        return any(source.stale for source in self.sources)
