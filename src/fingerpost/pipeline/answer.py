"""The step that writes the answer: by a model, extractive, small talk or an abstention."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fingerpost.errors import (
    ContextTooLongError,
    LaneError,
    LaneExhaustedError,
    RequestTooLargeError,
)
from fingerpost.generate import (
    Asked,
    Limits,
    abstain,
    answer_request,
    extract_answer,
    small_talk,
    talk_request,
    with_continuations,
    write_answer,
)
from fingerpost.lanes.base import ChatModel
from fingerpost.observe import events
from fingerpost.pipeline.sources import places_to_search
from fingerpost.running import Run
from fingerpost.text.language import detect_language
from fingerpost.types.answer import AbstentionReason, Answer
from fingerpost.types.decision import ClassificationResult, Tier
from fingerpost.types.evidence import Evidence

_LOG = logging.getLogger("fingerpost.pipeline")

WRITING = 0.9
"""Share of the time left that a model may take to write; the rest is for checking."""


async def write(
    run: Run,
    classification: ClassificationResult,
    evidence: Evidence,
    *,
    live: bool,
    is_second: bool = False,
) -> AsyncGenerator[str | Answer]:
    """Yield the pieces that a model writes as they come, when ``live``, then the answer itself.

    The first piece is empty: it lets events be told before a model is waited for. When the
    deadline has passed, or passes before a model's first piece, the answer is extractive. Of an
    answer that no model wrote, or an abstention, there are no pieces. That it began is told
    unless it is the second try.

    Raises:
        LaneError: The model failed after a piece had been yielded; no other answer can follow.
    """
    began = run.parts.clock()
    chat = None if run.is_late("generate") else _writer(run, classification)
    trivial = classification.tier is Tier.TRIVIAL
    if not is_second:
        mode = "model" if chat else "small_talk" if trivial else "extractive"
        run.emit(events.GenerateStart, mode=mode)
    yield ""
    answer: Answer | None = None
    if chat is not None and (trivial or evidence.hits):
        async with aclosing(_by_model(run, chat, classification, evidence, live=live)) as story:
            async for item in story:
                if isinstance(item, Answer):
                    answer = item
                else:
                    yield item
    if answer is None:
        answer = await run.in_thread(lambda: _without_model(run, classification, evidence))
    run.prompted(answer.prompt)
    run.timed("generate", began)
    yield answer


def _writer(run: Run, classification: ClassificationResult) -> ChatModel | None:
    models = run.parts.models
    deep = classification.tier >= Tier.MULTI_SOURCE
    return run.metered((models.writer_deep or models.writer) if deep else models.writer)


async def _by_model(
    run: Run,
    chat: ChatModel,
    classification: ClassificationResult,
    evidence: Evidence,
    *,
    live: bool,
) -> AsyncGenerator[str | Answer]:
    """Yield what the model writes; nothing when it fails before its first piece.

    A request that is too long for the model is made once more with half of the documents. A
    model that can be shown no document, for want of room, is not asked about them.
    """
    for part in (1, 2):
        asked = _asked(run, classification, evidence, part)
        if not asked.packed.kept and classification.tier is not Tier.TRIVIAL:
            run.fall_back("extractive-fallback", "no document fits max_context_tokens")
            return
        n_pieces = 0
        try:
            async with aclosing(_written(run, chat, asked, live=live)) as story:
                async for item in story:
                    n_pieces += isinstance(item, str)
                    yield item
        except LaneError as error:
            if n_pieces:
                run.emit(events.GenerateError, error=type(error).__name__, n_pieces=n_pieces)
                raise
            if not run.is_late("generate") and part == 1 and _is_too_long(error):
                continue
            _LOG.warning("the model wrote no answer: %s", error.advice)
            run.fall_back("extractive-fallback", str(error))
        return


async def _written(
    run: Run, chat: ChatModel, asked: Asked, *, live: bool
) -> AsyncGenerator[str | Answer]:
    """Yield the pieces that are to be told, then the answer or abstention."""
    async with aclosing(write_answer(chat, asked, live=live)) as story:
        async for item in story:
            if item is None:
                yield abstained(run, AbstentionReason.EVIDENCE_TOO_WEAK)
            elif isinstance(item, Answer) or live:
                yield item


def _is_too_long(error: LaneError) -> bool:
    attempts = error.attempts if isinstance(error, LaneExhaustedError) else (error,)
    return any(isinstance(one, ContextTooLongError | RequestTooLargeError) for one in attempts)


def _asked(run: Run, classification: ClassificationResult, evidence: Evidence, part: int) -> Asked:
    """Return the request, with documents for ``1 / part`` of the room."""
    config = run.parts.config
    deep = classification.tier >= Tier.MULTI_SOURCE
    limits = Limits(
        max_context_tokens=config.max_context_tokens // part,
        max_answer_tokens=config.max_answer_tokens_deep if deep else config.max_answer_tokens,
        temperature=config.temperature,
    )
    if classification.tier is Tier.TRIVIAL:
        return talk_request(
            run.query.text,
            history=run.window,
            limits=limits,
            deadline=run.share(WRITING),
            query_id=run.query.query_id,
        )
    return answer_request(
        run.text,
        with_continuations(evidence),
        history=run.window,
        delimiter=run.parts.delimiter([run.text, *(hit.chunk.id for hit in evidence.hits)]),
        limits=limits,
        parts=evidence.parts,
        deadline=run.share(WRITING),
        query_id=run.query.query_id,
    )


def _without_model(run: Run, classification: ClassificationResult, evidence: Evidence) -> Answer:
    if classification.tier is Tier.TRIVIAL:
        return small_talk(run.query.text, detect_language(run.query.text))
    reason = why_nothing(run, evidence)
    if reason is not None:
        return abstained(run, reason)
    answer = extract_answer(
        evidence.translation or evidence.asked_as or run.text,  # in the words of the documents
        evidence,
        tier=classification.tier,
        max_tokens=run.parts.config.max_context_tokens,
    )
    return answer if answer.abstention is None else abstained(run, answer.abstention)


def abstained(run: Run, reason: AbstentionReason) -> Answer:
    """Return an abstention in the question's language."""
    return abstain(reason, run.text, detect_language(run.query.text))


def why_nothing(run: Run, evidence: Evidence) -> AbstentionReason | None:
    """Return why retrieval found nothing, ``None`` when it found something."""
    if evidence.hits:
        return None
    if run.routing is not None and places_to_search(run) == (None, ()):
        if run.routing.names:
            return AbstentionReason.FILTER_EXCLUDES_ALL
        undecided = run.routing.fallback is not None
        return AbstentionReason.NO_SOURCE_CHOSEN if undecided else AbstentionReason.NO_SOURCE_FITS
    if run.reader.info.n_chunks == 0 and run.parts.routed is None:
        return AbstentionReason.NO_DOCUMENT_INDEXED
    selection = run.reader.select(run.query.filters)
    if selection is not None and selection.n_documents == 0:
        return AbstentionReason.FILTER_EXCLUDES_ALL
    return AbstentionReason.NO_DOCUMENT_MATCHES
