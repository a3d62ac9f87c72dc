"""The step that checks the claims of an answer, and what follows from their verdicts."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import NamedTuple

from fingerpost.errors import DeadlineExceededError, LaneError, MissingRecordingError
from fingerpost.generate import resolve_markers
from fingerpost.generate.safe import SafeStream
from fingerpost.observe import events
from fingerpost.pipeline.answer import abstained
from fingerpost.running import Run
from fingerpost.types.answer import (
    AbstentionReason,
    Answer,
    ClaimVerdict,
    GenerationMode,
    SourceCitation,
    VerifiedResponse,
)
from fingerpost.types.document import readable_text, whole_text
from fingerpost.types.evidence import Evidence, Hit
from fingerpost.verify import (
    WORDS_ALONE,
    ChatClaimJudge,
    ClaimJudge,
    DecisionClaimJudge,
    SourceText,
    apply_verdict_policy,
    is_grounded,
    replaced,
    rewrite_claims,
    unsupported,
)

_LOG = logging.getLogger("fingerpost.pipeline")


class Checked(NamedTuple):
    """An answer after its check.

    Attributes:
        answer: As it may be given.
        sources: As it cites them.
        grounding: Of this answer; ``None`` without any.
        status: ``checked``, ``not_requested`` or ``unavailable``.
    """

    answer: Answer
    sources: tuple[SourceCitation, ...]
    grounding: VerifiedResponse | None
    status: str


def may_change(run: Run) -> bool:
    """Return whether text may leave the answer again, so that none is told before the end."""
    changes = run.parts.config.on_unsupported != "flag" and run.parts.make_verifier is not None
    return changes or _must_be_grounded(run)


def _must_be_grounded(run: Run) -> bool:
    asked = run.query.require_grounded
    return run.parts.config.require_grounded if asked is None else asked


async def settle(
    run: Run, answer: Answer, evidence: Evidence, sources: tuple[SourceCitation, ...]
) -> Checked:
    """Return the answer checked and, where the settings say so, changed.

    ``repair`` has a model write unsupported sentences anew, once; what is unsupported after that
    is dropped. Without a model, or with one that fails, all of it is dropped, and the fallback
    ``repair-skip`` is named. ``require_grounded`` turns an answer with a claim that is not
    supported, or that was not checked, into an abstention.
    """
    grounding, status = await check(run, answer, evidence)
    config = run.parts.config
    if grounding is not None and config.on_unsupported != "flag" and unsupported(grounding):
        if config.on_unsupported == "repair":
            answer, grounding = await _repaired(run, answer, evidence, grounding)
        nothing_left = abstained(run, AbstentionReason.EVIDENCE_TOO_WEAK).text
        answer, sources, grounding = apply_verdict_policy(
            answer, sources, grounding, nothing_left=nothing_left
        )
    if _must_be_grounded(run) and not is_grounded(grounding):
        answer = abstained(run, AbstentionReason.NOT_GROUNDED)
        sources = tuple(replace(source, cited=False) for source in sources)
    return Checked(answer, sources, grounding, status)


async def _repaired(
    run: Run, answer: Answer, evidence: Evidence, grounding: VerifiedResponse
) -> tuple[Answer, VerifiedResponse]:
    """Return the answer with unsupported sentences written anew, and the verdicts on it."""
    models = run.parts.models
    chat = run.metered(models.writer or models.writer_deep)
    claims = unsupported(grounding)
    if chat is None or answer.mode is not GenerationMode.MODEL:
        run.fall_back("repair-skip", "there is no model that writes")
        return answer, grounding
    sources = source_texts(answer, evidence)
    delimiter = run.parts.delimiter([answer.text, *(source.text for source in sources)])
    try:
        rewrites = await rewrite_claims(
            chat,
            answer.text,
            claims,
            sources,
            delimiter=delimiter,
            deadline=run.deadline,
            query_id=run.query.query_id,
        )
    except LaneError as error:
        run.fall_back("repair-skip", str(error))
        return answer, grounding
    known = "\n".join(source.text for source in sources)
    cleaned = {span: _cleaned(text, known, delimiter) for span, text in rewrites.items()}
    text, citations, removed = resolve_markers(
        replaced(answer.text, cleaned), len(answer.cited_chunk_ids)
    )
    written = replace(
        answer,
        text=text,
        citations=citations,
        removed_markers=answer.removed_markers + removed,
    )
    again, _ = await check(run, written, evidence)
    if again is None:
        run.fall_back("repair-skip", "what the model wrote could not be checked")
        return answer, grounding
    gone: list[ClaimVerdict] = [
        replace(claim, span=None) for claim in claims if claim.span and cleaned.get(claim.span)
    ]
    return written, replace(again, removed=tuple(gone))


def _cleaned(text: str, known: str, delimiter: str) -> str:
    safe = SafeStream(known, delimiter)
    return " ".join((safe.feed(text) + safe.close()).split())


async def check(
    run: Run, answer: Answer, evidence: Evidence
) -> tuple[VerifiedResponse | None, str]:
    """Return the verdicts, ``None`` without any, and the status.

    An answer that claims nothing of the documents (an abstention, small talk without a model)
    has no claims and is grounded. Claims for which the deadline leaves no time are not checked.
    """
    if run.parts.make_verifier is None:
        return None, "not_requested"
    judge = _judge(run)
    verifier = run.parts.make_verifier(run.embedder, judge)
    claims_nothing = answer.mode in {GenerationMode.ABSTAINED, GenerationMode.SMALL_TALK}
    sources = [] if claims_nothing else source_texts(answer, evidence)
    if run.is_late("verify"):
        run.emit(events.VerifyComplete, status="unavailable", error="DeadlineExceededError")
        return None, "unavailable"
    began = run.parts.clock()
    left = run.remaining_s()
    limit = None if left == math.inf else left
    try:
        if claims_nothing:
            found = VerifiedResponse()
        elif judge or run.parts.config.nli or run.parts.config.extract_claims:
            found = await verifier.verify(answer.text, sources, time_limit_s=limit)
        else:
            found = await run.in_thread(
                lambda: verifier.verify_sync(answer.text, sources, time_limit_s=limit)
            )
    except (DeadlineExceededError, MissingRecordingError):
        raise
    except Exception as error:
        _LOG.exception("verification failed")
        run.emit(events.VerifyComplete, status="unavailable", error=type(error).__name__)
        return None, "unavailable"
    for name in found.fallbacks:
        if name == WORDS_ALONE:
            run.fall_back("claims-by-words", "the embedding model failed or was late")
        else:
            run.fall_back("judge-skip", name)
    run.emit(
        events.VerifyComplete,
        status="checked",
        n_claims=found.total_claims,
        n_supported=found.supported_count,
        n_contradicted=found.contradicted_count,
        duration_ms=run.timed("verify", began),
    )
    return found, "checked"


def _judge(run: Run) -> ClaimJudge | None:
    """Return the model that judges claims, ``None`` for the local judge or the host's hook."""
    wanted = run.parts.config.claim_judge
    if wanted == "local":
        return None
    chat, decider = run.metered(run.parts.models.classifier), run.metered_decider()
    if wanted == "chat" and chat is not None:
        return ChatClaimJudge(chat)
    if wanted == "decision" and decider is not None:
        return DecisionClaimJudge(decider)
    run.fall_back("judge-skip", f"there is no {wanted} model")
    return None


def source_texts(answer: Answer, evidence: Evidence) -> list[SourceText]:
    """Return the whole text of each source that the answer may cite, by marker number."""
    by_id = {hit.chunk.id: hit for hit in (*evidence.candidates, *evidence.hits)}
    return [
        source_text(by_id[chunk_id], index)
        for index, chunk_id in enumerate(answer.cited_chunk_ids, start=1)
    ]


def source_text(hit: Hit, index: int) -> SourceText:
    """Return the whole text of a chunk as a source with this number."""
    markup = hit.document.format
    text = whole_text(hit.chunk, markup)
    before = text.removesuffix(readable_text(hit.chunk, markup))
    return SourceText(
        text=text,
        index=index,
        ref=hit.document.path,
        line_start=max(1, hit.chunk.line_start - before.count("\n")),
    )
