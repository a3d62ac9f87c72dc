"""What there is to say of an open corpus."""

from __future__ import annotations

from collections import Counter

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.knowledge import load_knowledge
from fingerpost.stores.base import Store
from fingerpost.types.document import SkippedFile
from fingerpost.types.stats import CorpusStats, PlatformKnowledgeStats
from fingerpost.wiring.embedding import Embedding
from fingerpost.wiring.index import source_paths
from fingerpost.wiring.repositories import Repositories


def corpus_stats(
    config: QueryRouterConfig,
    store: Store,
    embedding: Embedding,
    topic_names: tuple[str, ...],
    unlocated: tuple[SkippedFile, ...],
    repositories: Repositories,
) -> CorpusStats:
    """Return the state of an open corpus."""
    with store.reader() as reader:
        state = reader.info
        documents = [(document.source, document.format) for document in reader.documents()]
        languages = reader.languages()
        skipped = (*unlocated, *reader.skipped(), *repositories.skipped())
        joined = repositories.stats(reader)
    active = embedding.model is not None
    formats = Counter(kind for _, kind in documents)
    return CorpusStats(
        initialized=True,
        configured_path_count=len(config.knowledge_corpus) + len(source_paths(config)),
        chunk_count=state.n_chunks,
        document_count=state.n_documents,
        topic_count=len(topic_names),
        source_count=len({source for source, _ in documents}),
        platform_knowledge=_platform(config),
        retrieval_mode="vector+keyword-fallback" if active else "keyword-only",
        embedding_status=embedding.status,
        embedding_model=embedding.model.name if embedding.model else None,
        embedding_dimension=embedding.model.dimension if embedding.model else 0,
        vector_coverage=state.n_vectors / state.n_chunks if active and state.n_chunks else 0.0,
        graph_enabled=config.graph_enabled,
        deep_research_enabled=config.deep_research_enabled,
        graph_runtime_mode=_mode(
            on=config.graph_enabled, hook=config.graph_expand or state.has_graph or None
        ),
        rerank_runtime_mode=_mode(
            on=True, hook=config.rerank or resolve_credentials(config).rerank
        ),
        deep_research_runtime_mode=_mode(
            on=config.deep_research_enabled, hook=config.deep_research
        ),
        skipped=skipped,
        repositories=joined,
        topics=topic_names,
        languages=languages,
        formats=dict(sorted(formats.items(), key=lambda one: (-one[1], one[0]))),
        generation=state.generation,
        index_path=state.location,
        notes=state.notes,
    )


def _platform(config: QueryRouterConfig) -> PlatformKnowledgeStats:
    return (
        load_knowledge().stats() if config.include_platform_knowledge else PlatformKnowledgeStats()
    )


def _mode(*, on: bool, hook: object) -> str:
    if not on:
        return "disabled"
    return "heuristic" if hook is None else "active"
