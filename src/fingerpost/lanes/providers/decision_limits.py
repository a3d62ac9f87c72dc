"""What one request to a decision model may hold, by provider; looked up 2026-11-29."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fingerpost.errors import ConfigError
from fingerpost.types.question import Choice, Question, Score

__all__ = ["DecisionLimits", "check_questions", "limits_of"]

_KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class DecisionLimits:
    """What one request may hold; the defaults suit a server of which nothing is known.

    Attributes:
        questions: More are spread over several requests.
        options: Of a choice; more are refused before anything is sent.
        levels: Of a score; likewise.
        max_bytes: Of the body; larger ones are spread, ``None`` for no limit.
    """

    questions: int = 64
    options: int = 26
    levels: int = 10
    max_bytes: int | None = 64 * _KIB


_LIMITS: Final = {
    # Contexts of 64,000 and 262,144 tokens, at three bytes a token.
    "typesafe": DecisionLimits(200, 255, 10, 192_000),
    "gemini": DecisionLimits(1000, 255, 255, 768 * _KIB),
    "ollama": DecisionLimits(64, 26, 26, 64 * _KIB),
    "openai": DecisionLimits(200, 255, 10, None),
    "openrouter": DecisionLimits(200, 255, 10, None),
}


def limits_of(provider: str) -> DecisionLimits:
    """Return what one request may hold; small for a provider of which nothing is known."""
    return _LIMITS.get(provider, DecisionLimits())


def check_questions(questions: tuple[Question, ...], limits: DecisionLimits, name: str) -> None:
    """Refuse what no splitting makes smaller.

    Raises:
        ConfigError: A choice or a score has more options or levels than the model takes.
    """
    for question in questions:
        if isinstance(question, Choice):
            n, most, what = len(question.options), limits.options, "options"
        elif isinstance(question, Score):
            n, most, what = len(question.levels), limits.levels, "levels"
        else:
            continue
        if n > most:
            raise ConfigError(
                f"question {question.id!r} has {n:,} {what}, and {name} takes {most:,}",
                hint="Offer fewer, split the question, or set decision_provider to one that "
                "takes more.",
            )
