"""Each claim of an answer held against its sources."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from anyio import to_thread

from fingerpost.errors import LaneError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.answer import ClaimVerdict, Verdict, VerifiedResponse
from fingerpost.types.document import Span
from fingerpost.verify.base import EntailmentHook, SourceText
from fingerpost.verify.claims import Claim, claims_of, extract_claims, listed_claim
from fingerpost.verify.evidence import Reading, SourceSentences, keys
from fingerpost.verify.features import Evidence, embed_candidates, measure
from fingerpost.verify.hooks import (
    ClaimHook,
    entailment,
    entailment_sync,
    hooked_claims,
    hooked_claims_sync,
)
from fingerpost.verify.judge import QUOTED, Judgement, JudgeWeights, entailed, judge, judge_weights
from fingerpost.verify.quote import find_quote
from fingerpost.verify.shown import Shown
from fingerpost.verify.unseen import seen, without_unseen

_LOG = logging.getLogger("fingerpost.verify")

_RANK = {
    Verdict.SUPPORTED: 3,
    Verdict.CONTRADICTED: 2,
    Verdict.WEAK: 1,
    Verdict.UNVERIFIABLE: 0,
    Verdict.NOT_CHECKED: -1,
}
_SURE = 0.93
# A source whose best sentence shares less than this part of what the best one shares is not read.
_PROMISING = 0.6
_MOST_SOURCES = 3


class OnUnsupported(StrEnum):
    """What happens to a claim that its sources do not support."""

    FLAG = "flag"
    DROP = "drop"
    REPAIR = "repair"


@dataclass(slots=True)
class _Source:
    """A source as it is seen, with its sentences, cut when first asked for."""

    given: SourceText
    text: str
    cut: bool
    page: Shown | None = None
    _sentences: SourceSentences | None = None

    @property
    def sentences(self) -> SourceSentences:
        if self._sentences is None:
            self._sentences = SourceSentences(self.text)
        return self._sentences


@dataclass(slots=True)
class _Held:
    """A claim held against one source."""

    source: _Source
    judgement: Judgement
    evidence: Evidence | None = None
    span: Span | None = None


@dataclass(slots=True)
class _Case:
    """A claim and all that it was held against."""

    claim: Claim
    reading: Reading
    held: list[_Held] = field(default_factory=list)
    checked: bool = True


class CitationVerifier:
    """Checks claims against the best sentences of their sources.

    Example:
        >>> found = CitationVerifier().verify_sync(
        ...     "Helm uses 3 modes [1].", ["Helm uses four modes."]
        ... )
        >>> found.claims[0].verdict.value
        'contradicted'
    """

    def __init__(
        self,
        *,
        embedder: EmbeddingModel | None = None,
        nli: EntailmentHook | None = None,
        supported_at: float | None = None,
        unverifiable_below: float | None = None,
        on_unsupported: OnUnsupported = OnUnsupported.FLAG,
        extract_claims: ClaimHook | None = None,
        max_embedded_sentences: int = 24,
        max_source_chars: int = 2_000_000,
        time_limit_s: float | None = None,
        hook_time_limit_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up; nothing is loaded before the first call.

        Args:
            embedder: Judges the claims that words leave undecided.
            nli: Entailment hook; has the last word on claims that are no verbatim quotes.
                Hooks may be asynchronous; a plain one is called in a thread of its own.
            supported_at: Least probability of support, 0 to 1, of a claim that is
                ``supported``; ``None`` takes the fitted 0.5. Verbatim quotes are above any,
                and an entailment hook is not held against it.
            unverifiable_below: A claim that is neither supported nor contradicted is ``weak``
                from this probability on, 0 to ``supported_at``; ``None`` takes the fitted 0.3,
                or ``supported_at`` where that is less.
            on_unsupported: Kept for `policy.apply_policy`; verdicts do not depend on it.
            extract_claims: Hook that cuts an answer into claims in place of ours.
            max_embedded_sentences: Most texts embedded in one call of `verify`.
            max_source_chars: A source is read up to here; a claim that what was read does not
                support is then ``not_checked``.
            time_limit_s: Claims whose turn comes later than this are ``not_checked``.
            hook_time_limit_s: Seconds that one call of a hook may take, > 0.
            clock: Monotonic seconds.

        Raises:
            ValueError: A threshold is outside its range.
        """
        self._weights = judge_weights().at(supported_at, unverifiable_below)
        self.on_unsupported = OnUnsupported(on_unsupported)
        self._embedder = embedder
        self._nli = nli
        self._extract = extract_claims
        self._max_embedded = max_embedded_sentences
        self._max_chars = max_source_chars
        self._time_limit_s = time_limit_s
        self._hook_time_limit_s = hook_time_limit_s
        self._clock = clock

    async def verify(
        self, answer_or_claims: str | Sequence[str], sources: Sequence[str | SourceText]
    ) -> VerifiedResponse:
        """Return what the sources say about each claim, in reading order.

        A string is an answer whose claims are extracted; a sequence is taken as the claims.
        Plain strings among the sources are numbered by their place, from 1.

        Raises:
            VerificationError: A hook failed, took too long, or gave something else than it
                should.
        """
        told: list[str] | None = None
        if self._extract is not None and isinstance(answer_or_claims, str):
            told = await hooked_claims(self._extract, self._hook_time_limit_s, answer_or_claims)
        cases = await to_thread.run_sync(self._hold, answer_or_claims, told, tuple(sources))
        for case, held, nli, premise in self._premises(cases):
            said = await entailment(nli, self._hook_time_limit_s, premise, case.reading.text)
            held.judgement = entailed(held.judgement, held.evidence, said)
        return self._response(cases)

    def verify_sync(
        self, answer_or_claims: str | Sequence[str], sources: Sequence[str | SourceText]
    ) -> VerifiedResponse:
        """Do what `verify` does, blocking; hooks must be plain functions.

        Raises:
            VerificationError: A hook failed, took too long, gave something else than it
                should, or is a coroutine function.
        """
        told: list[str] | None = None
        if self._extract is not None and isinstance(answer_or_claims, str):
            told = hooked_claims_sync(self._extract, self._hook_time_limit_s, answer_or_claims)
        cases = self._hold(answer_or_claims, told, tuple(sources))
        for case, held, nli, premise in self._premises(cases):
            said = entailment_sync(nli, self._hook_time_limit_s, premise, case.reading.text)
            held.judgement = entailed(held.judgement, held.evidence, said)
        return self._response(cases)

    def _sources(self, sources: Iterable[str | SourceText]) -> list[_Source]:
        found = []
        for number, given in enumerate(sources, start=1):
            source = SourceText(given, number) if isinstance(given, str) else given
            cut = len(source.text) > self._max_chars
            read = source.text[: self._max_chars] if cut else source.text
            page = seen(read)
            found.append(_Source(source, read if page is None else page.text, cut, page))
        return found

    def _hold(
        self,
        answer_or_claims: str | Sequence[str],
        told: list[str] | None,
        given: tuple[str | SourceText, ...],
    ) -> list[_Case]:
        """Hold each claim, as a hook told them, against the sources: by words, then embedded."""
        sources = self._sources(given)
        started = self._clock()
        cases = []
        for claim in _claims(answer_or_claims, told):
            case = _Case(claim, Reading(without_unseen(claim.text)))
            late = self._time_limit_s is not None and self._clock() - started > self._time_limit_s
            if late:
                case.checked = False
            else:
                _hold_words(case, sources, self._weights)
            cases.append(case)
        self._embed(cases)
        return cases

    def _embed(self, cases: list[_Case]) -> None:
        """Judge undecided claims again with the embeddings of their best source's sentences.

        A model that fails leaves the judgement by words, as ``method`` then says.
        """
        if self._embedder is None:
            return
        left = self._max_embedded
        for case in cases:
            held = _undecided(case)
            if held is None or held.evidence is None:
                continue
            try:
                taken = embed_candidates(
                    held.evidence, case.reading.text, self._embedder, most=left
                )
            except LaneError as error:
                _LOG.warning("claims are checked by words alone: %s", error)
                return
            left -= taken
            if taken:
                held.judgement = judge(held.evidence, self._weights)

    def _premises(self, cases: list[_Case]) -> Iterator[tuple[_Case, _Held, EntailmentHook, str]]:
        """Yield what the entailment hook is to be asked, with the hook; nothing without one."""
        if self._nli is None:
            return
        for case in cases:
            for held in case.held:
                if held.evidence is not None and held.evidence.window is not None:
                    window = held.evidence.window
                    yield case, held, self._nli, held.source.text[window.start : window.end]

    def _response(self, cases: list[_Case]) -> VerifiedResponse:
        uses_markers = any(case.claim.markers for case in cases)
        found = tuple(_verdict(case, uses_markers=uses_markers) for case in cases)
        n_supported = sum(one.verdict is Verdict.SUPPORTED for one in found)
        method = "lexical"
        if any(
            held.evidence and "cosine" in held.evidence.values for c in cases for held in c.held
        ):
            method += "+embedding"
        if self._nli is not None:
            method += "+nli"
        return VerifiedResponse(
            claims=found,
            overall_grounded=all(one.verdict is not Verdict.CONTRADICTED for one in found),
            supported_ratio=n_supported / len(found) if found else 1.0,
            method=method,
        )


def _claims(answer_or_claims: str | Sequence[str], told: list[str] | None) -> list[Claim]:
    if not isinstance(answer_or_claims, str):
        return [listed_claim(text) for text in answer_or_claims]
    if told is not None:
        return claims_of(answer_or_claims, told)
    return extract_claims(answer_or_claims)


def _hold_words(case: _Case, sources: list[_Source], weights: JudgeWeights) -> None:
    """Look for a verbatim quote, in cited sources first; else measure every source."""
    cited = [source for source in sources if source.given.index in case.claim.markers]
    rest = [source for source in sources if source.given.index not in case.claim.markers]
    for source in (*cited, *rest):
        span = find_quote(case.reading.text, source.text)
        if span is not None:
            case.held.append(_Held(source, QUOTED, span=span))
            return
    for source in _promising(case, sources, cited):
        evidence = measure(case.reading, source.sentences)
        case.held.append(_Held(source, judge(evidence, weights), evidence, evidence.focus))


def _promising(case: _Case, sources: list[_Source], cited: list[_Source]) -> list[_Source]:
    """Return the cited sources and those others whose best sentence shares most with the claim.

    Which ones does not depend on their order, nor on sources that share less.
    """
    wanted = keys(case.reading.words)
    shares = [source.sentences.share(wanted) for source in sources]
    least = _PROMISING * max(shares, default=0.0)
    ranked = sorted(
        range(len(sources)), key=lambda at: (-shares[at], sources[at].text, sources[at].given.index)
    )
    chosen = {at for at in ranked[:_MOST_SOURCES] if shares[at] >= least}
    return [source for at, source in enumerate(sources) if at in chosen or source in cited]


def _strength(held: _Held) -> tuple[int, float, str]:
    """Order by verdict, then probability; the text breaks ties, so that order never counts."""
    judgement = held.judgement
    sure = (
        judgement.p_contradicted
        if judgement.verdict is Verdict.CONTRADICTED
        else judgement.p_supported
    )
    return _RANK[judgement.verdict], sure, held.source.text


def _undecided(case: _Case) -> _Held | None:
    """Return the best source of a claim that words alone do not settle."""
    if not case.held:
        return None
    best = max(case.held, key=_strength)
    if best.evidence is None or best.evidence.focus is None or best.judgement.p_supported >= _SURE:
        return None
    return best


def _verdict(case: _Case, *, uses_markers: bool) -> ClaimVerdict:
    claim = case.claim
    missing = uses_markers and not claim.markers
    if not case.checked or not case.held:
        verdict = Verdict.UNVERIFIABLE if case.checked else Verdict.NOT_CHECKED
        reasons = ("no source given",) if case.checked else ("time limit",)
        return ClaimVerdict(
            claim.text, claim.span, verdict, 1.0 if case.checked else 0.0,
            markers=claim.markers, missing_citation=missing, reasons=reasons,
        )  # fmt: skip
    cited = [held for held in case.held if held.source.given.index in claim.markers]
    best = max(case.held, key=_strength)
    if cited:
        own = max(cited, key=_strength)
        if own.judgement.verdict is best.judgement.verdict or _RANK[best.judgement.verdict] < 2:  # noqa: PLR2004
            best = own
    supported = best.judgement.verdict is Verdict.SUPPORTED
    unread = any(held.source.cut for held in case.held)
    if unread and not supported:
        return ClaimVerdict(
            claim.text, claim.span, Verdict.NOT_CHECKED, 0.0, markers=claim.markers,
            missing_citation=missing, reasons=("source longer than the limit",),
        )  # fmt: skip
    wrong = supported and bool(claim.markers) and best.source.given.index not in claim.markers
    return _with_place(case, best, wrong=wrong, missing=missing)


def _with_place(case: _Case, best: _Held, *, wrong: bool, missing: bool) -> ClaimVerdict:
    claim, source, span = case.claim, best.source.given, best.span
    if span is not None and best.source.page is not None:
        span = best.source.page.span(span.start, span.end)
    decides = span is not None and best.judgement.verdict is not Verdict.UNVERIFIABLE
    reasons = list(best.evidence.reasons if best.evidence else ("verbatim",))
    if wrong:
        reasons.append(f"supported by source {source.index}, not by the one cited")
    first = last = 0
    if span is not None and decides:
        first = source.line_start + source.text.count("\n", 0, span.start)
        last = first + source.text.count("\n", span.start, span.end)
    lines = f"{first}-{last}" if last > first else f"{first}"
    return ClaimVerdict(
        claim=claim.text,
        span=claim.span,
        verdict=best.judgement.verdict,
        confidence=best.judgement.confidence,
        source_index=source.index if decides else None,
        source_ref=f"{source.ref}:{lines}" if decides and source.ref else "",
        source_snippet=source.text[span.start : span.end] if span is not None and decides else "",
        source_span=span if decides else None,
        source_line=first if decides else None,
        markers=claim.markers,
        wrong_citation=wrong,
        missing_citation=missing,
        reasons=tuple(dict.fromkeys(reasons)),
    )
