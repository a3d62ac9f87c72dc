"""Model lanes: what answers, embeds or decides, behind one small protocol each."""

from fingerpost.lanes.base import EmbeddingModel

__all__ = ["EmbeddingModel"]
