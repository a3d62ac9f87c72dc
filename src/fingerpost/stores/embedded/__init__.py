"""The embedded store: SQLite as the truth, tantivy for words, vector files beside it."""

from fingerpost.stores.embedded.store import EmbeddedStore

__all__ = ["EmbeddedStore"]
