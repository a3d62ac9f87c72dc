"""Which embedding model an index is searched and filled with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.embedding import LocalEmbedding
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.providers import BY_NAME
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.corpus.index import english_share
from fingerpost.errors import (
    ConfigError,
    EmbeddingError,
    IndexMismatchError,
    LaneError,
    MissingExtraError,
)
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers import load_embedder, load_remote_embedder
from fingerpost.lanes.steady import Probe, SteadyEmbedder
from fingerpost.stores.base import Store
from fingerpost.stores.trail import embedding_text
from fingerpost.wiring.tape import Tape

_MOSTLY_ENGLISH = 0.5
_N_PROBES = 5
_LOCAL = "local/"
MODEL_OF = {"local/minilm-l6-v2-int8": "minilm", "local/use-multilingual-v3": "use"}
"""Local embedder as indexes record it → name that loads it."""


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


def choose_embedder(
    config: QueryRouterConfig,
    store: Store,
    *,
    may_replace: bool = False,
    tape: Tape | None = None,
) -> Embedding:
    """Return the embedding model for this corpus.

    The one that the settings name; else the one that the index was built with; else that of
    the first provider with a key; else MiniLM for a corpus that is mostly English and the
    multilingual model for any other, when it is installed. Vectors of one local model are made
    anew for another, which costs nothing but time; where a provider is involved the change has
    to be asked for.

    Args:
        config: The settings.
        store: The open index.
        may_replace: The caller asked for the index to be made anew.
        tape: Keeps or replays the calls of a provider's model.

    Raises:
        IndexMismatchError: The settings name another model than the index was built with, and
            one of the two is a provider's.
        ConfigError: The settings do not say whose key or model is meant.
    """
    if config.embedding_provider == "none":
        return Embedding(None, "disabled-no-key", "embedding_provider is 'none'")
    found = _chosen(config, store, may_replace=may_replace)
    if found.model is None or is_local(found.model.name):
        return found
    model: EmbeddingModel = SteadyEmbedder(
        found.model,
        partial(_probes, store, found.model),
        cure=f"Delete {store.info().location} and run 'fingerpost index' with the same paths.",
    )
    return replace(found, model=model if tape is None else tape.around_embedder(model))


def _probes(store: Store, model: EmbeddingModel) -> list[Probe]:
    """Return texts of the index with their vectors, spread over its documents."""
    identity = store.info().identity
    if identity is None or not identity.has_vectors_of(model) or not store.info().n_vectors:
        return []
    found: list[Probe] = []
    with store.reader() as reader:
        ids = [document.id for document in reader.documents()]
        for at in ids[:: max(1, len(ids) // _N_PROBES)][:_N_PROBES]:
            for stored in reader.document_chunks(at)[:1]:
                vector = reader.vectors([stored.key])[0]
                if vector.any():
                    chunk = stored.chunk
                    found.append((embedding_text(chunk.heading_path, chunk.search_text), vector))
    return found


def _chosen(config: QueryRouterConfig, store: Store, *, may_replace: bool) -> Embedding:
    built_with = _built_with(store)
    wanted = resolve_credentials(config).embedding
    named = _is_named(config)
    if built_with and not named:
        return _of_the_index(config, store, built_with, wanted)
    name = _name_of(wanted)
    other = bool(built_with and name and name != built_with)
    if other and not may_replace and not (is_local(built_with) and is_local(name)):
        raise IndexMismatchError(
            f"the index was embedded with {built_with}, and the settings name {name}",
            hint="Run 'fingerpost index PATH --rebuild' with these settings to embed it anew, or "
            "leave embedding_provider and embedding_model out to keep it.",
        )
    return _loaded(config, store, wanted)


def _built_with(store: Store) -> str:
    identity = store.info().identity
    return "" if identity is None else identity.embedder


def _is_named(config: QueryRouterConfig) -> bool:
    return config.embedding_provider is not None or config.embedding_model is not None


def is_local(name: str) -> bool:
    """Return whether a model, as indexes or settings call it, runs in this process."""
    return name.startswith(_LOCAL) or name in MODEL_OF.values()


def _name_of(wanted: Endpoint | LocalEmbedding | None) -> str:
    if isinstance(wanted, Endpoint):
        return f"{wanted.provider}/{wanted.model}"
    if wanted is None or wanted.model is None:
        return ""
    return next(name for name, short in MODEL_OF.items() if short == wanted.model)


def _of_the_index(
    config: QueryRouterConfig,
    store: Store,
    built_with: str,
    wanted: Endpoint | LocalEmbedding | None,
) -> Embedding:
    """Return the model that the index was built with, or why it cannot be had."""
    if built_with in MODEL_OF:
        return _local(config, MODEL_OF[built_with])
    if built_with == _name_of(wanted) and isinstance(wanted, Endpoint):
        return _remote(wanted)
    provider, _, model = built_with.partition("/")
    if provider not in BY_NAME:  # of a version that knew another model
        return _loaded(config, store, LocalEmbedding())
    named = config.model_copy(update={"embedding_provider": provider, "embedding_model": model})
    try:
        endpoint = resolve_credentials(named).embedding
    except ConfigError:
        endpoint = None
    if isinstance(endpoint, Endpoint):
        return _remote(endpoint)
    return Embedding(
        None,
        "disabled-no-key",
        f"the index was embedded with {built_with}, which cannot be reached with the keys that "
        "are set",
    )


def _loaded(
    config: QueryRouterConfig, store: Store, wanted: Endpoint | LocalEmbedding | None
) -> Embedding:
    if isinstance(wanted, Endpoint):
        return _remote(wanted)
    if wanted is not None and wanted.model is not None:
        return _local(config, wanted.model)
    if english_share(store) < _MOSTLY_ENGLISH:
        multilingual = _local(config, "use")
        if multilingual.model is not None:
            return multilingual
    return _local(config, "minilm")


def _remote(endpoint: Endpoint) -> Embedding:
    try:
        return Embedding(load_remote_embedder(endpoint), "active")
    except (LaneError, MissingExtraError) as error:
        return Embedding(None, "failed-init", f"{str(error).rstrip('.')}. {error.hint}".strip())


def _local(config: QueryRouterConfig, name: str) -> Embedding:
    try:
        folder = config.embedding_folder if name == "minilm" else None
        model = load_embedder(name, folder=folder)
        return Embedding(model, "active")
    except MissingExtraError as error:
        if config.embedding_provider == "local":
            raise
        return Embedding(None, "disabled-no-key", f"{error} {error.hint}".strip())
    except EmbeddingError as error:
        return Embedding(None, "failed-init", str(error))
