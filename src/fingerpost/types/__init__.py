"""Values that cross rooms: frozen, standard library only."""

from fingerpost.types.answer import (
    AbstentionReason,
    Answer,
    Citation,
    ClaimVerdict,
    GenerationMode,
    SourceCitation,
    Verdict,
    VerifiedResponse,
)
from fingerpost.types.chat import (
    ChatRequest,
    ChatResponse,
    Message,
    ModelRef,
    StopReason,
    TokenLogprob,
)
from fingerpost.types.decision import ClassificationResult, DecidedBy, Strategy, Tier
from fingerpost.types.document import Chunk, Document, Link, SkippedFile, Span
from fingerpost.types.evidence import Evidence, FirstLook, Hit, MatchType
from fingerpost.types.query import Filters, Query, Turn
from fingerpost.types.result import QueryResult, Usage
from fingerpost.types.stats import CorpusStats, IndexSummary, PlatformKnowledgeStats

__all__ = [
    "AbstentionReason",
    "Answer",
    "ChatRequest",
    "ChatResponse",
    "Chunk",
    "Citation",
    "ClaimVerdict",
    "ClassificationResult",
    "CorpusStats",
    "DecidedBy",
    "Document",
    "Evidence",
    "Filters",
    "FirstLook",
    "GenerationMode",
    "Hit",
    "IndexSummary",
    "Link",
    "MatchType",
    "Message",
    "ModelRef",
    "PlatformKnowledgeStats",
    "Query",
    "QueryResult",
    "SkippedFile",
    "SourceCitation",
    "Span",
    "StopReason",
    "Strategy",
    "Tier",
    "TokenLogprob",
    "Turn",
    "Usage",
    "Verdict",
    "VerifiedResponse",
]
