"""Where to look, in the three words that research knows, whatever words a model used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = ["DOCS", "MEDIA", "WEB", "research_hints"]

WEB: Final = "web"
DOCS: Final = "docs"
MEDIA: Final = "media"
_WORDS: Final = {
    WEB: {"web", "internet", "online", "website", "websites", "google", "news", "browser", "www"},
    DOCS: {
        "docs", "doc", "documentation", "documents", "document", "corpus", "knowledge", "local",
        "vector", "bm25", "keyword", "graph", "raptor", "memory", "index", "files", "manual",
    },
    MEDIA: {
        "media", "multimodal", "image", "images", "video", "videos", "audio", "picture",
        "pictures", "podcast", "screenshot", "screenshots",
    },
}  # fmt: skip


def research_hints(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the hints that labels stand for, each once, in their order; none for unknown ones.

    A label is read word by word: ``Web search`` is ``web``, ``api-docs`` is ``docs``.
    """
    found: dict[str, None] = {}
    for label in labels:
        words = "".join(c if c.isalnum() else " " for c in label.casefold()).split()
        for word in words:
            found.update(dict.fromkeys(hint for hint, known in _WORDS.items() if word in known))
    return tuple(found)
