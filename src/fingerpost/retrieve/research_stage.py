"""The research pass as a stage of retrieval: its means, its time, its events."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from fingerpost.errors import LaneError, MissingRecordingError
from fingerpost.observe.events import ResearchComplete, ResearchPhase, ResearchStart
from fingerpost.observe.hooks import call_hook
from fingerpost.retrieve.base import DeepResearch, Research
from fingerpost.retrieve.question import Question
from fingerpost.retrieve.research import Findings, Means, Write, research
from fingerpost.retrieve.research_model import written_queries
from fingerpost.retrieve.research_notes import Notes
from fingerpost.retrieve.research_web import web_leg
from fingerpost.retrieve.run import Run
from fingerpost.retrieve.stages import known_hits
from fingerpost.text.hints import DOCS, research_hints
from fingerpost.types.evidence import Hit

PART_K: Final = 10
_SHARE: Final = 0.6
"""Of the time left; the rest is for writing and checking."""
_WRITING: Final = 0.4
"""Share of its own time that the model may take for the queries of a round."""


async def research_stage(
    run: Run, question: Question, parts: Sequence[str], hits: Sequence[Hit]
) -> Findings | None:
    """Return what the research pass adds, ``None`` when it is off or failed.

    Args:
        run: The retrieval in flight.
        question: As a whole.
        parts: Sub-questions, or the question itself.
        hits: What is there already.
    """
    if not run.tools.deep_research_enabled or not question.text:
        return None
    started = time.perf_counter()
    run.emit(ResearchStart)
    try:
        findings = await _researched(run, question.text, parts, hits)
    except MissingRecordingError:
        raise
    except Exception as error:  # research is extra; the hits stand without it
        run.fall_back("research-skip", f"{type(error).__name__}: {error}")
        return None
    if findings.ended_early:
        run.fall_back("research-skip", f"no time for more after round {findings.n_rounds}")
    run.emit(
        ResearchComplete,
        n_rounds=findings.n_rounds,
        n_hits=len(findings.hits),
        duration_ms=run.took("research", started),
    )
    return findings


async def _researched(
    run: Run, question: str, parts: Sequence[str], hits: Sequence[Hit]
) -> Findings:
    whole = run.tools.remaining_s()
    if whole <= 0:
        raise TimeoutError("no time left")
    until = time.monotonic() + _SHARE * whole

    def remaining_s() -> float:
        return min(until - time.monotonic(), run.tools.remaining_s())

    if run.tools.deep_research is not None:
        return await _by_hook(run, run.tools.deep_research, question, remaining_s())
    notes = Notes(run.reader, list(hits), translated=run.translated)
    means = Means(
        search=lambda query: _searched(run, query),
        remaining_s=remaining_s,
        in_thread=run.in_thread,
        web=web_leg(run, remaining_s),
        write=_writer(run, question, remaining_s),
        phase=lambda *told: _tell(run, *told),
        rounds=run.tools.research_rounds,
    )
    return await research(notes, question, parts, means)


async def _searched(run: Run, query: str) -> Sequence[Hit]:
    began = time.perf_counter()
    found = await run.in_thread(lambda: run.search(run.question(query), PART_K))
    run.tell(found, began)
    return found.hits


def _writer(run: Run, question: str, remaining_s: Callable[[], float]) -> Write | None:
    """Return what asks the model for queries, ``None`` without one; the rules stand in for it."""
    imagine = run.tools.imagine
    if imagine is None:
        return None

    async def write(open_parts: Sequence[str], notes: Notes, most: int) -> Sequence[str]:
        try:
            return await written_queries(
                imagine.chat,
                question,
                open_parts,
                notes,
                most,
                seconds=_WRITING * remaining_s(),
                query_id=imagine.query_id,
            )
        except LaneError as error:
            run.fall_back("research-by-rule", f"{type(error).__name__}: {error}")
            return ()

    return write


def _tell(run: Run, number: int, n_queries: int, n_new: int, n_web: int) -> None:
    run.emit(ResearchPhase, round=number, n_queries=n_queries, n_new_hits=n_new, n_web_hits=n_web)


async def _by_hook(run: Run, hook: DeepResearch, text: str, seconds: float) -> Findings:
    hints = list(research_hints(run.request.suggested_sources)) or [DOCS]
    given = await call_hook(hook, run.tools.limiter, seconds, text, hints)
    if not isinstance(given, Research) or not isinstance(given.synthesis, str):
        raise TypeError(f"expected Research, got {type(given).__name__}")
    hits = await run.in_thread(lambda: run.young(known_hits(run, given.hits, "research-skip")))
    return Findings(hits, given.synthesis, (), n_rounds=1)
