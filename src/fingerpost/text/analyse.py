"""The one analyser: text to the tokens that every store ranks."""

from __future__ import annotations

ANALYSER_VERSION = "1"


def analyse(text: str) -> list[str]:
    """Return index tokens in order."""
    return text.casefold().split()


def analyse_joined(text: str) -> str:
    """Return the tokens of `analyse` separated by single blanks; the fast path for indexing."""
    return " ".join(analyse(text))


def query_tokens(text: str) -> dict[str, float]:
    """Return token → weight (> 0) for a question; stop words are left out unless all are."""
    return dict.fromkeys(analyse(text), 1.0)
