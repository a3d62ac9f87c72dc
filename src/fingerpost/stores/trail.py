"""The words of where a chunk stands: path, title and headings."""

from __future__ import annotations

from collections.abc import Sequence


def trail_text(path: str, title: str, heading_path: Sequence[str]) -> str:
    """Return what is analysed into `PreparedDocument.trail_words` for one chunk."""
    return "\n".join((path, title, *heading_path))


def embedding_text(heading_path: Sequence[str], search_text: str) -> str:
    """Return what is embedded for one chunk: its heading path, then its search text."""
    if not heading_path:
        return search_text
    return " > ".join(heading_path) + "\n" + search_text
