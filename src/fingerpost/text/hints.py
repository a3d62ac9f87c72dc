"""Where to look, in the three words that research knows, whatever words a model used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from unicodedata import normalize

__all__ = ["DOCS", "MEDIA", "WEB", "research_hints"]

WEB: Final = "web"
DOCS: Final = "docs"
MEDIA: Final = "media"
_WORDS: Final = {
    WEB: {
        "web", "internet", "online", "website", "webpage", "websearch", "google", "news",
        "browser", "www",
    },
    DOCS: {
        "docs", "doc", "documentation", "document", "corpus", "knowledge", "local", "vector",
        "bm25", "keyword", "graph", "raptor", "memory", "index", "file", "manual",
    },
    MEDIA: {
        "media", "multimodal", "image", "video", "audio", "picture", "podcast", "screenshot",
    },
}  # fmt: skip
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def research_hints(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the hints that labels stand for, each once, in their order; none for unknown ones.

    A label is read word by word: ``Web search`` and ``WebSearch`` are ``web``, ``api-docs`` is
    ``docs``; a word may be in the plural, wide letters, or parted (``multi-modal``).
    """
    found: dict[str, None] = {}
    for label in labels:
        for word in _words(label):
            found.update(dict.fromkeys(hint for hint, known in _WORDS.items() if word in known))
    return tuple(found)


def _words(label: str) -> list[str]:
    """Return the words of a label in lower case, as parted by signs and capitals, and whole."""
    plain = "".join(c if c.isalnum() else " " for c in normalize("NFKC", label))
    parted = _CAPITAL.sub(" ", plain).split()
    words = [word.casefold() for word in (*parted, *plain.split(), "".join(parted))]
    return [form for word in words for form in (word, word.removesuffix("s"))]
