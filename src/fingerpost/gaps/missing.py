"""Gaps to the pages that are missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from fingerpost.gaps.group import group
from fingerpost.gaps.title import titles_of
from fingerpost.observe.gap_log import Gap, NearPage, content_hash

if TYPE_CHECKING:
    from fingerpost.lanes.base import EmbeddingModel

MAX_QUESTIONS: Final = 4_000
"""Different questions that are grouped; of more, the latest ones."""
NOT_OF_THE_DOCUMENTS: Final = frozenset({"no_document_indexed", "filter_excludes_all"})
"""Reasons that no page would change."""
_HALF_LIFE_S: Final = 30 * 24 * 3600.0


class Since(StrEnum):
    """What became of a page since a question was asked."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MissingPage:
    """A page that would have answered a group of questions.

    Attributes:
        title: Suggested, in the words of the questions.
        questions: The different ones with how often each was asked, most often first.
        first_at: When one was first asked, seconds since the epoch.
        last_at: When one was last asked.
        reasons: Why there was no answer, with how often, most often first.
        nearest: The page that came nearest, ``None`` when nothing was found.
        since: What became of that page since it was last asked about.
        weight: Times asked, each worth half for every 30 days before the last of all gaps.
    """

    title: str
    questions: tuple[tuple[str, int], ...]
    first_at: float
    last_at: float
    reasons: tuple[tuple[str, int], ...]
    nearest: NearPage | None
    since: Since
    weight: float

    @property
    def n_asked(self) -> int:
        """Return how often one of the questions was asked."""
        return sum(count for _, count in self.questions)


@dataclass(frozen=True, slots=True)
class MissingPages:
    """The pages that are missing.

    Attributes:
        pages: Most wanted first.
        n_not_of_documents: Gaps that no page would have changed: a filter excluded everything,
            or nothing was indexed.
        n_left_out: Different questions beyond `MAX_QUESTIONS`, the oldest.
        by_meaning: Whether an embedding model grouped them; else words did.
    """

    pages: tuple[MissingPage, ...]
    n_not_of_documents: int
    n_left_out: int
    by_meaning: bool


def missing_pages(gaps: Sequence[Gap], embedder: EmbeddingModel | None = None) -> MissingPages:
    """Return the pages that would have answered the questions of a gap log.

    Args:
        gaps: In any order.
        embedder: Groups the questions by meaning; without it words do.

    Raises:
        EmbeddingError: The model gave no usable vector.
    """
    kept = [gap for gap in gaps if gap.reason not in NOT_OF_THE_DOCUMENTS]
    asked: dict[str, list[Gap]] = defaultdict(list)
    for gap in sorted(kept, key=lambda one: -one.at):
        asked[_same(gap.question)].append(gap)
    wanted = list(asked.values())[:MAX_QUESTIONS]
    now = max((gap.at for gap in kept), default=0.0)
    groups = group([one[0].question for one in wanted], embedder)
    counts = [
        Counter({wanted[row][0].question: len(wanted[row]) for row in rows}) for rows in groups
    ]
    pages = [
        _page(title, questions, [gap for row in rows for gap in wanted[row]], now)
        for title, questions, rows in zip(titles_of(counts), counts, groups, strict=True)
    ]
    pages.sort(key=lambda page: (-page.weight, -page.last_at, page.title))
    return MissingPages(
        tuple(pages), len(gaps) - len(kept), len(asked) - len(wanted), embedder is not None
    )


def _same(question: str) -> str:
    """Return what a question shares with others that differ in blanks, capitals and its end."""
    return " ".join(question.casefold().split()).rstrip("?!. ")


def _page(title: str, questions: Counter[str], gaps: Sequence[Gap], now: float) -> MissingPage:
    nearest, since = _nearest(gaps)
    return MissingPage(
        title=title,
        questions=tuple(questions.most_common()),
        first_at=min(gap.at for gap in gaps),
        last_at=max(gap.at for gap in gaps),
        reasons=tuple(Counter(gap.reason for gap in gaps).most_common()),
        nearest=nearest,
        since=since,
        weight=sum(0.5 ** ((now - gap.at) / _HALF_LIFE_S) for gap in gaps),
    )


def _nearest(gaps: Sequence[Gap]) -> tuple[NearPage | None, Since]:
    """Return the page that most of the questions came near to, as it was last met."""
    votes: Counter[tuple[str, str]] = Counter()
    latest: dict[tuple[str, str], NearPage] = {}
    for gap in sorted(gaps, key=lambda one: one.at):
        for rank, page in enumerate(gap.near):
            votes[page.source, page.path] += 12 // (rank + 1)
            latest[page.source, page.path] = page
    if not votes:
        return None, Since.UNKNOWN
    page = latest[votes.most_common(1)[0][0]]
    return page, _since(page)


def _since(page: NearPage) -> Since:
    if not page.sha256:
        return Since.UNKNOWN
    found = content_hash(page.uri)
    if not found:
        return Since.GONE
    return Since.SAME if found == page.sha256 else Since.CHANGED
