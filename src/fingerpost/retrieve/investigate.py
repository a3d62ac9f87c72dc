"""The third tier: split the question, search each part, merge, then research what is open."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from fingerpost.errors import MissingRecordingError
from fingerpost.observe.events import StrategyDecompose
from fingerpost.retrieve.beside import MOST, filled
from fingerpost.retrieve.decompose import decompose
from fingerpost.retrieve.dedupe import distinct
from fingerpost.retrieve.fuse import reciprocal_rank
from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.pack import spread
from fingerpost.retrieve.question import clean
from fingerpost.retrieve.research import Findings
from fingerpost.retrieve.research_notes import FOUND, Notes
from fingerpost.retrieve.research_stage import PART_K, research_stage
from fingerpost.retrieve.run import Run, merged
from fingerpost.retrieve.stages import expand_stage, rerank_stage
from fingerpost.retrieve.translate import translate_stage
from fingerpost.types.evidence import Hit, PartEvidence

SPLIT_CHARS = 600
PART_CHARS = 400
_RESEARCH_SHARE = 5


@dataclass(frozen=True, slots=True)
class Investigation:
    """What the third tier found.

    Attributes:
        hits: Kept, best first.
        ranked: All that was ranked, best first; holds ``hits``.
        sub_queries: What the question was split into, empty when it has one part.
        parts: For each of them what was kept.
        uncovered: Parts for which nothing was found.
        synthesis: Notes of the research pass, empty when it did not run.
        web_searched: Whether the research pass asked the web.
    """

    hits: list[Hit]
    ranked: list[Hit]
    sub_queries: tuple[str, ...]
    parts: tuple[PartEvidence, ...]
    uncovered: tuple[str, ...]
    synthesis: str
    web_searched: bool


async def investigate(
    run: Run, found: HybridResult, k: int, written: Sequence[str] | None = None
) -> Investigation:
    """Return what is found for a question that may have several parts.

    Args:
        run: The retrieval in flight.
        found: The search for the question as a whole; it always takes part.
        k: How many hits to keep.
        written: Sub-questions of a model; ``None`` splits by rules.
    """
    text = clean(run.request.text)
    if written is None:
        texts = await run.in_thread(lambda: split(text, run.tools.max_sub_queries))
    else:
        texts = list(written)
    run.emit(StrategyDecompose, n_sub_queries=len(texts))
    asked = texts or [shortened(text, PART_CHARS)]
    await translate_stage(run, asked)
    whole = await _whole(run, found, k if texts else MOST * k)
    lists = [whole, *await _parts(run, texts)]
    ranked, hits = await run.in_thread(lambda: _laid_out(lists, run.request.text, k))
    findings = await research_stage(run, found.question, asked, hits)
    if findings is not None and findings.hits:
        hits = with_findings(spread(ranked, k), findings.hits, k)
        hits = await run.in_thread(lambda: filled(hits, ranked, k))
        ranked = merged(hits, ranked, findings.hits)
    uncovered = await run.in_thread(lambda: uncovered_of(run, texts, hits, findings))
    return Investigation(
        hits=hits,
        ranked=ranked,
        sub_queries=tuple(texts),
        parts=_kept_apart(texts, lists[1:], hits, uncovered),
        uncovered=uncovered,
        synthesis=findings.synthesis if findings else "",
        web_searched=findings is not None and findings.web_searched,
    )


def uncovered_of(
    run: Run, texts: Sequence[str], hits: Sequence[Hit], findings: Findings | None
) -> tuple[str, ...]:
    """Return the parts for which nothing was found, as far as words can tell. Blocks.

    Where only vectors carry from one language to the other they cannot.
    """
    if "cross-language-vectors" in run.fallbacks:
        return ()
    if findings is not None and run.tools.deep_research is None:
        return findings.uncovered
    notes = Notes(run.reader, list(hits), translated=run.translated)
    return tuple(text for text in texts if notes.coverage(text) < FOUND)


def _kept_apart(
    texts: Sequence[str],
    rankings: Sequence[Sequence[Hit]],
    hits: Sequence[Hit],
    uncovered: Sequence[str],
) -> tuple[PartEvidence, ...]:
    """Return for each part those of the hits that its own search found or research added."""
    kept = {hit.chunk.id: hit for hit in hits}
    parts = []
    for text, ranking in zip(texts, rankings, strict=True):
        own = [hit.chunk.id for hit in ranking if hit.chunk.id in kept]
        own += [hit.chunk.id for hit in hits if hit.sub_query == text]
        found = tuple(kept[one] for one in dict.fromkeys(own))
        parts.append(PartEvidence(text, () if text in uncovered else found))
    return tuple(parts)


def split(text: str, most: int) -> list[str]:
    """Return the sub-questions of a question, bounded in number and length.

    A question beyond 600 characters costs what one of 600 does: what stands further on still
    takes part in the search for the question as a whole.
    """
    parts = decompose(shortened(text, SPLIT_CHARS), most)
    return list(dict.fromkeys(shortened(part, PART_CHARS) for part in parts))


def shortened(text: str, most: int) -> str:
    """Return at most so many characters of a text, cut at a blank where there is one."""
    if len(text) <= most:
        return text
    cut = text[:most]
    at = max(cut.rfind(" "), cut.rfind("\n"))
    return cut[:at] if at > most // 2 else cut


def _laid_out(lists: Sequence[Sequence[Hit]], text: str, k: int) -> tuple[list[Hit], list[Hit]]:
    ranked = interleaved(lists, text)
    return ranked, filled(spread(ranked, k), ranked, k)


def interleaved(lists: Sequence[Sequence[Hit]], text: str) -> list[Hit]:
    """Return the hits of all lists by reciprocal rank; ties by place in the first lists.

    Scores of different questions do not compare, places do. The best hit keeps its score and
    the others take theirs in proportion to their sums of reciprocal ranks; a single list
    keeps its scores.
    """
    if len(lists) == 1:
        return list(lists[0])
    every = merged(*lists)
    place = {hit.chunk.id: (n, hit) for n, hit in enumerate(every)}
    sums = reciprocal_rank([[hit.chunk.id for hit in one] for one in lists])
    if not sums:
        return []
    ordered = sorted(sums, key=lambda pair: (-pair[1], place[pair[0]][0]))
    top, best = ordered[0][1], place[ordered[0][0]][1].score
    scored = [replace(place[item][1], score=best * total / top) for item, total in ordered]
    return distinct(scored, text)


def with_findings(hits: Sequence[Hit], found: Sequence[Hit], k: int) -> list[Hit]:
    """Return up to ``k`` hits of which the last fifth may come from the research pass.

    What research adds stands behind what the question itself found: it fills gaps and
    displaces nothing from the first places.
    """
    room = max(k - len(hits), k // _RESEARCH_SHARE)
    fresh = [hit for hit in merged(found) if all(h.chunk.id != hit.chunk.id for h in hits)]
    added = fresh[:room]
    kept = list(hits[: k - len(added)])
    least = kept[-1].score if kept else 1.0
    return kept + [replace(hit, score=min(hit.score, least)) for hit in added]


async def _whole(run: Run, found: HybridResult, k: int) -> list[Hit]:
    wide = await expand_stage(run, found, found.hits)
    return await rerank_stage(run, found.question, wide, max(PART_K, k))


async def _parts(run: Run, texts: Sequence[str]) -> list[list[Hit]]:
    """Return one ranking for each sub-question, searched side by side, in their order."""
    made: dict[int, list[Hit]] = {}
    started = time.perf_counter()

    async def one(place: int, text: str) -> None:
        began = time.perf_counter()
        try:
            found = await run.in_thread(lambda: run.search(run.question(text), PART_K))
        except MissingRecordingError:
            raise
        except Exception as error:  # the question as a whole stands without its parts
            run.fall_back("part-skip", f"{type(error).__name__}: {error}")
            made[place] = []
            return
        run.tell(found, began)
        marked = [replace(hit, sub_query=text) for hit in found.hits]
        made[place] = await rerank_stage(run, found.question, marked, PART_K)

    async with anyio.create_task_group() as group:
        for place, text in enumerate(texts):
            group.start_soon(one, place, text)
    if texts:
        run.took("sub_queries", started)
    return [made[place] for place in sorted(made)]
