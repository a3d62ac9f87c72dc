"""Thin bridges to other libraries, which are imported at first use, and to another index."""

from fingerpost.bridges.index import IndexRetriever
from fingerpost.bridges.langchain import LangChainRetriever, from_langchain, to_langchain
from fingerpost.bridges.llama_index import LlamaIndexRetriever

__all__ = [
    "IndexRetriever",
    "LangChainRetriever",
    "LlamaIndexRetriever",
    "from_langchain",
    "to_langchain",
]
