"""From a claim held against sources to what is told of it."""

from __future__ import annotations

from collections.abc import Collection

from fingerpost.types.answer import CitedSource, ClaimVerdict, Verdict
from fingerpost.verify.explain import explain
from fingerpost.verify.holding import RANK, Case, Held
from fingerpost.verify.judge import Judgement


def verdict_of(case: Case, *, uses_markers: bool, known: Collection[int]) -> ClaimVerdict:
    """Return what was found about one claim.

    A claim is held against the sources that it cites first: another source decides only when it
    says more clearly what is so. Wrong citation, missing citation and lack of support are told
    apart, and one claim may have the first and the last.

    Args:
        case: The claim and what it was held against.
        uses_markers: Some claim of the answer carries a marker.
        known: Numbers of the sources.
    """
    claim = case.claim
    missing = uses_markers and not claim.markers
    dangling = [number for number in claim.markers if number not in known]
    reasons = tuple(f"[{number}] names no source" for number in dangling)
    if case.unchecked:
        reason = case.unchecked
        return _unplaced(case, Verdict.NOT_CHECKED, missing, bool(dangling), reason, reasons)
    if not case.held:
        return _unplaced(case, Verdict.UNVERIFIABLE, missing, bool(dangling), "no source", reasons)
    best = _deciding(case)
    supported = best.judgement.verdict is Verdict.SUPPORTED or case.together is not None
    if not supported and any(held.source.cut for held in case.held):
        reason = "source longer than the limit"
        return _unplaced(case, Verdict.NOT_CHECKED, missing, bool(dangling), reason, reasons)
    elsewhere = supported and best.source.given.index not in claim.markers
    if elsewhere and claim.markers:
        where = best.source.given.ref or f"source {best.source.given.index}"
        reasons += (f"supported by {where}, not by the one cited",)
    return _placed(
        case,
        best,
        wrong=bool(dangling) or (elsewhere and bool(claim.markers)),
        missing=missing,
        reasons=reasons,
    )


def _deciding(case: Case) -> Held:
    """Return the source that decides: a cited one unless another is clearly stronger."""
    best = max(case.held, key=lambda held: held.strength)
    own = max(case.cited, key=lambda held: held.strength, default=None)
    if own is None:
        return best
    if case.together is not None or own.judgement.verdict is best.judgement.verdict:
        return own
    return own if RANK[best.judgement.verdict] < RANK[Verdict.CONTRADICTED] else best


def _cited(case: Case) -> tuple[CitedSource, ...]:
    said: dict[int, Verdict] = {}
    for held in case.cited:  # several sources may bear one number
        verdict = said.get(held.source.given.index, held.judgement.verdict)
        strongest = max(verdict, held.judgement.verdict, key=RANK.__getitem__)
        said[held.source.given.index] = strongest
    return tuple(CitedSource(number, said.get(number)) for number in case.claim.markers)


def _unplaced(
    case: Case,
    verdict: Verdict,
    missing: bool,  # noqa: FBT001
    dangling: bool,  # noqa: FBT001
    why: str,
    reasons: tuple[str, ...],
) -> ClaimVerdict:
    checked = verdict is not Verdict.NOT_CHECKED
    claim = case.claim
    return ClaimVerdict(
        claim.text, claim.span, verdict, float(checked), markers=claim.markers,
        missing_citation=missing, wrong_citation=dangling, reasons=(why, *reasons),
        cited=_cited(case) if checked else (),
    )  # fmt: skip


def _placed(
    case: Case, best: Held, *, wrong: bool, missing: bool, reasons: tuple[str, ...]
) -> ClaimVerdict:
    claim, source, span = case.claim, best.source.given, best.span
    said: Judgement = case.together or best.judgement
    if span is not None and best.source.unseen is not None:
        span = best.source.unseen.span(span.start, span.end)
    if said.verdict is Verdict.UNVERIFIABLE:
        span = None
    why = best.evidence.reasons if best.evidence else ("verbatim",)
    if case.together is not None:
        n_cited = len({held.source.given.index for held in case.cited})
        several = f"{n_cited} cited sources" if n_cited > 1 else "passages of the cited source"
        why = (f"by {several} together",)
    first = last = 0
    if span is not None:
        first = source.line_start + source.text.count("\n", 0, span.start)
        last = first + source.text.count("\n", span.start, span.end)
    lines = f"{first}-{last}" if last > first else f"{first}"
    return ClaimVerdict(
        claim=claim.text,
        span=claim.span,
        verdict=said.verdict,
        confidence=said.confidence,
        source_index=None if span is None else source.index,
        source_ref=f"{source.ref}:{lines}" if span is not None and source.ref else "",
        source_snippet="" if span is None else source.text[span.start : span.end],
        source_span=span,
        source_line=None if span is None else first,
        markers=claim.markers,
        wrong_citation=wrong,
        missing_citation=missing,
        reasons=tuple(dict.fromkeys((*why, *reasons))),
        cited=_cited(case),
        features=explain(best.evidence) if case.together is None else (),
    )
