"""What a question came to, from what the stages returned."""

from __future__ import annotations

from fingerpost.pipeline.check import Checked
from fingerpost.prompts import load_prompt
from fingerpost.running import Run
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.evidence import Evidence
from fingerpost.types.result import QueryResult

_JOBS_WITH_A_PROMPT = frozenset({"rewrite", "hyde", "decompose", "research"})


def outcome(
    run: Run,
    classification: ClassificationResult,
    evidence: Evidence,
    checked: Checked,
    config_fingerprint: str,
) -> QueryResult:
    """Return the result of a question that is done."""
    answer = checked.answer
    total = (run.parts.clock() - run.started) * 1000
    run.timings["total"] = total
    usage = run.meter.usage
    if run.parts.models.failed_over(usage):
        run.noted(["lane-failover"])  # each has been told as an event of its own
    return QueryResult(
        answer=answer.text,
        classification=classification,
        sources=checked.sources,
        research_synthesis=evidence.synthesis or None,
        web_searched=evidence.web_searched,
        grounding=checked.grounding,
        grounding_status=checked.status,
        recommendations=classification.recommendations,
        tiers_used=evidence.tiers_used,
        fallbacks_used=tuple(run.fallbacks),
        duration_ms=total,
        generation_mode=answer.mode,
        abstention=answer.abstention,
        citations=answer.citations,
        removed_markers=answer.removed_markers,
        truncated=answer.truncated,
        left_out=answer.left_out,
        timings=run.timings,
        usage=usage,
        unpriced=run.meter.unchecked,
        trace_id=run.query.query_id,
        rewritten_query=None if run.text == run.query.text else run.text,
        translated_query=evidence.translation or None,
        retrieval_mode=_mode(run, evidence),
        vector_coverage=_coverage(run),
        candidates=evidence.candidates,
        sub_queries=evidence.sub_queries,
        uncovered=tuple(dict.fromkeys((*evidence.uncovered, *answer.uncovered))),
        answerability=answer.answerability,
        diagnostics=evidence.diagnostics,
        query=run.query,
        lexical_weight=evidence.lexical_weight,
        fingerprints=_fingerprints(run, config_fingerprint),
    )


def _fingerprints(run: Run, config_fingerprint: str) -> dict[str, str]:
    state = run.reader.info
    return {
        "index": state.fingerprint,
        "config": config_fingerprint,
        "generation": str(state.generation),
        **run.prompts,
        **{
            f"prompt:{job}": load_prompt(job).fingerprint
            for job in dict.fromkeys(usage.job for usage in run.meter.usage)
            if job in _JOBS_WITH_A_PROMPT
        },
    }


def _coverage(run: Run) -> float:
    state = run.reader.info
    return state.n_vectors / state.n_chunks if run.searcher and state.n_chunks else 0.0


def _mode(run: Run, evidence: Evidence) -> str:
    """Return how this question was searched; one that was not searched takes the index's mode."""
    state = run.reader.info
    can = run.searcher is not None and state.n_vectors > 0
    searched = evidence.vectors_searched or not evidence.candidates
    return "vector+keyword-fallback" if can and searched else "keyword-only"
