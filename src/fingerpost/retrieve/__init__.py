"""Retrieval: a plan's question in, evidence out."""

from fingerpost.retrieve.base import (
    DeepResearch,
    GraphExpand,
    Rerank,
    Research,
    RetrieveRequest,
    RetrieveTools,
)
from fingerpost.retrieve.decompose import decompose
from fingerpost.retrieve.dispatch import retrieve
from fingerpost.retrieve.fuse import reciprocal_rank
from fingerpost.retrieve.hybrid import HybridResult, search
from fingerpost.retrieve.look import first_look
from fingerpost.retrieve.rerank import rerank

__all__ = [
    "DeepResearch",
    "GraphExpand",
    "HybridResult",
    "Rerank",
    "Research",
    "RetrieveRequest",
    "RetrieveTools",
    "decompose",
    "first_look",
    "reciprocal_rank",
    "rerank",
    "retrieve",
    "search",
]
