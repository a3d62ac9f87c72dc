"""Grounded answers from documentation, routed: every claim with its source and a verdict."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fingerpost.config.schema import QueryRouterConfig, QueryRouterStrategyConfig
    from fingerpost.errors import (
        ConfigError,
        CorpusError,
        DeadlineExceededError,
        EmptyCorpusError,
        FingerpostError,
        IndexMismatchError,
        InvalidQueryError,
        MissingExtraError,
        SchemaVersionError,
        StoreConflictError,
        StoreError,
        UsageError,
    )
    from fingerpost.observe.events import Event, GenerateDelta, IngestProgress, RouteComplete
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
    from fingerpost.types.decision import ClassificationResult, Strategy, Tier
    from fingerpost.types.evidence import Evidence, Hit
    from fingerpost.types.query import Filters, Turn
    from fingerpost.types.result import QueryResult
    from fingerpost.types.stats import CorpusStats, IndexSummary
    from fingerpost.verify import CitationVerifier, SourceText

__version__ = "0.1.0"

_HOMES = {
    "fingerpost.config.schema": ("QueryRouterConfig", "QueryRouterStrategyConfig"),
    "fingerpost.errors": (
        "ConfigError",
        "CorpusError",
        "DeadlineExceededError",
        "EmptyCorpusError",
        "FingerpostError",
        "IndexMismatchError",
        "InvalidQueryError",
        "MissingExtraError",
        "SchemaVersionError",
        "StoreConflictError",
        "StoreError",
        "UsageError",
    ),
    "fingerpost.observe.events": ("Event", "GenerateDelta", "IngestProgress", "RouteComplete"),
    "fingerpost.router": ("QueryRouter",),
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
    "fingerpost.verify": ("CitationVerifier", "SourceText"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AbstentionReason",
    "Citation",
    "CitationVerifier",
    "ClaimVerdict",
    "ClassificationResult",
    "ConfigError",
    "CorpusError",
    "CorpusStats",
    "DeadlineExceededError",
    "EmptyCorpusError",
    "Event",
    "Evidence",
    "Filters",
    "FingerpostError",
    "GenerateDelta",
    "GenerationMode",
    "Hit",
    "IndexMismatchError",
    "IndexSummary",
    "IngestProgress",
    "InvalidQueryError",
    "MissingExtraError",
    "QueryResult",
    "QueryRouter",
    "QueryRouterConfig",
    "QueryRouterStrategyConfig",
    "RouteComplete",
    "SchemaVersionError",
    "SourceCitation",
    "SourceText",
    "StoreConflictError",
    "StoreError",
    "Strategy",
    "Tier",
    "Turn",
    "UsageError",
    "Verdict",
    "VerifiedResponse",
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
