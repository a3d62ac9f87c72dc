"""What is known of providers' embedding models and limits, looked up 2026-11-30."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["EmbeddingFacts", "RequestLimits", "facts_of", "request_limits"]

_ENGLISH: Final = frozenset({"en"})
_MANY: Final = frozenset(
    {
        *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr"),
        *("he", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "ms", "nl", "no", "pl"),
        *("pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "ta", "te", "th", "tr", "uk", "ur"),
        *("vi", "zh"),
    }
)


@dataclass(frozen=True, slots=True)
class EmbeddingFacts:
    """One model.

    Attributes:
        dimension: Length of its vectors, 0 when not known.
        max_tokens: Longest text that it takes.
        languages: ISO 639-1 codes.
    """

    dimension: int = 0
    max_tokens: int = 512
    languages: frozenset[str] = _MANY


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request to a provider may hold."""

    n_texts: int = 64
    n_tokens: int = 16_000


_MODELS: Final = {
    "text-embedding-3-small": EmbeddingFacts(1536, 8191),
    "text-embedding-3-large": EmbeddingFacts(3072, 8191),
    "text-embedding-ada-002": EmbeddingFacts(1536, 8191),
    "gemini-embedding-001": EmbeddingFacts(3072, 2048),
    "gemini-embedding-2": EmbeddingFacts(3072, 8192),
    "gemini-embedding-2-preview": EmbeddingFacts(3072, 8192),
    "mistral-embed": EmbeddingFacts(1024, 8192),
    "codestral-embed": EmbeddingFacts(1536, 8192),
    "multilingual-e5-large-instruct": EmbeddingFacts(1024, 512),
    "nomic-embed-text": EmbeddingFacts(768, 2048, _ENGLISH),
    "mxbai-embed-large": EmbeddingFacts(1024, 512, _ENGLISH),
    "all-minilm": EmbeddingFacts(384, 256, _ENGLISH),
    "bge-m3": EmbeddingFacts(1024, 8192),
    "embeddinggemma": EmbeddingFacts(768, 2048),
}
_REQUESTS: Final = {
    "openai": RequestLimits(256, 200_000),
    "gemini": RequestLimits(100, 20_000),
    "ollama": RequestLimits(32, 16_000),
}


def facts_of(model: str) -> EmbeddingFacts:
    """Return what is known of a model, a vendor before its name and a tag after it ignored."""
    name = model.rpartition("/")[2].partition(":")[0]
    return _MODELS.get(name, EmbeddingFacts())


def request_limits(provider: str) -> RequestLimits:
    """Return what one request may hold; small for a provider of which nothing is known."""
    return _REQUESTS.get(provider, RequestLimits())
