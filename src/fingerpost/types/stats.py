"""What is in the corpus."""

from __future__ import annotations

from dataclasses import dataclass, field

from fingerpost.types.document import SkippedFile


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What one run of the indexer did.

    Attributes:
        n_added: Documents new to the index.
        n_changed: Documents whose content changed.
        n_moved: Documents found under another path with the same content.
        n_removed: Documents that left the index.
        n_unchanged: Documents left alone.
        n_chunks: Chunks in the index now.
        n_documents: Documents in the index now.
        n_embedded: Chunks embedded by this run.
        n_reused_vectors: Chunks that kept a vector of equal content.
        n_without_vector: Chunks that have no vector yet.
        skipped: Files that gave nothing, and why.
        took_s: Wall seconds.
        generation: Index generation after the run.
    """

    n_added: int = 0
    n_changed: int = 0
    n_moved: int = 0
    n_removed: int = 0
    n_unchanged: int = 0
    n_chunks: int = 0
    n_documents: int = 0
    n_embedded: int = 0
    n_reused_vectors: int = 0
    n_without_vector: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    took_s: float = 0.0
    generation: int = 0

    @property
    def changed_anything(self) -> bool:
        """Return whether a document was added, changed, moved or removed."""
        return bool(self.n_added or self.n_changed or self.n_moved or self.n_removed)


@dataclass(frozen=True, slots=True)
class PlatformKnowledgeStats:
    """Entries about fingerpost itself, by category."""

    total: int = 0
    tools: int = 0
    skills: int = 0
    faq: int = 0
    api: int = 0
    troubleshooting: int = 0


@dataclass(frozen=True, slots=True)
class RepositoryStats:
    """State of one repository of the corpus.

    Attributes:
        name: Of its source.
        commit: That its documents are of, empty when none was fetched.
        n_files: Documentation files fetched.
        n_left_out: Documentation files beyond the limits.
        n_chunks: Chunks of it in the index.
        fetched_at: When that commit was fetched, seconds since the epoch; 0 when none was.
        checked_at: When its server was last asked, 0 when never.
        error: Why that failed, or why there is nothing to read; empty when all is well.
    """

    name: str
    commit: str = ""
    n_files: int = 0
    n_left_out: int = 0
    n_chunks: int = 0
    fetched_at: float = 0.0
    checked_at: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """State of a router's corpus (`QueryRouter.get_corpus_stats`)."""

    initialized: bool = False
    configured_path_count: int = 0
    chunk_count: int = 0
    document_count: int = 0
    topic_count: int = 0
    source_count: int = 0
    platform_knowledge: PlatformKnowledgeStats = field(default_factory=PlatformKnowledgeStats)
    retrieval_mode: str = "keyword-only"
    embedding_status: str = "disabled-no-key"
    embedding_model: str | None = None
    embedding_dimension: int = 0
    vector_coverage: float = 0.0
    graph_enabled: bool = True
    deep_research_enabled: bool = True
    graph_runtime_mode: str = "heuristic"
    rerank_runtime_mode: str = "heuristic"
    deep_research_runtime_mode: str = "heuristic"
    skipped: tuple[SkippedFile, ...] = ()
    repositories: tuple[RepositoryStats, ...] = ()
    topics: tuple[str, ...] = ()
    languages: dict[str, int] = field(default_factory=dict, hash=False)
    formats: dict[str, int] = field(default_factory=dict, hash=False)
    generation: int = 0
    index_path: str = ""
    notes: tuple[str, ...] = ()
