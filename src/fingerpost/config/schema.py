"""Every setting, with its default, its range and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fingerpost.config.address import address_fault
from fingerpost.config.fields import (
    DecisionProvider,
    EmbeddingProvider,
    HighestTier,
    Hook,
    LlmProvider,
    ModelName,
    Name,
    Names,
    Paths,
    Ratio,
    RerankProvider,
    SecretField,
    Sources,
    Usd,
)
from fingerpost.config.providers import DECISION_FAILOVER_NAMES, FAILOVER_NAMES, LOCAL_MODELS
from fingerpost.config.repos import RepoIndexConfig
from fingerpost.types.decision import Strategy
from fingerpost.types.routing import FallbackStrategy

_STRICT = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, strict=False)


class QueryRouterStrategyConfig(BaseModel):
    """How the strategy is chosen."""

    model_config = _STRICT

    default_strategy: Strategy = Strategy.SIMPLE
    """Taken when classification fails."""
    force_strategy: Strategy | None = None
    """Skips classification: the strategy, and the tier that goes with it."""
    classifier_mode: Literal["hybrid", "heuristic", "local", "llm", "decision"] = "hybrid"
    """``hybrid`` asks a model where one is configured, else the offline classifier."""
    classifier_model: ModelName = None
    """Model of the classifier; overrides ``QueryRouterConfig.classifier_model``."""
    max_sub_queries: Annotated[int, Field(ge=1, le=20)] = 5
    """Most parts a question is split into."""


class QueryRouterConfig(BaseModel):
    """All settings of a `QueryRouter`. Frozen; unknown names are refused."""

    model_config = _STRICT

    knowledge_corpus: Paths = ()
    """Directories, files or globs that hold the documents; may be left out beside ``sources``."""
    sources: Sources = ()
    """Described places, of which each question is sent to those that may help: `Source` objects,
    or tables with ``name``, ``description`` and ``path``. ``knowledge_corpus`` is searched
    whatever is chosen among them."""
    source_router: Any = None
    """A `SourceRouter` of your own that chooses among them; ``None`` asks the decision model,
    or the local one where none is set."""
    source_min_probability: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    """Probability from which a source is used, unless it has a threshold of its own."""
    source_thresholds: Path | None = None
    """File of ``fingerpost calibrate routing``: thresholds of this decision model."""
    source_fallback: FallbackStrategy = FallbackStrategy.ROUTE_TO_ALL
    """What happens when the sources cannot be chosen: all are used, none, or an error."""
    confidence_threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.7
    """Below it the tier goes up by one; 0 never escalates."""
    classifier_model: ModelName = None
    """Model that classifies; ``None`` takes the provider's cheap one."""
    classifier_provider: LlmProvider = None
    """Provider of the classifier; ``None`` takes that of the first key set, ``none`` no model."""
    max_tier: HighestTier = 3
    """Caps the tier after escalation: 0 to 3, or ``T0`` to ``T3`` as text."""
    embedding_provider: EmbeddingProvider = None
    """A provider, ``local`` or ``none`` (keyword-only); ``None`` takes the provider of the first
    key set that publishes an embedding model, else the local model when installed."""
    embedding_model: ModelName = None
    """A model of the embedding provider, or ``minilm`` or ``use`` (local); ``None`` takes the
    provider's own, or of the local ones ``use`` for a corpus mostly not English."""
    generation_model: ModelName = None
    """Model that writes T0 and T1 answers; ``None`` takes the provider's cheap one."""
    generation_model_deep: ModelName = None
    """Model that writes T2 and T3 answers; ``None`` takes the provider's strong one."""
    generation_provider: LlmProvider = None
    """Provider of the generation models; ``None`` takes that of the first key set, ``none``
    writes extractive answers."""
    failover_providers: Names = ()
    """Tried in order when the provider fails: ``provider`` or ``provider/model``, each with its
    own vendor's key and address; separated by commas in a variable."""
    failover_on_refusal: bool = False
    """Try the next provider also when a model declines to answer."""
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.2
    """Temperature of written answers."""
    max_answer_tokens: Annotated[int, Field(ge=16, le=100_000)] = 800
    """Most tokens of a T0 or T1 answer that a model writes."""
    max_answer_tokens_deep: Annotated[int, Field(ge=16, le=100_000)] = 1600
    """Most tokens of a T2 or T3 answer that a model writes."""
    hyde_hypotheses: Annotated[int, Field(ge=1, le=5)] = 1
    """Passages that a model imagines for a T2 search."""
    decision_provider: DecisionProvider = None
    """Who answers typed questions: a provider, ``systemone`` (any such server), ``local``,
    ``chat`` (the classifier's model) or ``none``; ``None`` takes TypeSafe when its key is set."""
    decision_model: ModelName = None
    """Its model; ``None`` takes the provider's own."""
    decision_failover_providers: Names = ()
    """As ``failover_providers``, for decision models."""
    decider: Any = None
    """A `DecisionModel` of your own instead."""
    chat_model: Any = None
    """A `ChatModel` of your own instead of a provider, for every job."""
    chat_model_deep: Any = None
    """A `ChatModel` of your own for T2 and T3 answers; ``None`` takes ``chat_model``."""
    budget_usd: Usd = None
    """US dollars that one question may spend on models; ``None`` sets no limit."""
    process_budget_usd: Usd = None
    """US dollars that all questions of this process may spend; ``None`` sets no limit."""
    record: Path | None = None
    """Folder that keeps every model call, without keys."""
    replay: Path | None = None
    """Folder that answers every model call from what ``record`` kept; no provider is asked."""
    graph_enabled: bool = True
    """Expand T2 and T3 along the document graph."""
    deep_research_enabled: bool = True
    """Run the research pass over the corpus on T3."""
    conversation_window_size: Annotated[int, Field(ge=0, le=100)] = 5
    """Messages of the history that are looked at."""
    max_context_tokens: Annotated[int, Field(ge=64, le=1_000_000)] = 4000
    """Most tokens that an answer is made from."""
    cache_results: bool = True
    """Keep results, and let equal questions asked at once share one run."""
    cache_max_entries: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    """Most results that are kept."""
    cache_max_age_s: Annotated[float, Field(gt=0)] = 600.0
    """Seconds that a result is kept."""
    available_tools: Names = ()
    """Names of tools, shown to the classifier only."""
    graph_expand: Hook = None
    """Replaces the built-in expansion: ``(hits) -> hits``."""
    rerank: Hook = None
    """Replaces the built-in reranker: ``(question, hits, top_n) -> hits``."""
    rerank_provider: RerankProvider = None
    """Who orders T2 and T3 hits instead: ``cohere``, ``jina``, ``voyage``, ``custom`` (any server
    with ``POST /v1/rerank``), ``cross-encoder`` (of ``rerank_folder``), ``chat`` (the
    classifier's model), ``decision`` (the decision model) or ``none``."""
    rerank_model: ModelName = None
    """Its model; ``None`` takes the provider's own."""
    rerank_api_key: SecretField = None
    """Key of the rerank provider; ``None`` takes the provider's variable."""
    rerank_base_url: Name = None
    """Address of the rerank provider; alone, of a server with ``POST /v1/rerank``."""
    rerank_folder: Path | None = None
    """Folder with ``model.onnx`` and ``tokenizer.json`` of a cross-encoder."""
    deep_research: Hook = None
    """Replaces the built-in research pass: ``(question, sources) -> Research``."""
    research_rounds: Annotated[int, Field(ge=0, le=10)] = 3
    """Most rounds of the built-in research pass."""
    web_research: Literal["never", "hinted", "always"] = "hinted"
    """When the research pass also asks the web, given ``web_search`` or a key of Serper: never,
    when the classifier suggests it, or in every pass. Only words of the question are sent."""
    web_search: Any = None
    """Searches the web instead of Serper: a `Retriever` or ``(question, top_k) -> passages``."""
    web_pages: Annotated[int, Field(ge=0, le=10)] = 3
    """Pages of a web search that are read; of the others Serper's excerpts are taken."""
    serper_api_key: SecretField = None
    """Key of Serper; ``None`` takes ``SERPER_API_KEY``."""
    serper_base_url: Name = None
    """Address of Serper; ``None`` takes its own."""
    verify_citations: bool = True
    """Hold each claim against its sources."""
    on_unsupported: Literal["flag", "drop", "repair"] = "flag"
    """What happens to a claim that the sources contradict or do not speak of: ``flag`` keeps it
    with its verdict, ``drop`` takes it out, ``repair`` has the model write it anew from the
    sources, once, and drops what is unsupported still; without a model it drops."""
    require_grounded: bool = False
    """Abstain rather than give an answer of which a claim is not supported or not checked."""
    grounding_supported: Ratio = None
    """Score from which a claim counts as supported; ``None`` takes the fitted one."""
    grounding_unverifiable: Ratio = None
    """Score below which a claim counts as unverifiable; ``None`` takes the fitted one."""
    claim_judge: Literal["local", "chat", "decision"] = "local"
    """Who has the last word on claims that are no verbatim quotes: no model, the one that
    classifies, or the decision model. One that fails leaves the local verdicts."""
    nli: Hook = None
    """Judges a claim against a passage instead of the built-in judge."""
    extract_claims: Hook = None
    """Splits an answer into claims instead of the built-in splitter."""
    on_classification: Hook = None
    """Called with each `ClassificationResult`."""
    on_retrieval: Hook = None
    """Called with each `Evidence`."""
    on_event: Hook = None
    """Takes every event in the thread where it happens; must be quick."""
    telemetry: bool = False
    """Make OpenTelemetry spans (needs the extra ``otel``)."""
    capture_content: bool = False
    """Put the text of questions, prompts and answers into telemetry."""
    api_key: SecretField = None
    """Key of the classifier's and generator's provider; ``None`` takes its variable's."""
    base_url: Name = None
    """Address of that provider; with neither provider nor key, of an OpenAI-compatible server."""
    embedding_api_key: SecretField = None
    """Key of the embedding provider; ``None`` takes ``api_key`` or the provider's variable."""
    embedding_base_url: Name = None
    """Address of the embedding provider; ``None`` takes ``base_url`` or the provider's own."""
    decision_api_key: SecretField = None
    """Key of the decision provider; ``None`` takes ``api_key`` or the provider's variable."""
    decision_base_url: Name = None
    """Address of the decision provider; alone, of a System One server."""
    github_repos: RepoIndexConfig | None = None
    """Repositories whose documentation joins the corpus, in the background; see below."""
    strategy_config: QueryRouterStrategyConfig = QueryRouterStrategyConfig()
    """How the strategy is chosen; see below."""
    include_platform_knowledge: bool = True
    """Answer questions about fingerpost itself that the documents have no answer to."""
    index_dir: Path | None = None
    """Folder of the index; default ``.fingerpost`` beside a single folder, else the user cache."""
    docs_url: Name = None
    """Address of the published documents; gives each source its ``url``."""
    embedding_folder: Path | None = None
    """Folder with ``model.onnx`` and ``tokenizer.json`` instead of the installed package."""
    embed: Literal["background", "wait", "never"] = "background"
    """When ``init`` computes missing vectors: while it answers, before it returns, not at all."""
    summaries: Literal["background", "written", "never"] = "background"
    """The tree of summaries that overview questions follow, made after ``init`` while it answers
    and made anew when documents changed: of the pages' own openings, written by the classifier's
    model (its cost counts against ``process_budget_usd``), or not at all."""
    gap_log: Path | None = None
    """File that keeps, on this machine, the questions that got no answer or an unsupported one;
    ``None`` keeps none. ``fingerpost gaps`` reads it."""
    watch: bool = False
    """Re-index when files change (needs the extra ``watch``)."""
    max_file_mb: Annotated[float, Field(gt=0, le=1024)] = 10.0
    """Larger files are skipped and listed."""
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds a request may take unless it says otherwise."""

    @model_validator(mode="after")
    def _fits_together(self) -> QueryRouterConfig:
        """Refuse settings that contradict each other."""
        for fault in (
            _nothing_to_search(self),
            _address_faults(self),
            _contradiction(self),
        ):
            if fault:
                raise ValueError(fault)
        return self


def _nothing_to_search(config: QueryRouterConfig) -> str:
    repositories = config.github_repos
    if config.knowledge_corpus or config.sources or (repositories and repositories.addresses):
        return ""
    return "knowledge_corpus is required, for example knowledge_corpus=['./docs']"


_ADDRESSES = (
    "docs_url", "base_url", "embedding_base_url", "decision_base_url", "rerank_base_url",
    "serper_base_url",
)  # fmt: skip


def _address_faults(config: QueryRouterConfig) -> str:
    for name in _ADDRESSES:
        url = getattr(config, name)
        if url is not None and (fault := address_fault(url)):
            return f"{name}: {fault}"
    return ""


def _contradiction(config: QueryRouterConfig) -> str:
    if config.require_grounded and not config.verify_citations:
        return "require_grounded: verify_citations is off; nothing would be known to be grounded"
    if config.rerank is not None and config.rerank_provider not in (None, "none"):
        return "rerank, rerank_provider: only one of the two can be given"
    if config.claim_judge != "local" and config.nli is not None:
        return "claim_judge, nli: only one of the two can be given"
    if config.record is not None and config.replay is not None:
        return "record, replay: only one of the two can be given"
    if config.embedding_provider == "local" and config.embedding_model not in (None, *LOCAL_MODELS):
        return (
            f"embedding_model = {config.embedding_model!r}: embedding_provider is 'local'; "
            f"allowed: {', '.join(LOCAL_MODELS)}"
        )
    for setting, allowed in _FAILOVER.items():
        for entry in getattr(config, setting):
            if entry.partition("/")[0] not in allowed:
                return f"{setting}: {entry!r}; allowed: {', '.join(allowed)}"
    return ""


_FAILOVER = {
    "failover_providers": FAILOVER_NAMES,
    "decision_failover_providers": DECISION_FAILOVER_NAMES,
}
