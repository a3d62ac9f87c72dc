"""What is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of the conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may be used. Fields combine with *and*, values within a field with *or*.

    Attributes:
        paths: Globs over the path relative to the source root; ``*`` stays within a folder,
            ``**`` crosses folders, a plain folder name means everything below it.
        tags: Front matter tags, compared without case.
        sources: Names of corpus sources.
        languages: ISO 639-1 codes.
        metadata: Front matter fields by name: pairs (field, allowed value as text).
    """

    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is restricted."""
        return bool(self.paths or self.tags or self.sources or self.languages or self.metadata)


@dataclass(frozen=True, slots=True)
class Query:
    """A question with all that a request may say about how to answer it.

    Attributes:
        text: The question as asked.
        history: Earlier turns, oldest first.
        filters: Restricts the documents on every leg of retrieval.
        tier: Forces this tier (0 to 3); ``None`` classifies.
        max_tier: Cap for this request, 0 to 3.
        top_k: How many sources the answer may rest on; ``None`` takes the tier's own number.
        deadline_s: Seconds the whole request may take, > 0; ``None`` is no limit.
        budget_usd: Spend limit for model calls; ``None`` is no limit.
        excluded_capability_ids: Capabilities that must not be recommended.
        explain: Keep every candidate with its ranks on the result.
        require_grounded: Abstain rather than give an answer of which a claim is not supported
            or not checked; ``None`` takes the setting.
        query_id: Ties events, logs and result together.
    """

    text: str
    history: tuple[Turn, ...] = ()
    filters: Filters = field(default_factory=Filters)
    tier: int | None = None
    max_tier: int | None = None
    top_k: int | None = None
    deadline_s: float | None = None
    budget_usd: float | None = None
    excluded_capability_ids: tuple[str, ...] = ()
    explain: bool = False
    require_grounded: bool | None = None
    query_id: str = ""
