"""Claims held against sources: verbatim quotes first, then by words, then by embeddings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fingerpost.errors import LaneError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.answer import Verdict
from fingerpost.types.document import Span
from fingerpost.verify.base import Entailment, SourceText
from fingerpost.verify.claims import Claim
from fingerpost.verify.evidence import Reading, SourceSentences, keys
from fingerpost.verify.features import Evidence, add_cosines, measure
from fingerpost.verify.judge import (
    QUOTED,
    Judgement,
    JudgeWeights,
    entailed,
    judge,
    undecided,
)
from fingerpost.verify.quote import find_quote
from fingerpost.verify.shown import Page, Shown, without_targets
from fingerpost.verify.unseen import seen, without_unseen

_LOG = logging.getLogger("fingerpost.verify")

RANK = {
    Verdict.SUPPORTED: 3,
    Verdict.CONTRADICTED: 2,
    Verdict.WEAK: 1,
    Verdict.UNVERIFIABLE: 0,
    Verdict.NOT_CHECKED: -1,
}
# A source whose best sentence shares less than this part of what the best one shares is not read.
_PROMISING = 0.6
_MOST_SOURCES = 3
_EMBEDDED_AT_ONCE = 64
_SHORT = 2_000
# More is no sentence: every word and quantity of it would be held against all of the evidence.
_LONGEST = 4_000
_MOST_THINGS = 64
_LATE = "time limit"


@dataclass(slots=True, eq=False)
class Source:
    """A source as it is seen, with its sentences, cut when first asked for.

    Attributes:
        given: What the caller gave.
        page: What is read of it.
        cut: It is longer than what is read.
        unseen: Places in the given text when characters that no reader sees were left out.
    """

    given: SourceText
    page: Page
    cut: bool
    unseen: Shown | None = None
    _sentences: SourceSentences | None = None

    @property
    def sentences(self) -> SourceSentences:
        """Return its sentences."""
        if self._sentences is None:
            self._sentences = SourceSentences(self.page.text)
        return self._sentences


@dataclass(slots=True, eq=False)
class Held:
    """A claim held against one source.

    Attributes:
        source: The source.
        judgement: What it says.
        evidence: What was measured; ``None`` for a quote and for several sources together.
        span: The sentence that decides, in what is read of the source.
    """

    source: Source
    judgement: Judgement
    evidence: Evidence | None = None
    span: Span | None = None

    @property
    def strength(self) -> tuple[int, float, str]:
        """Order by verdict, then probability; the text breaks ties, so that order never counts."""
        said = self.judgement
        contradicted = said.verdict is Verdict.CONTRADICTED
        sure = said.p_contradicted if contradicted else said.p_supported
        return RANK[said.verdict], sure, self.source.page.text

    @property
    def premise(self) -> str:
        """Return the passage that was measured, empty for a quote.

        Where no word is shared, as between two languages, it is the whole of a short source.
        """
        if self.evidence is None:
            return ""
        text, window = self.source.page.text, self.evidence.window
        if window is not None:
            return text[window.start : window.end]
        return text if len(text) <= _SHORT else ""

    def judged(self, said: Entailment) -> None:
        """Take the opinion of a judge on the premise."""
        self.judgement = entailed(self.judgement, self.evidence, said)
        if self.span is None:
            self.span = Span(0, len(self.source.page.text))


@dataclass(slots=True, eq=False)
class Case:
    """A claim and all that it was held against.

    Attributes:
        claim: The claim.
        reading: What it says.
        held: One for each source that was looked at.
        unchecked: Why it was not checked, empty when it was.
        together: Judged by the passages of all its cited sources at once, when none bears it
            out alone.
    """

    claim: Claim
    reading: Reading
    held: list[Held] = field(default_factory=list)
    unchecked: str = ""
    together: Judgement | None = None

    @property
    def cited(self) -> list[Held]:
        """Return what the sources say that the claim cites."""
        return [held for held in self.held if held.source.given.index in self.claim.markers]


def read_sources(sources: Iterable[str | SourceText], max_chars: int) -> list[Source]:
    """Return the sources as they are read; plain strings are numbered by their place, from 1."""
    found = []
    for number, given in enumerate(sources, start=1):
        source = SourceText(given, number) if isinstance(given, str) else given
        cut = len(source.text) > max_chars
        read = source.text[:max_chars] if cut else source.text
        unseen = seen(read)
        found.append(Source(source, Page(unseen.text if unseen else read), cut, unseen))
    return found


def hold(
    claims: Iterable[Claim],
    sources: Sequence[Source],
    weights: JudgeWeights,
    is_late: Callable[[], bool],
) -> list[Case]:
    """Return each claim held against the sources by words.

    Once ``is_late`` says so, claims whose turn has not come stay unchecked; so do those that
    are too long.
    """
    cases = []
    unchecked = ""
    for claim in claims:
        if not unchecked and is_late():
            unchecked = _LATE
        case = Case(claim, Reading(""), unchecked=unchecked or _too_much(claim.text))
        if not case.unchecked:
            case.reading = Reading(without_targets(without_unseen(claim.text)))
            case.unchecked = _too_many(case.reading)
        if not case.unchecked and not _hold_words(case, sources, weights, is_late):
            case.unchecked, case.held = _LATE, []
        cases.append(case)
    return cases


def _too_much(text: str) -> str:
    """Return why so long a text is not checked, empty when it is."""
    return f"longer than {_LONGEST:,} characters" if len(text) > _LONGEST else ""


def _too_many(claim: Reading) -> str:
    """Return why a claim that states so much is not checked, empty when it is."""
    for things, told in ((claim.quantities, "quantities"), (claim.identifiers, "identifiers")):
        if len(things) > _MOST_THINGS:
            return f"more than {_MOST_THINGS} {told}"
    return ""


def embed_cases(
    cases: Sequence[Case],
    embedder: EmbeddingModel,
    weights: JudgeWeights,
    *,
    most: int,
    is_late: Callable[[], bool],
) -> tuple[int, bool]:
    """Judge undecided claims again with the embeddings of their best source's sentences.

    Return how many were, and whether the model failed or time ran out before the others. Claims
    for which ``most`` texts leave no room keep the judgement by words.
    """
    wanted = _to_embed(cases, weights, most)
    texts = list(dict.fromkeys(text for _, own in wanted for text in own))
    vectors: dict[str, NDArray[np.float32]] = {}
    try:
        for at in range(0, len(texts), _EMBEDDED_AT_ONCE):
            if is_late():
                break
            part = texts[at : at + _EMBEDDED_AT_ONCE]
            vectors.update(zip(part, embedder.embed(part), strict=True))
    except LaneError as error:
        _LOG.warning("claims are checked by words alone: %s", error)
    n_embedded = 0
    for held, own in wanted:
        if held.evidence is not None and vectors.keys() >= set(own):
            n_embedded += 1
            claim, *candidates = (vectors[text] for text in own)
            add_cosines(held.evidence, [float(claim @ other) for other in candidates])
            held.judgement = judge(held.evidence, weights)
    return n_embedded, n_embedded < len(wanted)


def _to_embed(
    cases: Sequence[Case], weights: JudgeWeights, most: int
) -> list[tuple[Held, list[str]]]:
    """Return the undecided holdings, each with the claim and its candidates, within ``most``."""
    found: list[tuple[Held, list[str]]] = []
    texts: set[str] = set()
    for case in cases:
        held = max(case.held, key=lambda held: held.strength, default=None)
        if held is None or held.evidence is None:
            continue
        if not undecided(held.evidence, held.judgement, weights):
            continue
        own = [case.reading.text, *held.evidence.candidates]
        if len(texts.union(own)) <= most:
            texts.update(own)
            found.append((held, own))
    return found


def hold_together(
    cases: Iterable[Case], weights: JudgeWeights, is_late: Callable[[], bool]
) -> None:
    """Hold each claim that no source bears out alone against all that it cites at once.

    Once ``is_late`` says so, what the sources say one by one stands.
    """
    for case in cases:
        passages = [held.premise for held in case.cited if held.premise]
        alone = any(held.judgement.verdict is Verdict.SUPPORTED for held in case.held)
        if alone or len(passages) < 2:  # noqa: PLR2004 - one is no several
            continue
        if is_late():
            return
        found = measure(case.reading, SourceSentences("\n\n".join(passages)))
        said = judge(found, weights)
        against = any(held.judgement.verdict is Verdict.CONTRADICTED for held in case.cited)
        if said.verdict is Verdict.SUPPORTED and not against:
            case.together = said


def _hold_words(
    case: Case, sources: Sequence[Source], weights: JudgeWeights, is_late: Callable[[], bool]
) -> bool:
    """Look for a verbatim quote, in cited sources first; else measure. Return whether in time."""
    cited = [source for source in sources if source.given.index in case.claim.markers]
    rest = [source for source in sources if source.given.index not in case.claim.markers]
    quoting = next(_quotes(case, cited), None) or next(_quotes(case, rest), None)
    if quoting is not None:
        case.held.append(quoting)
    chosen = [source for source in cited if quoting is None or source is not quoting.source]
    if quoting is None:
        for source in sources:
            if is_late():
                return False
            _ = source.sentences
        chosen = _promising(case, sources, cited)
    for source in chosen:
        if is_late():
            return False
        held = next(_quotes(case, [source]), None) if quoting else None
        if held is None:
            evidence = measure(case.reading, source.sentences)
            held = Held(source, judge(evidence, weights), evidence, evidence.focus)
        case.held.append(held)
    return True


def _quotes(case: Case, sources: Iterable[Source]) -> Iterator[Held]:
    """Yield the sources in which the claim stands word for word."""
    for source in sources:
        span = find_quote(case.reading.text, source.page)
        if span is not None:
            yield Held(source, QUOTED, span=span)


def _promising(case: Case, sources: Sequence[Source], cited: Sequence[Source]) -> list[Source]:
    """Return the cited sources and those others whose best sentence shares most with the claim.

    Which ones does not depend on their order, nor on sources that share less.
    """
    wanted = keys(case.reading.words)
    shares = [source.sentences.share(wanted) for source in sources]
    least = _PROMISING * max(shares, default=0.0)
    ranked = sorted(
        range(len(sources)),
        key=lambda at: (-shares[at], sources[at].page.text, sources[at].given.index),
    )
    chosen = {at for at in ranked[:_MOST_SOURCES] if shares[at] >= least}
    return [source for at, source in enumerate(sources) if at in chosen or source in cited]
