"""Hits that stand next to each other in a document, read as one passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fingerpost.retrieve.pack import further
from fingerpost.types.document import Chunk, readable_text
from fingerpost.types.evidence import Hit
from fingerpost.types.ids import chunk_id

MOST: Final = 3
"""Chunks that one passage takes: a source of more lines is no place any more."""


def joined_neighbours(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with those joined that follow each other within a section.

    Two chunks are one passage when the second begins where the first ends, under the heading of
    the first or one below it; up to three become one. A passage stands in the place of its best
    hit and has its ranks; its text is that of the document from the first chunk's start to the
    last one's end, so that offsets, lines and quotes hold as they do for a chunk.

    Args:
        hits: Best first, each chunk once.
    """
    passage_of: dict[str, Hit] = {}
    for run in _runs(hits):
        passage = _passage(run, min(run, key=hits.index)) if len(run) > 1 else run[0]
        passage_of.update(dict.fromkeys((hit.chunk.id for hit in run), passage))
    return list(
        {passage_of[hit.chunk.id].chunk.id: passage_of[hit.chunk.id] for hit in hits}.values()
    )


def filled(hits: Sequence[Hit], ranked: Sequence[Hit], k: int) -> list[Hit]:
    """Return the hits and the next ranked ones, best first, until they make ``k`` passages.

    Joining would leave fewer places than were asked for. Fewer than ``k`` are left only where
    the ranked hits end; the rule of `pack.spread` holds for what is added as well.

    Args:
        hits: At most ``k`` that are kept in any case, best first.
        ranked: Where more are taken from, best first, without copies of those that are kept.
        k: Passages, >= 0.
    """
    kept = list(hits)
    while (missing := k - len(joined_neighbours(kept))) > 0:
        more = further(kept, ranked, missing)
        if not more:
            break
        kept = sorted([*kept, *more], key=lambda hit: -hit.score)
    if missing == 0:
        return kept
    passages = joined_neighbours(kept)[:k]  # a hit may have cut one in two
    return [hit for hit in kept if any(holds(passage, hit) for passage in passages)]


def regrouped(hits: Sequence[Hit], passages: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return for some hits the passages that they became part of, each once, in their order."""
    found: dict[str, Hit] = {}
    for hit in hits:
        for passage in passages:
            if holds(passage, hit):
                found.setdefault(passage.chunk.id, passage)
    return tuple(found.values())


def holds(passage: Hit, hit: Hit) -> bool:
    """Return whether a hit's chunk is a passage or a part of it."""
    here, there = passage.chunk, hit.chunk
    if passage.n_chunks == 1 or here.document_id != there.document_id:
        return here.id == there.id
    return here.ordinal <= there.ordinal < passage.next_ordinal


def _runs(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the hits in groups that are one passage each, in the order of the documents."""
    runs: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda one: (one.chunk.document_id, one.chunk.ordinal)):
        if runs and len(runs[-1]) < MOST and _goes_on(runs[-1], hit):
            runs[-1].append(hit)
        else:
            runs.append([hit])
    return runs


def _goes_on(run: Sequence[Hit], hit: Hit) -> bool:
    first, last = run[0].chunk, run[-1]
    here = hit.chunk
    follows = here.document_id == first.document_id and here.ordinal == last.next_ordinal
    trail = first.heading_path
    below = here.heading_path[: len(trail)] == trail if trail else not here.heading_path
    # What is read of JSON and HTML repeats the head of a table or fence in every part.
    repeats = bool(here.prefix) and readable_text(here, hit.document.format) != here.text
    return follows and below and not repeats and last.chunk.span.end == here.span.start


def _passage(run: Sequence[Hit], best: Hit) -> Hit:
    first, last = run[0].chunk, run[-1].chunk
    text = "".join(hit.chunk.text for hit in run)
    chunk: Chunk = replace(
        first,
        id=chunk_id(first.document_id, first.heading_path, text),
        text=text,
        span=replace(first.span, end=last.span.end),
        line_end=last.line_end,
        n_tokens=sum(hit.chunk.n_tokens for hit in run),
        search_text="\n".join(filter(None, (hit.chunk.search_text for hit in run))),
    )
    lines = ", ".join(f"{hit.chunk.line_start}-{hit.chunk.line_end}" for hit in run)
    return replace(
        best,
        chunk=chunk,
        n_chunks=len(run),
        note="; ".join(filter(None, (best.note, f"joined from lines {lines}"))),
        copies=tuple(dict.fromkeys(path for hit in run for path in hit.copies)),
    )
