"""How embeddings are asked for and told, by API shape. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import ConfigError
from fingerpost.lanes.providers.address import api_url, path_name
from fingerpost.lanes.providers.fields import as_items, as_mapping
from fingerpost.lanes.providers.gemini import api_key
from fingerpost.lanes.providers.ollama import server_root
from fingerpost.lanes.providers.openai import bearer

__all__ = ["EmbeddingShape", "embedding_shape"]


class EmbeddingShape(Protocol):
    """One API shape."""

    def url(self, endpoint: Endpoint) -> str:
        """Return the whole address."""
        ...

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return the headers with the key in them."""
        ...

    def body(self, endpoint: Endpoint, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return what is posted."""
        ...

    def read(self, data: Mapping[str, Any]) -> list[tuple[object, object]]:
        """Return (index, vector) as told; nothing of it has been checked."""
        ...


class _OpenAi:
    def url(self, endpoint: Endpoint) -> str:
        return api_url(endpoint.base_url, "v1", "embeddings")

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        return bearer(endpoint)

    def body(self, endpoint: Endpoint, texts: Sequence[str]) -> Mapping[str, Any]:
        return {"model": endpoint.model, "input": list(texts)}

    def read(self, data: Mapping[str, Any]) -> list[tuple[object, object]]:
        items = map(as_mapping, as_items(data.get("data")))
        return [(item.get("index"), item.get("embedding")) for item in items]


class _Gemini:
    def url(self, endpoint: Endpoint) -> str:
        path = f"models/{path_name(endpoint.model)}:batchEmbedContents"
        return api_url(endpoint.base_url, "v1beta", path)

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        return api_key(endpoint)

    def body(self, endpoint: Endpoint, texts: Sequence[str]) -> Mapping[str, Any]:
        model = "models/" + endpoint.model.removeprefix("models/")
        contents = ({"parts": [{"text": text}]} for text in texts)
        return {"requests": [{"model": model, "content": content} for content in contents]}

    def read(self, data: Mapping[str, Any]) -> list[tuple[object, object]]:
        items = map(as_mapping, as_items(data.get("embeddings")))
        return [(index, item.get("values")) for index, item in enumerate(items)]


class _Ollama:
    def url(self, endpoint: Endpoint) -> str:
        return api_url(server_root(endpoint.base_url), "", "api/embed")

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        return bearer(endpoint)

    def body(self, endpoint: Endpoint, texts: Sequence[str]) -> Mapping[str, Any]:
        return {"model": endpoint.model, "input": list(texts)}

    def read(self, data: Mapping[str, Any]) -> list[tuple[object, object]]:
        return list(enumerate(as_items(data.get("embeddings"))))


_SHAPES: Final[Mapping[str, EmbeddingShape]] = {
    "openai": _OpenAi(),
    "gemini": _Gemini(),
    "ollama": _Ollama(),
}
# Vendors whose API has the shape of one with embeddings, and who publish no model for them.
_WITHOUT: Final = frozenset({"anthropic", "groq", "xai", "minimax"})


def embedding_shape(endpoint: Endpoint) -> EmbeddingShape:
    """Return how ``endpoint`` is asked for embeddings.

    Raises:
        ConfigError: The provider publishes no embedding model.
    """
    if endpoint.provider in _WITHOUT or endpoint.api not in _SHAPES:
        raise ConfigError(
            f"{endpoint.provider} publishes no embedding model.",
            hint="Set embedding_provider to one that does, or to 'local'.",
        )
    return _SHAPES[endpoint.api]
