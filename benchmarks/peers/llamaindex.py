"""LlamaIndex: BM25, its own vector store, both fused by rank, and its routing query engine."""

from __future__ import annotations

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CompletionResponse, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool
from llama_index.retrievers.bm25 import BM25Retriever

from peers.given import Given, K, Known, Search


class Embedding(BaseEmbedding):
    """Known vectors behind LlamaIndex's interface."""

    known: Known

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.known.lists([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self.known.lists(texts)


class Model(MockLLM):
    """Chooses the first option, or answers one sentence, without delay."""

    def complete(self, prompt: str, **_: Any) -> CompletionResponse:
        """Return a choice where the prompt asks for one in JSON."""
        choosing = '"choice"' in prompt or "choice:" in prompt
        text = '[{"choice": 1, "reason": "a lookup"}]' if choosing else "It is so."
        return CompletionResponse(text=text)


def _nodes(given: Given) -> list[TextNode]:
    return [TextNode(text=text) for text in given.texts]


def _words(nodes: list[TextNode]) -> BM25Retriever:
    return BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=K)


def _vectors(given: Given, nodes: list[TextNode]) -> Any:
    index = VectorStoreIndex(nodes, embed_model=Embedding(known=given.known))
    return index.as_retriever(similarity_top_k=K)


def keyword(given: Given) -> Search:
    """Build the BM25 retriever."""
    search: Search = _words(_nodes(given)).retrieve
    return search


def vector(given: Given) -> Search:
    """Build a vector index in memory, the default store."""
    search: Search = _vectors(given, _nodes(given)).retrieve
    return search


def hybrid(given: Given) -> Search:
    """Build both and fuse them by reciprocal rank, with the one question that was asked."""
    nodes = _nodes(given)
    fused = QueryFusionRetriever(
        [_words(nodes), _vectors(given, nodes)],
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=K,
        num_queries=1,
        use_async=False,
    )
    search: Search = fused.retrieve
    return search


def route(given: Given) -> Search:
    """Build a choice between two query engines over words; a model of no delay chooses."""
    model = Model()
    retriever = _words(_nodes(given))
    tools = [
        QueryEngineTool.from_defaults(
            query_engine=RetrieverQueryEngine.from_args(retriever, llm=model), description=about
        )
        for about in ("Looks one thing up.", "Compares several sources.")
    ]
    engine = RouterQueryEngine.from_defaults(
        query_engine_tools=tools,
        llm=model,
        selector=LLMSingleSelector.from_defaults(llm=model),
    )
    return lambda question: engine.query(question).source_nodes
