"""Where index and chunks live: the seam `Store`, and the one store of this version."""

from fingerpost.stores.base import (
    EdgeKind,
    IndexIdentity,
    Neighbour,
    PreparedDocument,
    Reader,
    Selection,
    Store,
    StoredChunk,
    StoreInfo,
    Summary,
    WordQuery,
    Writer,
)
from fingerpost.stores.linking import WrittenLinks
from fingerpost.stores.open import open_store
from fingerpost.stores.trail import embedding_text, trail_text

__all__ = [
    "EdgeKind",
    "IndexIdentity",
    "Neighbour",
    "PreparedDocument",
    "Reader",
    "Selection",
    "Store",
    "StoreInfo",
    "StoredChunk",
    "Summary",
    "WordQuery",
    "Writer",
    "WrittenLinks",
    "embedding_text",
    "open_store",
    "trail_text",
]
