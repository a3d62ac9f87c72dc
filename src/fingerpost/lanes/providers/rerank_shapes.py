"""How a reranker is asked and how it tells its scores, by API shape. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import ConfigError
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.fields import as_count, as_items, as_mapping

__all__ = ["RerankShape", "read_input_tokens", "read_scores", "rerank_shape"]


@dataclass(frozen=True, slots=True)
class RerankShape:
    """One API shape; all of them are a posted list of documents at ``/rerank``.

    Attributes:
        version: Stands in the path.
        fields: What is asked for besides model, query and documents.
    """

    version: str
    fields: Mapping[str, Any]

    def url(self, endpoint: Endpoint) -> str:
        """Return the whole address."""
        return api_url(endpoint.base_url, self.version, "rerank")

    def body(self, endpoint: Endpoint, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return what is posted."""
        asked = {"model": endpoint.model, "query": query, "documents": list(texts)}
        return {**asked, **self.fields}


_SHAPES: Final[Mapping[str, RerankShape]] = {
    "cohere": RerankShape("v2", {}),
    "jina": RerankShape("v1", {"return_documents": False}),
    "voyage": RerankShape("v1", {"return_documents": False, "truncation": True}),
}


def rerank_shape(endpoint: Endpoint) -> RerankShape:
    """Return how ``endpoint`` is asked to rerank.

    Raises:
        ConfigError: There is no such API shape.
    """
    if endpoint.api not in _SHAPES:
        raise ConfigError(f"{endpoint.provider} serves no reranker.")
    return _SHAPES[endpoint.api]


def read_scores(data: object) -> list[tuple[object, object]]:
    """Return (index, score) as told by any of the shapes; nothing of it has been checked."""
    told = as_mapping(data)
    items = as_items(data) or as_items(told.get("results")) or as_items(told.get("data"))
    return [
        (item.get("index"), item.get("relevance_score", item.get("score")))
        for item in map(as_mapping, items)
    ]


def read_input_tokens(data: object) -> int | None:
    """Return the tokens that were read, ``None`` when the reply does not tell."""
    told = as_mapping(data)
    usage, meta = as_mapping(told.get("usage")), as_mapping(told.get("meta"))
    places = (
        usage.get("total_tokens"),
        usage.get("prompt_tokens"),
        as_mapping(meta.get("tokens")).get("input_tokens"),
    )
    return next((n for n in map(as_count, places) if n is not None), None)
