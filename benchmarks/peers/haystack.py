"""Haystack: the in-memory store with its two retrievers, joined by rank."""

from __future__ import annotations

from haystack import Document
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

from peers.given import Given, K, Search


def _store(given: Given, *, vectors: bool) -> InMemoryDocumentStore:
    rows = given.known.lists(given.texts) if vectors else [None] * len(given.texts)
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(id=str(place), content=text, embedding=row)
            for place, (text, row) in enumerate(zip(given.texts, rows, strict=True))
        ]
    )
    return store


def keyword(given: Given) -> Search:
    """Build the BM25 retriever."""
    words = InMemoryBM25Retriever(_store(given, vectors=False), top_k=K)
    return lambda question: words.run(query=question)["documents"]


def vector(given: Given) -> Search:
    """Build the embedding retriever."""
    near = InMemoryEmbeddingRetriever(_store(given, vectors=True), top_k=K)
    known = given.known
    return lambda question: near.run(query_embedding=known.lists([question])[0])["documents"]


def hybrid(given: Given) -> Search:
    """Build both and join them by reciprocal rank."""
    store, known = _store(given, vectors=True), given.known
    words = InMemoryBM25Retriever(store, top_k=K)
    near = InMemoryEmbeddingRetriever(store, top_k=K)
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=K)

    def search(question: str) -> list[Document]:
        found = [
            words.run(query=question)["documents"],
            near.run(query_embedding=known.lists([question])[0])["documents"],
        ]
        documents: list[Document] = joiner.run(found)["documents"]
        return documents

    return search
