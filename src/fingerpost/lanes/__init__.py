"""Model lanes: what answers, embeds or decides, behind one small protocol each."""

from fingerpost.lanes.base import ChatModel, EmbeddingModel

__all__ = ["ChatModel", "EmbeddingModel"]
