"""The second try of a question that the documents have no answer to: is it about fingerpost?"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final, NamedTuple

from fingerpost.errors import FingerpostError, MissingRecordingError, UsageError
from fingerpost.generate import should_abstain
from fingerpost.knowledge import is_about, is_meant, without_name
from fingerpost.pipeline.answer import why_nothing, write
from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.running import Run
from fingerpost.stores.base import Store
from fingerpost.text.analyse import analyse
from fingerpost.types.answer import AbstentionReason, Answer
from fingerpost.types.decision import ClassificationResult, Strategy, Tier
from fingerpost.types.evidence import Evidence

_LOG = logging.getLogger("fingerpost.pipeline")

_SILENT: Final = frozenset(
    {
        AbstentionReason.NO_DOCUMENT_INDEXED,
        AbstentionReason.NO_DOCUMENT_MATCHES,
        AbstentionReason.EVIDENCE_TOO_WEAK,
    }
)
"""Why the documents have no answer, other than that they were not to be asked."""
_KEPT: Final = 3
"""Most entries that one question is answered from; each is an answer of its own."""
_LOOKED_AT: Final = 10
_NEAR: Final = 0.35
"""Least cosine to the question of the nearest entry."""
_OWN: Final = "fingerpost"
_PROPER: Final = re.compile(r"(?<=[\w,;:)\"'] )[A-Z]\w+")
"""A word with a capital that opens no sentence: the name of something."""


class Answered(NamedTuple):
    """An answer and what it was made from."""

    answer: Answer
    evidence: Evidence


async def answered(
    run: Run, classification: ClassificationResult, evidence: Evidence, *, live: bool
) -> AsyncGenerator[str | Answered]:
    """Yield the pieces of the answer as they come, when ``live``, then the answer itself.

    It is made from the documents. Only when they have no answer, and the question is about
    fingerpost itself, it is made from the platform knowledge, and from nothing else.

    Raises:
        LaneError: As of `write`.
    """
    found: Answered | None = None
    told = not live
    async with aclosing(write(run, classification, evidence, live=live)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Answer):
                found = Answered(piece, evidence)
            else:
                told = told or bool(piece)
                yield piece
    if found is None:
        raise UsageError("the generator ended without an answer")
    silent = found.answer.abstention in _SILENT
    own = await _evidence(run, classification) if silent else None
    if own is not None:
        async with aclosing(write(run, classification, own, live=live, is_second=True)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, Answer):
                    told = told or bool(piece)
                    yield piece
                elif piece.abstention is None:
                    _tell(run)
                    found = Answered(piece, own)
    if not told:
        for line in found.answer.text.splitlines(keepends=True):
            yield line
    yield found


async def with_platform(
    run: Run, classification: ClassificationResult, evidence: Evidence
) -> Evidence:
    """Return the evidence, with that of the platform behind it where `answered` would use it."""
    silent = why_nothing(run, evidence) or should_abstain(run.text, evidence)
    own = await _evidence(run, classification) if silent in _SILENT else None
    if own is None:
        return evidence
    _tell(run)
    return replace(
        evidence,
        hits=(*evidence.hits, *own.hits),
        candidates=(*evidence.candidates, *own.candidates),
        fallbacks=tuple(dict.fromkeys((*evidence.fallbacks, "platform-knowledge"))),
    )


def _tell(run: Run) -> None:
    run.fall_back("platform-knowledge", "the documents have no answer, and fingerpost's own do")


async def _evidence(run: Run, classification: ClassificationResult) -> Evidence | None:
    """Return the entries that can answer the question, ``None`` when it is none of theirs."""
    platform = run.parts.platform
    if platform is None or run.query.filters or classification.tier is Tier.TRIVIAL:
        return None
    if run.remaining_s() <= 0 or not is_about(run.text, platform.knowledge):
        return None
    began, bare = run.parts.clock(), without_name(run.text)
    try:
        found = await _searched(
            run, bare, await run.in_thread(lambda: platform.store(run.embedder))
        )
    except MissingRecordingError:
        raise
    except FingerpostError as error:
        _LOG.warning("platform knowledge could not be searched: %s", error)
        return None
    finally:
        run.timed("retrieve", began)
    if not _fits(bare, found):
        return None
    if await run.in_thread(lambda: _is_theirs(run, found)):
        return None
    return replace(found, tiers_used=(int(classification.tier),), asked_as=bare)


def _fits(question: str, evidence: Evidence) -> bool:
    """Return whether the entries can answer the question and, with vectors, one is near it."""
    near = [hit.vector_score for hit in evidence.hits if hit.vector_score is not None]
    if not evidence.hits or (near and max(near) < _NEAR):
        return False
    return should_abstain(question, evidence) is None


def _is_theirs(run: Run, evidence: Evidence) -> bool:
    """Return whether the question names what the documents know and the entries do not.

    "Which embedding_model does Heron use?" is about Heron, whatever setting of ours it writes.
    Who writes our own name asks about us, whatever else is named.
    """
    if _OWN in run.text.casefold():
        return False
    proper = {token for word in _PROPER.findall(run.text) for token in analyse(word)[:1]}
    said = (f"{' '.join(hit.chunk.heading_path)} {hit.chunk.text}" for hit in evidence.hits)
    unknown = proper.difference(*map(analyse, said))
    return bool(unknown) and any(run.reader.document_frequency(sorted(unknown)).values())


async def _searched(run: Run, question: str, store: Store) -> Evidence:
    request = RetrieveRequest(
        text=question,
        tier=Tier.LOOKUP,
        strategy=Strategy.SIMPLE,
        top_k=_LOOKED_AT,
        query_id=run.query.query_id,
        explain=run.query.explain,
    )
    with store.reader() as reader:
        model, identity = run.embedder, reader.info.identity
        own = model is not None and identity is not None and identity.has_vectors_of(model)
        tools = RetrieveTools(
            embedder=model if own else None,
            graph_enabled=False,
            deep_research_enabled=False,
            remaining_s=run.remaining_s,
            limiter=run.limiter,
        )
        found = await retrieve(reader, request, tools)
    hits = sorted(found.hits, key=lambda hit: not is_meant(hit.document.path, question))
    return replace(found, hits=tuple(hits[: min(run.query.top_k or _KEPT, _KEPT)]))
