"""The step that checks the claims of an answer."""

from __future__ import annotations

import logging

from fingerpost.errors import DeadlineExceededError
from fingerpost.observe import events
from fingerpost.running import Run
from fingerpost.types.answer import Answer, GenerationMode, VerifiedResponse
from fingerpost.types.document import readable_text
from fingerpost.types.evidence import Evidence
from fingerpost.verify import SourceText

_LOG = logging.getLogger("fingerpost.pipeline")


async def check(
    run: Run, answer: Answer, evidence: Evidence
) -> tuple[VerifiedResponse | None, str]:
    """Return the verdicts, ``None`` without any, and the status.

    An answer that claims nothing of the documents (an abstention, small talk without a model)
    has no claims and is grounded.
    """
    if run.parts.make_verifier is None:
        return None, "not_requested"
    verifier = run.parts.make_verifier(run.embedder)
    claims_nothing = answer.mode in {GenerationMode.ABSTAINED, GenerationMode.SMALL_TALK}
    sources = [] if claims_nothing else source_texts(answer, evidence)
    run.hold_deadline("verify")
    began = run.parts.clock()
    try:
        if claims_nothing:
            found = VerifiedResponse()
        elif run.parts.config.nli or run.parts.config.extract_claims:
            found = await verifier.verify(answer.text, sources)
        else:
            found = await run.in_thread(lambda: verifier.verify_sync(answer.text, sources))
    except DeadlineExceededError:
        raise
    except Exception as error:
        _LOG.exception("verification failed")
        run.emit(events.VerifyComplete, status="unavailable", error=type(error).__name__)
        return None, "unavailable"
    run.emit(
        events.VerifyComplete,
        status="checked",
        n_claims=found.total_claims,
        n_supported=found.supported_count,
        n_contradicted=found.contradicted_count,
        duration_ms=run.timed("verify", began),
    )
    return found, "checked"


def source_texts(answer: Answer, evidence: Evidence) -> list[SourceText]:
    """Return the whole text of each source that the answer may cite, by marker number."""
    by_id = {hit.chunk.id: hit for hit in (*evidence.candidates, *evidence.hits)}
    texts = []
    for index, chunk_id in enumerate(answer.cited_chunk_ids, start=1):
        hit = by_id[chunk_id]
        words = readable_text(hit.chunk, hit.document.format)
        # What is read of a notebook or page of HTML holds its prefix already.
        repeated = hit.chunk.prefix and words == hit.chunk.text
        prefix = hit.chunk.prefix + "\n" if repeated else ""
        texts.append(
            SourceText(
                text=prefix + words,
                index=index,
                ref=hit.document.path,
                line_start=max(1, hit.chunk.line_start - prefix.count("\n")),
            )
        )
    return texts
