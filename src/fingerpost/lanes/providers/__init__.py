"""Models by provider: local ones, and those behind a provider's API."""

from fingerpost.lanes.providers.load import (
    LocalModel,
    available,
    load_chat,
    load_decision,
    load_embedder,
    load_remote_embedder,
    load_reranker,
)
from fingerpost.lanes.providers.minilm import MiniLmEmbedder
from fingerpost.lanes.providers.use import UseEmbedder

__all__ = [
    "LocalModel",
    "MiniLmEmbedder",
    "UseEmbedder",
    "available",
    "load_chat",
    "load_decision",
    "load_embedder",
    "load_remote_embedder",
    "load_reranker",
]
