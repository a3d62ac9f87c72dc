"""Grounded answers from documentation, routed: every claim with its source and a verdict."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fingerpost.capabilities import CapabilityDiscoveryEngine
    from fingerpost.config.repos import RepoIndexConfig
    from fingerpost.config.schema import QueryRouterConfig, QueryRouterStrategyConfig
    from fingerpost.decide.cascade import CascadeQueryRouter
    from fingerpost.decide.chat import ChatDecisionModel
    from fingerpost.decide.embedding import EmbeddingQueryRouter
    from fingerpost.decide.language import LanguageModelQueryRouter
    from fingerpost.decide.local import LocalDecisionModel
    from fingerpost.decide.model_router import DecisionModelRouter
    from fingerpost.decide.query_router import DecisionModelQueryRouter
    from fingerpost.decide.rerank import DecisionReranker
    from fingerpost.errors import (
        ConfigError,
        CorpusError,
        DeadlineExceededError,
        EmptyCorpusError,
        FingerpostError,
        IndexMismatchError,
        InvalidDecisionResponseError,
        InvalidQueryError,
        LaneError,
        MissingExtraError,
        SchemaVersionError,
        StoreConflictError,
        StoreError,
        UsageError,
    )
    from fingerpost.lanes.base import ChatModel, DecisionModel, EmbeddingModel
    from fingerpost.lanes.failover import FailoverModel
    from fingerpost.lanes.providers.decision_models import (
        GeminiDecisionModel,
        OpenAIDecisionModel,
        SystemOneDecisionModel,
    )
    from fingerpost.lanes.routing import RoutingModel, lane_of
    from fingerpost.lanes.web.search import WebSearch
    from fingerpost.observe.events import Event, GenerateDelta, IngestProgress, RouteComplete
    from fingerpost.observe.otel import OtelObserver
    from fingerpost.retrieve.base import Research
    from fingerpost.retrieve.unified import UnifiedRetriever
    from fingerpost.router import QueryRouter
    from fingerpost.types.answer import (
        AbstentionReason,
        Citation,
        ClaimVerdict,
        GenerationMode,
        SourceCitation,
        Verdict,
        VerifiedResponse,
    )
    from fingerpost.types.chat import ChatRequest, ChatResponse, Message
    from fingerpost.types.decision import ClassificationResult, Strategy, Tier
    from fingerpost.types.evidence import Evidence, Hit
    from fingerpost.types.plan import Capability, CapabilityRecommendation, ExecutionPlan
    from fingerpost.types.query import Filters, Turn
    from fingerpost.types.question import Choice, DecisionAnswer, DecisionResponse, Score, YesNo
    from fingerpost.types.result import QueryResult, Usage
    from fingerpost.types.routing import FallbackStrategy, SourceRouting
    from fingerpost.types.source import Passage, Retriever, Source
    from fingerpost.types.stats import CorpusStats, IndexSummary
    from fingerpost.verify import CitationVerifier, SourceText

__version__ = "0.1.0"

_HOMES = {
    "fingerpost.capabilities": ("CapabilityDiscoveryEngine",),
    "fingerpost.config.schema": ("QueryRouterConfig", "QueryRouterStrategyConfig"),
    "fingerpost.errors": (
        "ConfigError",
        "CorpusError",
        "DeadlineExceededError",
        "EmptyCorpusError",
        "FingerpostError",
        "IndexMismatchError",
        "InvalidDecisionResponseError",
        "InvalidQueryError",
        "LaneError",
        "MissingExtraError",
        "SchemaVersionError",
        "StoreConflictError",
        "StoreError",
        "UsageError",
    ),
    "fingerpost.observe.events": ("Event", "GenerateDelta", "IngestProgress", "RouteComplete"),
    "fingerpost.router": ("QueryRouter",),
    "fingerpost.lanes.failover": ("FailoverModel",),
    "fingerpost.lanes.routing": ("RoutingModel", "lane_of"),
    "fingerpost.lanes.web.search": ("WebSearch",),
    "fingerpost.lanes.base": ("ChatModel", "DecisionModel", "EmbeddingModel"),
    "fingerpost.types.plan": ("Capability", "CapabilityRecommendation", "ExecutionPlan"),
    "fingerpost.types.chat": ("ChatRequest", "ChatResponse", "Message"),
    "fingerpost.types.result": ("Usage",),
    "fingerpost.observe.otel": ("OtelObserver",),
    "fingerpost.types": (
        "AbstentionReason",
        "Citation",
        "ClaimVerdict",
        "ClassificationResult",
        "CorpusStats",
        "Evidence",
        "Filters",
        "GenerationMode",
        "Hit",
        "IndexSummary",
        "QueryResult",
        "SourceCitation",
        "Strategy",
        "Tier",
        "Turn",
        "Verdict",
        "VerifiedResponse",
    ),
    "fingerpost.lanes.providers.decision_models": (
        "SystemOneDecisionModel",
        "OpenAIDecisionModel",
        "GeminiDecisionModel",
    ),
    "fingerpost.decide.chat": ("ChatDecisionModel",),
    "fingerpost.decide.local": ("LocalDecisionModel",),
    "fingerpost.decide.query_router": ("DecisionModelQueryRouter",),
    "fingerpost.decide.language": ("LanguageModelQueryRouter",),
    "fingerpost.decide.embedding": ("EmbeddingQueryRouter",),
    "fingerpost.decide.cascade": ("CascadeQueryRouter",),
    "fingerpost.decide.model_router": ("DecisionModelRouter",),
    "fingerpost.decide.rerank": ("DecisionReranker",),
    "fingerpost.config.repos": ("RepoIndexConfig",),
    "fingerpost.retrieve.base": ("Research",),
    "fingerpost.retrieve.unified": ("UnifiedRetriever",),
    "fingerpost.types.question": ("Choice", "DecisionAnswer", "DecisionResponse", "Score", "YesNo"),
    "fingerpost.types.routing": ("FallbackStrategy", "SourceRouting"),
    "fingerpost.types.source": ("Passage", "Retriever", "Source"),
    "fingerpost.verify": ("CitationVerifier", "SourceText"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AbstentionReason",
    "Capability",
    "CapabilityDiscoveryEngine",
    "CapabilityRecommendation",
    "CascadeQueryRouter",
    "ChatDecisionModel",
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "Choice",
    "Citation",
    "CitationVerifier",
    "ClaimVerdict",
    "ClassificationResult",
    "ConfigError",
    "CorpusError",
    "CorpusStats",
    "DeadlineExceededError",
    "DecisionAnswer",
    "DecisionModel",
    "DecisionModelQueryRouter",
    "DecisionModelRouter",
    "DecisionReranker",
    "DecisionResponse",
    "EmbeddingModel",
    "EmbeddingQueryRouter",
    "EmptyCorpusError",
    "Event",
    "Evidence",
    "ExecutionPlan",
    "FailoverModel",
    "FallbackStrategy",
    "Filters",
    "FingerpostError",
    "GeminiDecisionModel",
    "GenerateDelta",
    "GenerationMode",
    "Hit",
    "IndexMismatchError",
    "IndexSummary",
    "IngestProgress",
    "InvalidDecisionResponseError",
    "InvalidQueryError",
    "LaneError",
    "LanguageModelQueryRouter",
    "LocalDecisionModel",
    "Message",
    "MissingExtraError",
    "OpenAIDecisionModel",
    "OtelObserver",
    "Passage",
    "QueryResult",
    "QueryRouter",
    "QueryRouterConfig",
    "QueryRouterStrategyConfig",
    "RepoIndexConfig",
    "Research",
    "Retriever",
    "RouteComplete",
    "RoutingModel",
    "SchemaVersionError",
    "Score",
    "Source",
    "SourceCitation",
    "SourceRouting",
    "SourceText",
    "StoreConflictError",
    "StoreError",
    "Strategy",
    "SystemOneDecisionModel",
    "Tier",
    "Turn",
    "UnifiedRetriever",
    "Usage",
    "UsageError",
    "Verdict",
    "VerifiedResponse",
    "WebSearch",
    "YesNo",
    "lane_of",
]


def __getattr__(name: str) -> object:
    """Load a public name at first use, so that ``import fingerpost`` stays quick."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
