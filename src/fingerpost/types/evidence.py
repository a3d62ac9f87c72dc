"""What retrieval found."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from fingerpost.types.document import Chunk, Document


class MatchType(StrEnum):
    """Which leg of retrieval brought a hit.

    When words and vectors both did, the one that ranked it higher; ``keyword`` at equal ranks.
    ``source`` is a retriever of the host's own, outside the index.
    """

    VECTOR = "vector"
    KEYWORD = "keyword"
    GRAPH = "graph"
    RESEARCH = "research"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its places in each ranking.

    Attributes:
        chunk: The chunk, with its exact text.
        document: Where it comes from.
        score: Relevance after the last step that ranked it, 0 to 1, best first.
        match_type: The leg that found it.
        lexical_rank: Place in the lexical ranking, from 1; ``None`` when not in it.
        lexical_score: BM25, > 0; ``None`` when not in it.
        vector_rank: Place in the vector ranking, from 1; ``None`` when not in it.
        vector_score: Cosine, -1 to 1; ``None`` when unknown.
        fused_rank: Place after fusion, from 1; ``None`` for hits added later (graph, research).
        fused_score: Score after fusion, 0 to 1; ``None`` like ``fused_rank``.
        sub_query: The sub-question that found it, empty for the question itself.
        note: Why it is here or was moved, for ``--explain``.
        copies: Paths of other documents whose text was (almost) the same, such as older
            versions of the page, best first; they are not among the hits.
        n_chunks: Chunks of the index that ``chunk`` was joined from, >= 1: hits that stood next
            to each other are one passage, from the start of the first to the end of the last.
    """

    chunk: Chunk
    document: Document
    score: float
    match_type: MatchType = MatchType.KEYWORD
    lexical_rank: int | None = None
    lexical_score: float | None = None
    vector_rank: int | None = None
    vector_score: float | None = None
    fused_rank: int | None = None
    fused_score: float | None = None
    sub_query: str = ""
    note: str = ""
    copies: tuple[str, ...] = ()
    n_chunks: int = 1

    @property
    def next_ordinal(self) -> int:
        """Return the position of the chunk that follows in the document."""
        return self.chunk.ordinal + self.n_chunks


@dataclass(frozen=True, slots=True)
class BranchDiagnostics:
    """What one branch of a planned retrieval did.

    Attributes:
        name: ``hybrid``, ``graph``, ``raptor``, ``memory`` or ``multimodal``.
        n_hits: Hits that it brought.
        duration_ms: Milliseconds that it took.
        error: Why it failed, empty when it did not.
        skipped: Why it did not run, empty when it ran.
        policy: Under which policy: ``fast``, ``balanced`` or ``max-recall``.
    """

    name: str
    n_hits: int = 0
    duration_ms: float = 0.0
    error: str = ""
    skipped: str = ""
    policy: str = ""


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What was kept for one part of a question.

    Attributes:
        question: The sub-question.
        hits: Those of `Evidence.hits` that its own search found, best first; empty when none of
            them says enough of it.
    """

    question: str
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The hits kept for an answer, and all that was looked at on the way.

    Attributes:
        hits: Best first, no chunk twice.
        candidates: Every candidate considered, best first, for ``--explain``; holds ``hits``.
        sub_queries: What the question was split into; empty when it was not.
        parts: For each of the sub-questions, in their order, what was kept for it.
        uncovered: Sub-questions for which nothing was found.
        tiers_used: Tiers that really ran, ascending.
        fallbacks: Fallback names in the order in which they fired, each once.
        vectors_searched: Whether vectors took part: the vector leg of at least one search
            found something. ``False`` also when it failed.
        synthesis: What the research pass wrote, empty when it did not run; names hits by chunk id.
        web_searched: Whether the research pass asked the web.
        lexical_weight: Weight of the lexical leg in fusion, 0 to 1; ``None`` when one leg ran.
        coverage: Share of the question's content terms, weighted by rarity, that stand in the
            best hits, 0 to 1.
        unknown_terms: Analysed terms of the question that stand nowhere in the index.
        asked_as: The question as it was searched for in its own language, where that is not as
            it was put; else empty.
        translation: The question in the language of the documents, as it was searched for; empty
            when it was searched as it was asked.
        overview: The hits stand for the whole corpus, as the summaries lead to them: no word of
            the question need be in them.
        generation: Index generation that was read.
        timings: Stage name → milliseconds.
        diagnostics: One per branch and policy that a plan ran under; empty without a plan.
    """

    hits: tuple[Hit, ...]
    candidates: tuple[Hit, ...] = ()
    sub_queries: tuple[str, ...] = ()
    parts: tuple[PartEvidence, ...] = ()
    uncovered: tuple[str, ...] = ()
    tiers_used: tuple[int, ...] = ()
    fallbacks: tuple[str, ...] = ()
    vectors_searched: bool = False
    synthesis: str = ""
    lexical_weight: float | None = None
    coverage: float = 0.0
    unknown_terms: frozenset[str] = frozenset()
    asked_as: str = ""
    translation: str = ""
    generation: int = 0
    timings: dict[str, float] = field(default_factory=dict, hash=False)
    diagnostics: tuple[BranchDiagnostics, ...] = ()
    web_searched: bool = False
    overview: bool = False


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What one cheap lexical search says about a question, for the classifier.

    Attributes:
        coverage: Share of the question's content terms, weighted by rarity, that stand in the
            best chunk, 0 to 1.
        pooled_coverage: The same over the best ten chunks together, 0 to 1.
        known_terms: Share of its content terms that stand anywhere in the corpus, 0 to 1.
        n_documents: Distinct documents among the best ten chunks.
        score_gap: (best - second) / best score over distinct documents, 0 to 1; 1 with one hit.
        score_decay: Tenth by best score, 0 to 1; 0 with fewer than ten hits.
    """

    coverage: float
    pooled_coverage: float
    known_terms: float
    n_documents: int
    score_gap: float
    score_decay: float
