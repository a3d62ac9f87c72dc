"""The optional stages of retrieval: each may fail alone, and says so."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from fingerpost.errors import LaneError, MissingRecordingError
from fingerpost.observe.events import RetrieveGraph, RetrieveRerank
from fingerpost.observe.hooks import call_hook
from fingerpost.retrieve.admit import admitted_hits, checked, offered_hits, unknown_reason
from fingerpost.retrieve.base import Rerank
from fingerpost.retrieve.dedupe import distinct
from fingerpost.retrieve.graph import expand
from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.question import Question
from fingerpost.retrieve.rerank import rerank
from fingerpost.retrieve.run import Run, merged
from fingerpost.types.decision import Tier
from fingerpost.types.evidence import Hit

_RERANK_SHARE = 0.35
"""Of the time left: what a reranker takes, the answer cannot have."""


@dataclass(slots=True)
class Imagined:
    """What a model wrote to search with.

    Attributes:
        passages: That could answer the question; empty without a model or without vectors.
        parts: Sub-questions; ``None`` when the rules are to split it.
    """

    passages: list[str] = field(default_factory=list)
    parts: list[str] | None = None


async def imagine_stage(run: Run, level: Tier) -> Imagined:
    """Ask the model for passages, and on T3 for sub-questions, side by side.

    Each may fail alone: the question's own vector, or the rules, take its place.
    """
    imagined, imagine, tools = Imagined(), run.tools.imagine, run.tools
    if imagine is None:
        return imagined
    started = time.perf_counter()
    text = run.request.text
    searched = run.translated.get(text, text)

    async def passages() -> None:
        try:
            imagined.passages = await imagine.passages(searched, tools.hyde_hypotheses)
        except LaneError as error:
            run.fall_back("hyde-unavailable", f"{type(error).__name__}: {error}")
        else:
            if not imagined.passages:
                run.fall_back("hyde-to-vector", "no passage in the question's language was written")

    async def parts() -> None:
        try:
            imagined.parts = await imagine.sub_questions(text, tools.max_sub_queries)
        except LaneError as error:
            run.fall_back("decompose-fallback", f"{type(error).__name__}: {error}")

    async with anyio.create_task_group() as group:
        if tools.embedder is not None and run.reader.info.n_vectors:
            group.start_soon(passages)
        if level is Tier.RESEARCH:
            group.start_soon(parts)
    run.took("imagine", started)
    return imagined


async def expand_stage(run: Run, found: HybridResult, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits and what graph expansion adds to them, each chunk once, best first."""
    if not run.tools.graph_enabled or not hits:
        return list(hits)
    started = time.perf_counter()
    try:
        added = await expansion(run, found, hits)
    except Exception as error:  # expansion is extra; the hits stand without it
        run.fall_back("graph-skip", f"{type(error).__name__}: {error}")
        return list(hits)
    wide = await run.in_thread(lambda: _joined(added, hits, run.request.text))
    n_added = len({h.chunk.id for h in added} - {h.chunk.id for h in hits})
    run.emit(RetrieveGraph, n_added=n_added, duration_ms=run.took("graph", started))
    return wide


def _joined(added: Sequence[Hit], hits: Sequence[Hit], text: str) -> list[Hit]:
    return distinct(sorted(merged(added, hits), key=lambda hit: -hit.score), text)


async def expansion(
    run: Run, found: HybridResult, hits: Sequence[Hit], depth: int | None = None
) -> Sequence[Hit]:
    """Return the hits and what graph expansion finds around them; a host's hook gives its own.

    Args:
        run: The retrieval in flight.
        found: The search that the hits came from.
        hits: Best first.
        depth: Edges to follow; ``None`` takes those of the tools.

    Raises:
        TimeoutError: No time is left.
        Exception: Whatever the hook raises.
    """
    remaining = run.tools.remaining_s()
    if remaining <= 0:
        raise TimeoutError("no time left")
    hook = run.tools.graph_expand
    if hook is None:
        edges = run.tools.graph_depth if depth is None else depth
        return await run.in_thread(lambda: expand(run.reader, found, hits, run.within, depth=edges))
    given = await call_hook(hook, run.tools.limiter, remaining, list(hits))
    return await run.in_thread(lambda: known_hits(run, given, "graph-skip"))


async def rerank_stage(run: Run, question: Question, hits: Sequence[Hit], top_n: int) -> list[Hit]:
    """Return the best hits; when the host's reranker fails, the built-in one decides."""
    if not hits:
        return []
    started = time.perf_counter()
    ranked: list[Hit] | None = None
    if run.tools.rerank is not None:
        ranked = await _by_hook(run, run.tools.rerank, question, hits, top_n)
    elif run.tools.remaining_s() <= 0:
        run.fall_back("rerank-skip", "no time left")
        ranked = list(hits[:top_n])
    if ranked is None:
        ranked = await run.in_thread(lambda: rerank(question, hits, top_n))
    spent = run.took("rerank", started)
    run.emit(RetrieveRerank, n_in=len(hits), n_out=len(ranked), duration_ms=spent)
    return ranked


async def _by_hook(
    run: Run, hook: Rerank, question: Question, hits: Sequence[Hit], top_n: int
) -> list[Hit] | None:
    seconds = _RERANK_SHARE * run.tools.remaining_s()
    try:
        given = await call_hook(hook, run.tools.limiter, seconds, question.text, list(hits), top_n)
        kept, n_unknown = await run.in_thread(lambda: offered_hits(hits, merged(checked(given))))
    except MissingRecordingError:
        raise
    except Exception as error:  # a host's hook may fail in any way
        run.fall_back("rerank-skip", f"{type(error).__name__}: {error}")
        return None
    if n_unknown:
        run.fall_back("rerank-skip", unknown_reason(n_unknown, n_unknown + len(kept)))
    if not kept:
        run.fall_back("rerank-skip", "the reranker kept none of the hits")
        return None
    return kept[:top_n]


def known_hits(run: Run, given: object, fallback: str) -> list[Hit]:
    """Return the hits of a hook that may be cited; name the fallback when some are foreign.

    Raises:
        TypeError: It is no sequence of hits.
        ValueError: A score is no finite number.
    """
    hits = checked(given)
    kept, n_unknown = admitted_hits(run.reader, run.request.filters, hits)
    if n_unknown:
        run.fall_back(fallback, unknown_reason(n_unknown, len(hits)))
    return kept
