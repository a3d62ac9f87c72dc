"""The answer, its citations and what was found about its claims."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fingerpost.types.document import Span
from fingerpost.types.evidence import Hit, MatchType


class GenerationMode(StrEnum):
    """Who wrote the answer."""

    EXTRACTIVE = "extractive"
    MODEL = "model"
    ABSTAINED = "abstained"
    SMALL_TALK = "small_talk"


class AbstentionReason(StrEnum):
    """Why there is no answer."""

    NO_DOCUMENT_INDEXED = "no_document_indexed"
    NO_DOCUMENT_MATCHES = "no_document_matches"
    FILTER_EXCLUDES_ALL = "filter_excludes_all"
    EVIDENCE_TOO_WEAK = "evidence_too_weak"
    NOT_GROUNDED = "not_grounded"
    NO_SOURCE_FITS = "no_source_fits"
    NO_SOURCE_CHOSEN = "no_source_chosen"


@dataclass(frozen=True, slots=True)
class SourceCitation:
    """A place in the corpus that a marker of the answer points at.

    Attributes:
        index: The number in the marker, from 1.
        id: Chunk id.
        title: Title of the document.
        uri: Where the document can be opened.
        path: Path relative to the source root.
        heading: Last heading of ``heading_path``, empty when none.
        heading_path: Headings from the top down.
        line_start: First line, from 1.
        line_end: Last line, inclusive.
        snippet: Up to about 300 characters of the source's own text.
        relevance_score: 0 to 1.
        match_type: Leg of retrieval that found it.
        source: Name of the corpus source.
        document_id: Id of the document.
        url: Published address, when ``docs_url`` is configured; of a repository's document its
            lines on the web, when its host is known.
        language: Language of the chunk.
        cited: Whether the answer really cites it; ``False`` for nearest sources after an
            abstention and for sources that the answer did not use.
        page_start: First page or slide, from 1; ``None`` where a document has none.
        page_end: Last page or slide, inclusive.
        version: Version of the documentation that the document belongs to, empty when unknown.
        also_in: Paths of the same page in other versions, and of copies of the text, best
            first; they are not among the sources.
        stale: Whether the file differs from what was indexed of it, or is gone; ``None`` when
            that cannot be known, as of a web page or a passage of the host's own retriever.
        repo: ``owner/name`` on GitHub, else the repository's address; empty outside one.
        commit: Full hash of the commit that the document is of; empty outside a repository.
    """

    index: int
    id: str
    title: str
    uri: str
    path: str
    heading: str
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    snippet: str
    relevance_score: float
    match_type: MatchType
    source: str = ""
    document_id: str = ""
    url: str | None = None
    language: str = "und"
    cited: bool = True
    page_start: int | None = None
    page_end: int | None = None
    version: str = ""
    also_in: tuple[str, ...] = ()
    stale: bool | None = None
    repo: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One marker in the answer.

    Attributes:
        marker: As written, ``[2]``.
        source_index: ``SourceCitation.index`` that it names.
        span: Where the marker stands in the answer.
        quote: Where the cited words stand in the document (extractive answers), else ``None``.
    """

    marker: str
    source_index: int
    span: Span
    quote: Span | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Generated text with its citations, before verification.

    Attributes:
        text: With ``[n]`` markers; never empty.
        mode: Who wrote it.
        citations: In reading order.
        cited_chunk_ids: Chunk ids by marker number: marker ``n`` is item ``n - 1``.
        abstention: Why there is no answer, ``None`` when there is one.
        removed_markers: Markers that named no source and were removed.
        truncated: The model stopped at its token limit.
        left_out: Hits that the model did not get to see, for want of room.
        prompt: Name and hash of the prompt, empty without a model.
        uncovered: Sub-questions that the evidence is too weak to answer; the text names them.
        answerability: How likely the evidence answers the question at all, 0 to 1; ``None``
            where that was not judged.
    """

    text: str
    mode: GenerationMode
    citations: tuple[Citation, ...] = ()
    cited_chunk_ids: tuple[str, ...] = ()
    abstention: AbstentionReason | None = None
    removed_markers: int = 0
    truncated: bool = False
    left_out: tuple[Hit, ...] = ()
    prompt: str = ""
    uncovered: tuple[str, ...] = ()
    answerability: float | None = None


class Verdict(StrEnum):
    """What the sources say about a claim."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNVERIFIABLE = "unverifiable"
    CONTRADICTED = "contradicted"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class CitedSource:
    """What one source that a claim cites says of it, alone.

    Attributes:
        marker: The number that the claim carries.
        verdict: Of that source; ``None`` when the number names none.
    """

    marker: int
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class FeatureNote:
    """One thing that was measured about a claim and its evidence, and what it did.

    Attributes:
        name: Of the feature, ``coverage``.
        value: Measured.
        weight: What it adds to the log-odds of support; 0 for a finding that only overrules.
        told: The same in words.
    """

    name: str
    value: float
    weight: float
    told: str = ""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One claim of the answer and what was found about it.

    Attributes:
        claim: The claim's text without markers.
        span: Where it stands in the answer; ``None`` for claims that the caller listed.
        verdict: What the sources say.
        confidence: Calibrated probability of the verdict, 0 to 1.
        source_index: 1-based index of the source that decides it, ``None`` when none does.
        source_ref: That source's path and lines, ``path:12-15``, empty when none.
        source_snippet: The sentence that decides it, empty when none.
        source_span: Where that sentence stands in the source's text.
        source_line: Line of that sentence in the document, from 1.
        markers: Source numbers that the claim itself carried.
        wrong_citation: It cites a number that names no source, or it is supported, but by none
            of the sources that it cites.
        missing_citation: A claim without any marker although the answer uses markers.
        reasons: Named findings for people, such as ``number 4 ≠ 3``.
        cited: What each source that it cites says of it, in the order of ``markers``; empty
            when it was not checked.
        features: What the local judge measured, what counted most first; empty for a quote.
    """

    claim: str
    span: Span | None
    verdict: Verdict
    confidence: float
    source_index: int | None = None
    source_ref: str = ""
    source_snippet: str = ""
    source_span: Span | None = None
    source_line: int | None = None
    markers: tuple[int, ...] = ()
    wrong_citation: bool = False
    missing_citation: bool = False
    reasons: tuple[str, ...] = ()
    cited: tuple[CitedSource, ...] = ()
    features: tuple[FeatureNote, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedResponse:
    """What was found about an answer as a whole.

    Attributes:
        claims: Of the answer as it is given, in reading order.
        overall_grounded: Nothing is contradicted. True when there are no claims.
        supported_ratio: Supported claims by all claims, 0 to 1; 1 when there are no claims.
        method: What judged, such as ``lexical+embedding`` or ``lexical``.
        removed: Claims that left the answer, dropped or rewritten, with the verdict that they had.
        citation_precision: Share of the answer's citations that are needed and right, 0 to 1;
            ``None`` without citations.
        citation_recall: Share of its claims that the sources they cite bear out, 0 to 1; ``None``
            when it cites nothing.
        fallbacks: Weaker ways of checking that were taken, each once.
    """

    claims: tuple[ClaimVerdict, ...] = ()
    overall_grounded: bool = True
    supported_ratio: float = 1.0
    method: str = "lexical"
    removed: tuple[ClaimVerdict, ...] = ()
    citation_precision: float | None = None
    citation_recall: float | None = None
    fallbacks: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """Return how many claims have the verdict."""
        return sum(claim.verdict is verdict for claim in self.claims)

    @property
    def total_claims(self) -> int:
        """Return the number of claims."""
        return len(self.claims)

    @property
    def supported_count(self) -> int:
        """Return the number of supported claims."""
        return self.count(Verdict.SUPPORTED)

    @property
    def weak_count(self) -> int:
        """Return the number of weak claims."""
        return self.count(Verdict.WEAK)

    @property
    def unverifiable_count(self) -> int:
        """Return the number of unverifiable claims."""
        return self.count(Verdict.UNVERIFIABLE)

    @property
    def contradicted_count(self) -> int:
        """Return the number of contradicted claims."""
        return self.count(Verdict.CONTRADICTED)

    @property
    def not_checked_count(self) -> int:
        """Return the number of claims that were not checked."""
        return self.count(Verdict.NOT_CHECKED)

    @property
    def wrong_citation_count(self) -> int:
        """Return the number of claims with a wrong citation."""
        return sum(claim.wrong_citation for claim in self.claims)

    @property
    def missing_citation_count(self) -> int:
        """Return the number of claims that lack a citation."""
        return sum(claim.missing_citation for claim in self.claims)
