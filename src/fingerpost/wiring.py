"""Configuration to objects: the only module that knows the concrete classes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fingerpost.classify import LocalClassifier
from fingerpost.config.load import cache_folder
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.corpus import CorpusRoot, IndexOptions, topics
from fingerpost.corpus.index import english_share
from fingerpost.errors import ConfigError, EmbeddingError, MissingExtraError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers import load_embedder
from fingerpost.observe.observer import Observer
from fingerpost.pipeline import Pipeline
from fingerpost.running import Parts
from fingerpost.stores.base import Store
from fingerpost.stores.open import open_store
from fingerpost.types.document import SkippedFile
from fingerpost.types.ids import digest
from fingerpost.types.stats import CorpusStats
from fingerpost.verify import CitationVerifier, OnUnsupported

_MOSTLY_ENGLISH = 0.5
MODEL_OF = {"local/minilm-l6-v2-int8": "minilm", "local/use-multilingual-v3": "use"}
"""Embedder name as indexes record it → name that loads it."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedding model in use, or why there is none.

    Attributes:
        model: ``None`` searches by words alone.
        status: ``active``, ``disabled-no-key`` (none installed or switched off) or
            ``failed-init``.
        reason: For people, empty when active.
    """

    model: EmbeddingModel | None
    status: str
    reason: str = ""


def cores() -> int:
    """Return the number of cores that this process may use, at least 1."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on this platform
        return max(1, os.cpu_count() or 1)


def index_folder(config: QueryRouterConfig, roots: list[CorpusRoot]) -> Path:
    """Return where the index lives: configured, beside a single folder, else the user's cache.

    Two configurations with the same roots share an index; any other pair does not.
    """
    if config.index_dir is not None:
        return config.index_dir.expanduser().absolute()
    if len(roots) == 1 and not roots[0].include and os.access(roots[0].folder, os.W_OK):
        return roots[0].folder / ".fingerpost"
    parts = ["\n".join((str(root.folder), *root.include)) for root in roots]
    return cache_folder() / "indexes" / digest(*sorted(parts))


def index_options(config: QueryRouterConfig, *, rebuild: bool = False) -> IndexOptions:
    """Return how documents are read and split."""
    return IndexOptions(
        max_file_bytes=int(config.max_file_mb * 1024 * 1024), embed=False, rebuild=rebuild
    )


def make_store(folder: Path) -> Store:
    """Open the index in ``folder``, which is made when it does not exist."""
    return open_store(str(folder))


def forget_index(store: Store, folder: Path) -> None:
    """Take away the folder that this run made for a corpus that turned out empty."""
    store.close()
    shutil.rmtree(folder, ignore_errors=True)


def known_embedder(config: QueryRouterConfig, store: Store) -> Embedding | None:
    """Return the model that the index was built with, ``None`` when it has none yet."""
    identity = store.info().identity
    if identity is None or not identity.embedder:
        return None
    name = MODEL_OF.get(identity.embedder)
    if name is None or (config.embedding_model not in (None, name)):
        return None
    return _load(config, name)


def choose_embedder(config: QueryRouterConfig, store: Store) -> Embedding:
    """Return the embedding model for this corpus.

    The one that the index was built with, else the configured one, else MiniLM for a corpus
    that is mostly English and the multilingual model for any other, when it is installed.
    """
    if config.embedding_provider == "none":
        return Embedding(None, "disabled-no-key", "embedding_provider is 'none'")
    known = known_embedder(config, store)
    if known is not None:
        return known
    if config.embedding_model is not None:
        return _load(config, config.embedding_model)
    if english_share(store) < _MOSTLY_ENGLISH:
        multilingual = _load(config, "use")
        if multilingual.model is not None:
            return multilingual
    return _load(config, "minilm")


def _load(config: QueryRouterConfig, name: str) -> Embedding:
    try:
        folder = config.embedding_folder if name == "minilm" else None
        return Embedding(load_embedder(name, folder=folder), "active")
    except MissingExtraError as error:
        if config.embedding_provider == "local":
            raise
        return Embedding(None, "disabled-no-key", f"{error} {error.hint}".strip())
    except EmbeddingError as error:
        return Embedding(None, "failed-init", str(error))


def make_pipeline(
    config: QueryRouterConfig,
    store: Store,
    embedder: EmbeddingModel | None,
    observe: Observer,
    read_topics: Callable[[], tuple[str, ...]],
) -> Pipeline:
    """Return the pipeline for an open store."""
    parts = Parts(
        store=store,
        embedder=embedder,
        classifier=LocalClassifier(),
        make_verifier=_verifier_maker(config),
        config=config,
        observe=observe,
        topics=read_topics,
    )
    return Pipeline(parts, cores())


def _verifier_maker(
    config: QueryRouterConfig,
) -> Callable[[EmbeddingModel | None], CitationVerifier] | None:
    if not config.verify_citations:
        return None
    return lambda embedder: CitationVerifier(
        embedder=embedder,
        nli=config.nli,
        extract_claims=config.extract_claims,
        on_unsupported=OnUnsupported(config.on_unsupported),
    )


def corpus_topics(store: Store) -> tuple[str, ...]:
    """Return what the corpus is about, most covered first, at most 50."""
    with store.reader() as reader:
        return topics(reader)


def refuse_repair(config: QueryRouterConfig) -> None:
    """Refuse a policy that needs a model.

    Raises:
        ConfigError: ``on_unsupported`` is ``repair``.
    """
    if config.on_unsupported == "repair":
        raise ConfigError(
            "on_unsupported = 'repair': needs a model, which this version does not call",
            hint="Use 'flag' or 'drop'.",
        )


def corpus_stats(
    config: QueryRouterConfig,
    store: Store,
    embedding: Embedding,
    topic_names: tuple[str, ...],
    unlocated: tuple[SkippedFile, ...],
) -> CorpusStats:
    """Return the state of an open corpus."""
    with store.reader() as reader:
        state = reader.info
        sources = {document.source for document in reader.documents()}
        languages = reader.languages()
        skipped = (*unlocated, *reader.skipped())
    active = embedding.model is not None
    return CorpusStats(
        initialized=True,
        configured_path_count=len(config.knowledge_corpus),
        chunk_count=state.n_chunks,
        document_count=state.n_documents,
        topic_count=len(topic_names),
        source_count=len(sources),
        retrieval_mode="vector+keyword-fallback" if active else "keyword-only",
        embedding_status=embedding.status,
        embedding_model=embedding.model.name if embedding.model else None,
        embedding_dimension=embedding.model.dimension if embedding.model else 0,
        vector_coverage=state.n_vectors / state.n_chunks if active and state.n_chunks else 0.0,
        graph_enabled=config.graph_enabled,
        deep_research_enabled=config.deep_research_enabled,
        graph_runtime_mode=_mode(on=config.graph_enabled, hook=config.graph_expand),
        rerank_runtime_mode=_mode(on=True, hook=config.rerank),
        deep_research_runtime_mode=_mode(
            on=config.deep_research_enabled, hook=config.deep_research
        ),
        skipped=skipped,
        topics=topic_names,
        languages=languages,
        generation=state.generation,
        index_path=state.location,
        notes=state.notes,
    )


def _mode(*, on: bool, hook: object) -> str:
    if not on:
        return "disabled"
    return "heuristic" if hook is None else "active"
