"""Overview questions: down the tree of summaries to the chunks that they lead to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.retrieve.admit import admitted_hits
from fingerpost.retrieve.beside import filled
from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.investigate import interleaved
from fingerpost.retrieve.legs import cosines
from fingerpost.retrieve.overview import overview_subject
from fingerpost.retrieve.question import Question, ask
from fingerpost.retrieve.run import Run
from fingerpost.retrieve.score import score_chunks
from fingerpost.stores.base import Reader, Summary
from fingerpost.types.evidence import Hit, MatchType

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NODES = 3


async def overview_stage(run: Run, found: HybridResult, hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the kept hits of an overview question with what the summaries lead to.

    For the whole corpus that stands in the place of the hits, for a subject it is merged with
    them by reciprocal rank. Any other question, and an index without summaries, leaves the
    hits as they are. Neighbours among what is returned may be joined to ``k`` passages.
    """
    subject = overview_subject(run.request.text)
    if subject is None or not run.tools.raptor_enabled or not run.reader.info.n_summaries:
        return list(hits)
    started = time.perf_counter()
    try:
        leads = await run.in_thread(lambda: leads_of(run, found, subject, k))
    except Exception as error:  # the summaries are extra; the hits stand without them
        run.fall_back("raptor-skip", f"{type(error).__name__}: {error}")
        return list(hits)
    run.took("raptor", started)
    if not subject and leads:
        run.overview = True
        return leads
    both = interleaved([hits, leads], run.request.text)
    return filled(both[:k], both, k)


def leads_of(
    run: Run, found: HybridResult, subject: str, k: int, levels: Sequence[int] = ()
) -> list[Hit]:
    """Return what `overview` finds and the filters of the question let pass."""
    leads = overview(run.reader, found, subject, k, levels)
    return admitted_hits(run.reader, run.request.filters, leads)[0]


def overview(
    reader: Reader, found: HybridResult, subject: str, k: int, levels: Sequence[int] = ()
) -> list[Hit]:
    """Return up to ``k`` chunks that the summaries lead to, best first; none without a tree.

    For the whole corpus they are those of the root, in its order. For a subject those of the
    three nodes whose text and vectors are nearest to it. Summaries themselves are never
    returned.

    Args:
        reader: The index.
        found: The search for the question; its vector and weight score the chunks.
        subject: See `overview.overview_subject`.
        k: Most chunks, >= 0.
        levels: Of the nodes for a subject; empty takes all, and so does 0, the text itself.
    """
    tree = reader.summaries()
    if subject and any(levels):
        tree = [node for node in tree if node.level in levels]
    nodes = _nearest(reader, found, ask(reader, subject), tree) if subject else tree[-1:]
    of_node = {key: node for node in reversed(nodes) for key in node.leads}
    stored = reader.chunks(list(of_node))
    scores, near = score_chunks(reader, found, stored)
    hits = [
        Hit(
            chunk=one.chunk,
            document=one.document,
            score=min(1.0, max(0.0, float(score))),
            match_type=MatchType.GRAPH,
            vector_score=None if np.isnan(cosine) else float(cosine),
            note=_note(of_node[one.key]),
        )
        for one, score, cosine in zip(stored, scores, near, strict=True)
    ]
    if subject:
        return sorted(hits, key=lambda hit: -hit.score)[:k]
    return _falling(hits[:k])


def _nearest(
    reader: Reader, found: HybridResult, question: Question, tree: Sequence[Summary]
) -> list[Summary]:
    by_words = np.array([question.coverage([f"{node.title}\n{node.text}"]) for node in tree])
    query = found.legs.query_vector
    scores = by_words if query is None else by_words + _cosines(reader, query, tree)
    order = np.argsort(-scores, kind="stable")[:_NODES].tolist()
    return [tree[place] for place in order if scores[place] > 0]


def _cosines(
    reader: Reader, query: NDArray[np.float32], tree: Sequence[Summary]
) -> NDArray[np.float64]:
    """Return for each node the mean cosine of its leads, 0 where none has a vector."""
    keys = list(dict.fromkeys(key for node in tree for key in node.leads))
    near = dict(zip(keys, np.nan_to_num(cosines(reader, query, keys)).tolist(), strict=True))
    return np.array([np.mean([near[key] for key in node.leads] or [0.0]) for node in tree])


def _note(node: Summary) -> str:
    return f"stands for {node.n_documents} documents like {node.title}"


def _falling(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with scores that fall in their order, none above the best."""
    best = max((hit.score for hit in hits), default=0.0)
    return [
        replace(hit, score=best * (1 - place / (2 * len(hits)))) for place, hit in enumerate(hits)
    ]
