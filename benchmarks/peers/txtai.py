"""txtai: its keyword index, its vectors (Faiss) and both, the texts kept in SQLite."""

from __future__ import annotations

from typing import Any

from txtai import Embeddings

from peers.given import Given, K, Search


def _search(given: Given, **settings: Any) -> Search:
    index = Embeddings(content=True, **settings)
    index.index(enumerate(given.texts))
    return lambda question: index.search(question, K)


def _known(given: Given) -> dict[str, Any]:
    def transform(texts: list[str]) -> Any:
        # A plain function: the library calls anything else once, to get one.
        return given.known.embed(texts)

    return {"method": "external", "transform": transform}


def keyword(given: Given) -> Search:
    """Build the keyword index."""
    return _search(given, keyword=True)


def vector(given: Given) -> Search:
    """Build the vector index, exact or approximate as the library decides by size."""
    return _search(given, **_known(given))


def hybrid(given: Given) -> Search:
    """Build both indexes."""
    return _search(given, hybrid=True, **_known(given))
