"""Every event, as one frozen record. Times are seconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from fingerpost.types.decision import ClassificationResult
from fingerpost.types.result import QueryResult
from fingerpost.types.routing import SourceRouting


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events carry.

    Attributes:
        at: When it happened, seconds since the epoch.
        query_id: The question it belongs to; empty for ingest events.
    """

    type: ClassVar[str] = "event"
    at: float
    query_id: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the event's own fields with ``type`` first; values are left as they are."""
        return {"type": self.type, **{f.name: getattr(self, f.name) for f in fields(self)}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifyStart(Event):
    """Classification begins."""

    type: ClassVar[str] = "classify:start"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifyComplete(Event):
    """A tier was chosen."""

    type: ClassVar[str] = "classify:complete"
    classification: ClassificationResult
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifyError(Event):
    """The classifier failed; the fallback tier is used."""

    type: ClassVar[str] = "classify:error"
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategySelect(Event):
    """A strategy was chosen, and by whom."""

    type: ClassVar[str] = "strategy:select"
    strategy: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesSelect(Event):
    """The sources of a question were chosen."""

    type: ClassVar[str] = "sources:select"
    routing: SourceRouting
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyDecompose(Event):
    """A question was split."""

    type: ClassVar[str] = "strategy:decompose"
    n_sub_queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilitiesActivate(Event):
    """Capabilities were recommended."""

    type: ClassVar[str] = "capabilities:activate"
    capability_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveStart(Event):
    """Retrieval begins."""

    type: ClassVar[str] = "retrieve:start"
    tier: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveVector(Event):
    """A hybrid search ran: of the question, of a sub-question, or of the research pass."""

    type: ClassVar[str] = "retrieve:vector"
    n_lexical: int
    n_vector: int
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveGraph(Event):
    """Graph expansion ran."""

    type: ClassVar[str] = "retrieve:graph"
    n_added: int
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveRerank(Event):
    """Reranking ran."""

    type: ClassVar[str] = "retrieve:rerank"
    n_in: int
    n_out: int
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveFallback(Event):
    """A weaker way was taken, at any stage; ``name`` is one of the fallback names."""

    type: ClassVar[str] = "retrieve:fallback"
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveComplete(Event):
    """Retrieval is done."""

    type: ClassVar[str] = "retrieve:complete"
    n_hits: int
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchStart(Event):
    """The research pass begins."""

    type: ClassVar[str] = "research:start"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchPhase(Event):
    """One round of the research pass."""

    type: ClassVar[str] = "research:phase"
    round: int
    n_queries: int
    n_new_hits: int
    n_web_hits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchComplete(Event):
    """The research pass is done."""

    type: ClassVar[str] = "research:complete"
    n_rounds: int
    n_hits: int
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateStart(Event):
    """Generation begins."""

    type: ClassVar[str] = "generate:start"
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateDelta(Event):
    """A piece of the answer. Joined in order, the pieces are the answer."""

    type: ClassVar[str] = "generate:delta"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateComplete(Event):
    """The answer is written."""

    type: ClassVar[str] = "generate:complete"
    mode: str
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateError(Event):
    """The model broke off after text had been told; the question ends with its error.

    Attributes:
        error: Class name of the error.
        n_pieces: Pieces of the answer that had been told.
    """

    type: ClassVar[str] = "generate:error"
    error: str
    n_pieces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyComplete(Event):
    """The claims were checked; ``status`` is ``checked`` or ``unavailable``."""

    type: ClassVar[str] = "verify:complete"
    status: str
    n_claims: int = 0
    n_supported: int = 0
    n_contradicted: int = 0
    duration_ms: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteComplete(Event):
    """The question is done; carries the result."""

    type: ClassVar[str] = "route:complete"
    result: QueryResult = field(repr=False)
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteError(Event):
    """The question ended without a result: an error, the deadline, or the caller gave it up.

    Attributes:
        error: Class name of the error.
        duration_ms: From the question to its end.
    """

    type: ClassVar[str] = "route:error"
    error: str
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GithubIndexStart(Event):
    """A repository, on GitHub or elsewhere, is asked for its newest commit.

    Attributes:
        repo: Name of its source.
    """

    type: ClassVar[str] = "github:index:start"
    repo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GithubIndexComplete(Event):
    """A repository is part of the corpus as its server has it.

    Attributes:
        repo: Name of its source.
        n_chunks: Of it in the index.
        commit: Full hash.
        changed: The commit is another one than before.
    """

    type: ClassVar[str] = "github:index:complete"
    repo: str
    n_chunks: int
    commit: str = ""
    changed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GithubIndexError(Event):
    """A repository could not be fetched or indexed; what is there of it stays.

    Attributes:
        repo: Name of its source.
        error: Why, for people.
        retry_at: When its server may be asked again, seconds since the epoch; ``None`` when it
            did not say.
    """

    type: ClassVar[str] = "github:index:error"
    repo: str
    error: str
    retry_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress(Event):
    """How far indexing is.

    Attributes:
        phase: ``scan``, ``parse``, ``store``, ``embed`` or ``done``.
        done: Items finished in this phase.
        total: Items of this phase, 0 while unknown.
        path: Item last finished, empty when none.
    """

    type: ClassVar[str] = "ingest:progress"
    phase: str
    done: int
    total: int
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall(Event):
    """A model of a lane was called once; each attempt of a lane is a call of its own.

    Attributes:
        job: What it was for.
        provider: Whom it asked.
        model: The provider's name of the model.
        input_tokens: Tokens sent, 0 when not known.
        output_tokens: Tokens received, 0 when not known.
        cost_usd: ``None`` when the price is not known.
        duration_ms: From the call to its end.
        first_piece_ms: From the call to the first piece, ``None`` when it was not streamed or
            none came.
        outcome: ``ok``, ``closed`` when the caller gave it up, or the class name of the error.
        operation: What kind of model it is: ``chat``, ``decide`` or ``rerank``; a chat model may
            decide and rerank too.
    """

    type: ClassVar[str] = "model:call"
    job: str
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    duration_ms: float
    first_piece_ms: float | None
    outcome: str
    operation: str = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneFailover(Event):
    """A lane asks another endpoint, or the same once more.

    Attributes:
        job: What the call is for.
        from_model: Provider and model that failed, or that rests after earlier failures.
        to_model: Provider and model that are asked next; for a retry the same.
        error: Class name of the error.
        delay_s: Seconds waited before.
    """

    type: ClassVar[str] = "lane:failover"
    job: str
    from_model: str
    to_model: str
    error: str
    delay_s: float
