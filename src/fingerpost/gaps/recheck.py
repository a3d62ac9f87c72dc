"""The questions of a missing page, asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fingerpost.gaps.missing import MissingPage
from fingerpost.observe.gap_log import gaps_of
from fingerpost.types.result import QueryResult

MAX_ASKED: Final = 5
"""Questions of a page that are asked again, those asked most often."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of a missing page's questions.

    Attributes:
        n_asked: Questions that were asked again.
        answered: Those that have an answer now, with the path of the page that it cites first.
    """

    n_asked: int
    answered: tuple[tuple[str, str], ...]

    @property
    def is_answered(self) -> bool:
        """Tell whether each of them has an answer now."""
        return len(self.answered) == self.n_asked


def recheck(page: MissingPage, ask: Callable[[str], QueryResult]) -> Rechecked:
    """Ask a missing page's questions again.

    An answer with a claim that is not supported, or with a part that is not covered, is none,
    as it was when the gap was kept.

    Args:
        page: Whose questions are asked, at most `MAX_ASKED`.
        ask: Answers a question, without keeping its gap.
    """
    questions = [question for question, _ in page.questions[:MAX_ASKED]]
    answered: list[tuple[str, str]] = []
    for question in questions:
        result = ask(question)
        if not any(gaps_of(result, at=0.0)):
            cited = next((source.path for source in result.sources if source.cited), "")
            answered.append((question, cited))
    return Rechecked(len(questions), tuple(answered))
