"""LangChain: BM25 (rank-bm25), the in-memory vector store, and the ensemble of both."""

from __future__ import annotations

from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from peers.given import Given, K, Known, Search


class Embedding(Embeddings):
    """Known vectors behind LangChain's interface."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the chunks."""
        return self._known.lists(texts)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self._known.lists([text])[0]


def _words(given: Given) -> BM25Retriever:
    return BM25Retriever.from_texts(given.texts, k=K)


def _vectors(given: Given) -> Any:
    store = InMemoryVectorStore.from_texts(given.texts, Embedding(given.known))
    return store.as_retriever(search_kwargs={"k": K})


def keyword(given: Given) -> Search:
    """Build the BM25 retriever."""
    search: Search = _words(given).invoke
    return search


def vector(given: Given) -> Search:
    """Build the vector store in memory."""
    search: Search = _vectors(given).invoke
    return search


def hybrid(given: Given) -> Search:
    """Build both and rank them together, each counting the same."""
    search: Search = EnsembleRetriever(retrievers=[_words(given), _vectors(given)]).invoke
    return search
