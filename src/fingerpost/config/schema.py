"""Every setting, with its default, its range and what it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from fingerpost.config.secrets import Secret
from fingerpost.types.decision import Strategy


def _as_secret(value: object) -> object:
    return Secret(value) if isinstance(value, str) else value


def _as_items(value: object) -> object:
    return (value,) if isinstance(value, str | Path) else value


def _blank_as_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


SecretField = Annotated[
    Secret | None,
    BeforeValidator(_as_secret),
    PlainSerializer(lambda secret: None if secret is None else str(secret)),
]
Name = Annotated[str | None, BeforeValidator(_blank_as_none)]
Paths = Annotated[tuple[str | Path, ...], BeforeValidator(_as_items)]
Hook = Callable[..., Any] | None

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
    classifier_model: Name = None
    """Model of the classifier; overrides ``QueryRouterConfig.classifier_model``."""
    max_sub_queries: Annotated[int, Field(ge=1, le=20)] = 5
    """Most parts a question is split into."""


class QueryRouterConfig(BaseModel):
    """All settings of a `QueryRouter`. Frozen; unknown names are refused."""

    model_config = _STRICT

    knowledge_corpus: Annotated[Paths, Field(min_length=1)]
    """Directories, files or globs that hold the documents."""
    confidence_threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.7
    """Below it the tier goes up by one; 0 never escalates."""
    classifier_model: Name = None
    """Model that classifies. Not in this version."""
    classifier_provider: Name = None
    """Provider of the classifier. Not in this version."""
    max_tier: Annotated[int, Field(ge=0, le=3)] = 3
    """Caps the tier after escalation."""
    embedding_provider: Name = None
    """``local`` or ``none`` (keyword-only); ``None`` takes the local model when installed."""
    embedding_model: Literal["minilm", "use"] | None = None
    """Local model; ``None`` takes ``minilm``, or ``use`` for a corpus mostly not English."""
    generation_model: Name = None
    """Model that writes T0 and T1 answers. Not in this version."""
    generation_model_deep: Name = None
    """Model that writes T2 and T3 answers. Not in this version."""
    generation_provider: Name = None
    """Provider of the generation models. Not in this version."""
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
    available_tools: Annotated[tuple[str, ...], BeforeValidator(_as_items)] = ()
    """Names of tools, shown to the classifier only."""
    graph_expand: Hook = None
    """Replaces the built-in expansion: ``(hits) -> hits``."""
    rerank: Hook = None
    """Replaces the built-in reranker: ``(question, hits, top_n) -> hits``."""
    deep_research: Hook = None
    """Replaces the built-in research pass: ``(question, sources) -> Research``."""
    verify_citations: bool = True
    """Hold each claim against its sources."""
    on_unsupported: Literal["flag", "drop", "repair"] = "flag"
    """What happens to an unsupported claim; ``repair`` needs a model and is refused here."""
    on_classification: Hook = None
    """Called with each `ClassificationResult`."""
    on_retrieval: Hook = None
    """Called with each `Evidence`."""
    on_event: Hook = None
    """Takes every event in the thread where it happens; must be quick."""
    api_key: SecretField = None
    """Key of the model provider. Not in this version."""
    base_url: Name = None
    """Address of the model provider. Not in this version."""
    embedding_api_key: SecretField = None
    """Key of the embedding provider. Not in this version."""
    embedding_base_url: Name = None
    """Address of the embedding provider. Not in this version."""
    github_repos: Any = None
    """Repositories to index. Not in this version."""
    strategy_config: QueryRouterStrategyConfig = QueryRouterStrategyConfig()
    """How the strategy is chosen; see below."""
    include_platform_knowledge: bool = True
    """Merge entries about fingerpost itself; this version ships none."""
    index_dir: Path | None = None
    """Folder of the index; default ``.fingerpost`` beside a single folder, else the user cache."""
    docs_url: Name = None
    """Address of the published documents; gives each source its ``url``."""
    embedding_folder: Path | None = None
    """Folder with ``model.onnx`` and ``tokenizer.json`` instead of the installed package."""
    embed: Literal["background", "wait", "never"] = "background"
    """When ``init`` computes missing vectors: while it answers, before it returns, not at all."""
    watch: bool = False
    """Re-index when files change (needs the extra ``watch``)."""
    max_file_mb: Annotated[float, Field(gt=0, le=1024)] = 10.0
    """Larger files are skipped and listed."""
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds a request may take unless it says otherwise."""

    @model_validator(mode="after")
    def _only_what_this_version_has(self) -> QueryRouterConfig:
        """Refuse settings whose part is not in this version, rather than ignore them."""
        for name, reason in NOT_IN_THIS_VERSION.items():
            if getattr(self, name) is not None:
                raise ValueError(f"{name}: {reason}")
        if self.docs_url is not None and not self.docs_url.startswith(("http://", "https://")):
            raise ValueError(f"docs_url = {self.docs_url!r}: must begin with http:// or https://")
        if self.embedding_provider not in (None, "local", "none"):
            raise ValueError(
                f"embedding_provider: {self.embedding_provider!r} is not in this version; "
                "allowed: 'local', 'none'"
            )
        if self.strategy_config.classifier_mode in ("llm", "decision"):
            raise ValueError(
                f"strategy_config.classifier_mode: {self.strategy_config.classifier_mode!r} needs "
                "a model, which this version does not call; allowed: 'hybrid', 'heuristic', 'local'"
            )
        return self


_NO_LANES = "needs a model provider, and this version calls none; leave it out"
NOT_IN_THIS_VERSION: dict[str, str] = {
    **dict.fromkeys(
        (
            "classifier_model",
            "classifier_provider",
            "generation_model",
            "generation_model_deep",
            "generation_provider",
            "api_key",
            "base_url",
            "embedding_api_key",
            "embedding_base_url",
        ),
        _NO_LANES,
    ),
    "github_repos": "indexing of GitHub repositories is not in this version; leave it out",
}
"""Setting → why it must be left unset."""
