"""The built-in research pass: search again for what the evidence leaves open, in rounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import anyio

from fingerpost.errors import MissingRecordingError
from fingerpost.retrieve.research_notes import FOUND, Notes
from fingerpost.retrieve.research_rules import queries_by_rule, web_queries
from fingerpost.retrieve.research_synthesis import synthesis
from fingerpost.types.evidence import Hit

ROUNDS: Final = 3
QUERIES: Final = 4
"""Most queries of the index in one pass."""
WEB_QUERIES: Final = 3
"""Most queries of the web in one pass."""
_RESERVE_S: Final = 0.02

T = TypeVar("T")
Search = Callable[[str], Awaitable[Sequence[Hit]]]
Write = Callable[[Sequence[str], Notes, int], Awaitable[Sequence[str]]]
Phase = Callable[[int, int, int, int], None]


@dataclass(frozen=True, slots=True)
class Findings:
    """What the research pass found.

    Attributes:
        hits: New hits that hold more of a part than any before, or come from the web or by a
            query of the model; those first that hold most.
        synthesis: One line for each part of the question: what says it, with the ids of the
            chunks, or that nothing was found.
        uncovered: Parts for which nothing was found.
        n_rounds: Rounds that ran, 0 when nothing was open.
        web_searched: Whether the web was asked.
        ended_early: Whether time was over before all was tried.
    """

    hits: tuple[Hit, ...]
    synthesis: str
    uncovered: tuple[str, ...]
    n_rounds: int
    web_searched: bool = False
    ended_early: bool = False


@dataclass(frozen=True, slots=True)
class Means:
    """What a research pass may use.

    Attributes:
        search: Runs one more query of the index, under the same filters.
        remaining_s: Seconds left.
        in_thread: Runs blocking work off the event loop.
        web: Asks the web; never fails, and ends in the time left. ``None`` leaves the web alone.
        write: Asks a model for at most so many queries; gives none when it fails.
        phase: Told of each round: number, queries asked, new hits, those of them from the web.
        rounds: Most rounds.
    """

    search: Search
    remaining_s: Callable[[], float]
    in_thread: Callable[[Callable[[], T]], Awaitable[T]]
    web: Search | None = None
    write: Write | None = None
    phase: Phase = lambda *_: None
    rounds: int = ROUNDS


@dataclass(slots=True)
class _Round:
    """What one round asks."""

    open_parts: list[str]
    queries: list[str]
    web: list[str]


async def research(notes: Notes, question: str, parts: Sequence[str], means: Means) -> Findings:
    """Return what rounds of further searches add.

    Each round takes the parts whose rare words the evidence does not hold, and asks again: the
    index with queries of the model, or else of the rules, and the web with the parts
    themselves. It ends when all is covered, when a round brings nothing new, or when time, the
    rounds or the queries are used up.

    Args:
        notes: The evidence so far, best first.
        question: As it was asked.
        parts: Its sub-questions, or the question itself.
        means: What may be used.
    """
    n_rounds = n_asked = n_web_asked = 0
    ended_early = False
    for number in range(1, means.rounds + 1):
        left = (QUERIES - n_asked, WEB_QUERIES - n_web_asked)
        this = await _planned(notes, question, parts, means, left)
        if not this.queries and not this.web:
            break
        if means.remaining_s() < _RESERVE_S:
            ended_early = True
            break
        n_web_before = notes.n_web
        n_new, ended_early = await _run(this, notes, means)
        n_rounds, n_asked = number, n_asked + len(this.queries)
        n_web_asked += len(this.web)
        means.phase(number, len(this.queries) + len(this.web), n_new, notes.n_web - n_web_before)
        if not n_new or ended_early:
            break

    def findings() -> Findings:
        return Findings(
            hits=notes.settle(parts),
            synthesis=synthesis(parts, notes, ended_early=ended_early),
            uncovered=tuple(part for part in parts if notes.coverage(part) < FOUND),
            n_rounds=n_rounds,
            web_searched=n_web_asked > 0,
            ended_early=ended_early,
        )

    return await means.in_thread(findings)


async def _planned(
    notes: Notes, question: str, parts: Sequence[str], means: Means, left: tuple[int, int]
) -> _Round:
    """Return what the next round asks, within the queries that are left."""
    n_queries, n_web = left

    def by_rule() -> _Round:
        open_parts = notes.open_parts(parts)
        web = web_queries(question, open_parts, notes)[:n_web] if means.web else []
        return _Round(open_parts, list(queries_by_rule(open_parts, notes))[:n_queries], web)

    this = await means.in_thread(by_rule)
    if this.open_parts and n_queries > 0 and means.write is not None:
        written = await means.write(this.open_parts, notes, n_queries)
        fresh = [q for q in dict.fromkeys(written) if q not in notes.asked and q not in parts]
        notes.written.update(fresh[:n_queries])
        this.queries = fresh[:n_queries] or this.queries
    return this


async def _run(this: _Round, notes: Notes, means: Means) -> tuple[int, bool]:
    """Ask index and web side by side; return how many hits are new, and whether time was over."""
    found: dict[str, Sequence[Hit]] = {}
    failure: Exception | None = None
    ended_early = False
    notes.asked.update(this.queries, this.web)

    async def ask_web(web: Search, query: str) -> None:
        found[query] = await web(query)

    async with anyio.create_task_group() as group:
        if means.web is not None:
            for query in this.web:
                group.start_soon(ask_web, means.web, query)
        for query in this.queries:
            if means.remaining_s() < _RESERVE_S:
                ended_early = True
                break
            try:
                found[f"index {query}"] = await means.search(query)
            except MissingRecordingError:
                raise
            except Exception as error:  # out of the group, which would wrap it
                failure = error
                break
    if failure is not None:
        raise failure
    n_new = sum(notes.add(found.get(f"index {query}", ()), query) for query in this.queries)
    return n_new + sum(notes.add(found[query], query) for query in this.web), ended_early
