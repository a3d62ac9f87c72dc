"""Models by provider: here those that run in this process."""

from fingerpost.lanes.providers.load import LocalModel, available, load_embedder
from fingerpost.lanes.providers.minilm import MiniLmEmbedder
from fingerpost.lanes.providers.use import UseEmbedder

__all__ = ["LocalModel", "MiniLmEmbedder", "UseEmbedder", "available", "load_embedder"]
