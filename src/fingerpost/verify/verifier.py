"""Each claim of an answer held against its sources."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

import anyio
from anyio import to_thread

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.answer import VerifiedResponse
from fingerpost.verify.base import ClaimJudge, ClaimPair, EntailmentHook, SourceText
from fingerpost.verify.citations import citation_scores
from fingerpost.verify.claims import Claim, claims_of, extract_claims, listed_claim
from fingerpost.verify.finding import verdict_of
from fingerpost.verify.holding import Case, embed_cases, hold, hold_together, read_sources
from fingerpost.verify.hooks import ClaimHook, hooked_claims
from fingerpost.verify.judge import judge_weights
from fingerpost.verify.judges import HookClaimJudge, opinions

WORDS_ALONE = "claims-by-words"
"""Fallback: the embedding model failed or was late, and words alone judged some claims."""


class OnUnsupported(StrEnum):
    """What happens to a claim that its sources do not support."""

    FLAG = "flag"
    DROP = "drop"
    REPAIR = "repair"


@dataclass(slots=True)
class _Work:
    """One verification in flight."""

    ends: float
    clock: Callable[[], float]
    cases: list[Case] = field(default_factory=list)
    known: frozenset[int] = frozenset()
    method: str = "lexical"
    fallbacks: list[str] = field(default_factory=list)

    @property
    def remaining_s(self) -> float:
        return self.ends - self.clock() if self.ends < math.inf else math.inf

    def is_late(self) -> bool:
        return self.remaining_s < 0


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
        judge: ClaimJudge | None = None,
        nli: EntailmentHook | None = None,
        supported_at: float | None = None,
        unverifiable_below: float | None = None,
        on_unsupported: OnUnsupported = OnUnsupported.FLAG,
        extract_claims: ClaimHook | None = None,
        max_embedded_sentences: int = 96,
        max_source_chars: int = 2_000_000,
        time_limit_s: float | None = None,
        hook_time_limit_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up; nothing is loaded before the first call.

        Args:
            embedder: Judges the claims that words leave undecided.
            judge: Has the last word on claims that are no verbatim quotes. One that fails, or
                for which no time is left, leaves the verdicts of the local judge, and
                ``fallbacks`` names it.
            nli: An entailment hook as the judge. Hooks may be asynchronous; a plain one is called
                in a thread of its own.
            supported_at: Least probability of support, 0 to 1, of a claim that is
                ``supported``; ``None`` takes the fitted 0.5. Verbatim quotes are above any,
                and a judge is not held against it.
            unverifiable_below: A claim that is neither supported nor contradicted is ``weak``
                from this probability on, 0 to ``supported_at``; ``None`` takes the fitted 0.3,
                or ``supported_at`` where that is less.
            on_unsupported: What `policy.apply_policy` is to do; verdicts do not depend on it.
            extract_claims: Hook that cuts an answer into claims in place of ours.
            max_embedded_sentences: Most different texts embedded in one call of `verify`; claims
                for which they leave no room are judged by words.
            max_source_chars: A source is read up to here; a claim that what was read does not
                support is then ``not_checked``.
            time_limit_s: Seconds that a call may take; claims whose turn comes later are
                ``not_checked``. ``None`` sets no limit.
            hook_time_limit_s: Seconds that one call of a hook may take, > 0.
            clock: Monotonic seconds.

        Raises:
            ValueError: A threshold is outside its range, or both a judge and a hook are given.
        """
        self._weights = judge_weights().at(supported_at, unverifiable_below)
        self.on_unsupported = OnUnsupported(on_unsupported)
        self._embedder = embedder
        if nli is not None:
            if judge is not None:
                raise ValueError("give either judge or nli, not both")
            judge = HookClaimJudge(nli, time_limit_s=hook_time_limit_s)
        self._judge = judge
        self._extract = extract_claims
        self._max_embedded = max_embedded_sentences
        self._max_chars = max_source_chars
        self._time_limit_s = time_limit_s
        self._hook_time_limit_s = hook_time_limit_s
        self._clock = clock

    async def verify(
        self,
        answer_or_claims: str | Sequence[str | Claim],
        sources: Sequence[str | SourceText],
        *,
        time_limit_s: float | None = None,
    ) -> VerifiedResponse:
        """Return what the sources say about each claim, in reading order.

        A string is an answer whose claims are extracted; a sequence is taken as the claims.
        Plain strings among the sources are numbered by their place, from 1.

        Args:
            answer_or_claims: The text, or its claims, which keep the place and the markers of a
                `Claim`.
            sources: What it should rest on.
            time_limit_s: Seconds that this call may take; ``None`` takes the verifier's own.

        Raises:
            VerificationError: The claim extractor failed, took too long, or gave something else
                than it should.
        """
        work = self._begin(time_limit_s)
        told: list[str] | None = None
        if self._extract is not None and isinstance(answer_or_claims, str):
            seconds = max(0.0, min(self._hook_time_limit_s, work.remaining_s))
            told = await hooked_claims(self._extract, seconds, answer_or_claims)
        await to_thread.run_sync(self._hold, work, answer_or_claims, told, tuple(sources))
        await self._judged(work)
        return _response(work)

    def verify_sync(
        self,
        answer_or_claims: str | Sequence[str | Claim],
        sources: Sequence[str | SourceText],
        *,
        time_limit_s: float | None = None,
    ) -> VerifiedResponse:
        """Do what `verify` does, blocking. May be called inside a running event loop too.

        Raises:
            VerificationError: See `verify`.
        """
        if self._judge is not None or self._extract is not None:
            call = partial(self.verify, answer_or_claims, sources, time_limit_s=time_limit_s)
            with ThreadPoolExecutor(1) as thread:  # an event loop of its own
                return thread.submit(anyio.run, call).result()
        work = self._begin(time_limit_s)
        self._hold(work, answer_or_claims, None, tuple(sources))
        return _response(work)

    def _begin(self, time_limit_s: float | None) -> _Work:
        limit = self._time_limit_s if time_limit_s is None else time_limit_s
        return _Work(math.inf if limit is None else self._clock() + limit, self._clock)

    def _hold(
        self,
        work: _Work,
        answer_or_claims: str | Sequence[str | Claim],
        told: list[str] | None,
        given: tuple[str | SourceText, ...],
    ) -> None:
        """Hold each claim, as a hook told them, against the sources: by words, then embedded."""
        sources = read_sources(given, self._max_chars)
        work.known = frozenset(source.given.index for source in sources)
        claims = _claims(answer_or_claims, told, work.is_late)
        work.cases = hold(claims, sources, self._weights, work.is_late)
        if self._embedder is not None and work.cases:
            n_embedded, failed = embed_cases(
                work.cases,
                self._embedder,
                self._weights,
                most=self._max_embedded,
                is_late=work.is_late,
            )
            work.method += "+embedding" * bool(n_embedded)
            work.fallbacks += [WORDS_ALONE] * failed
        hold_together(work.cases, self._weights, work.is_late)

    async def _judged(self, work: _Work) -> None:
        """Let the judge speak of every claim that no source holds word for word."""
        asked = [(case, held) for case in work.cases for held in case.held if held.premise]
        if self._judge is None or not asked:
            return
        left = work.remaining_s
        said, fallback = await opinions(
            self._judge,
            [ClaimPair(case.reading.text, held.premise) for case, held in asked],
            deadline=None if left == math.inf else time.monotonic() + left,
        )
        for (_, held), opinion in zip(asked, said, strict=True):
            if opinion is not None:
                held.judged(opinion)
        if fallback:
            work.fallbacks.append(fallback)
        else:
            work.method += f"+{self._judge.name}"


def _response(work: _Work) -> VerifiedResponse:
    uses_markers = any(case.claim.markers for case in work.cases)
    found = tuple(
        verdict_of(case, uses_markers=uses_markers, known=work.known) for case in work.cases
    )
    return summed_up(VerifiedResponse(found, method=work.method, fallbacks=tuple(work.fallbacks)))


def summed_up(response: VerifiedResponse) -> VerifiedResponse:
    """Return the response with the figures that follow from its claims."""
    found = response.claims
    scores = citation_scores(found)
    return replace(
        response,
        overall_grounded=not response.contradicted_count,
        supported_ratio=response.supported_count / len(found) if found else 1.0,
        citation_precision=scores.precision,
        citation_recall=scores.recall,
    )


def _claims(
    answer_or_claims: str | Sequence[str | Claim],
    told: list[str] | None,
    is_late: Callable[[], bool],
) -> list[Claim]:
    if not isinstance(answer_or_claims, str):
        return [one if isinstance(one, Claim) else listed_claim(one) for one in answer_or_claims]
    if told is not None:
        return claims_of(answer_or_claims, told)
    return extract_claims(answer_or_claims, is_late)
