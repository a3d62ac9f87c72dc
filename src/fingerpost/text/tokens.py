"""How many tokens a text has for an embedding model, without the model."""

from __future__ import annotations


def estimate_tokens(text: str) -> int:
    """Return an estimate that is seldom below the true number."""
    return len(text) // 4 + 1
