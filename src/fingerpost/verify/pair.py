"""One claim against one source: what evaluation asks for."""

from __future__ import annotations

from dataclasses import dataclass

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.answer import Verdict
from fingerpost.verify.claims import listed_claim
from fingerpost.verify.evidence import Reading, SourceSentences
from fingerpost.verify.features import embed_candidates, measure
from fingerpost.verify.judge import QUOTED, judge, judge_weights, undecided
from fingerpost.verify.quote import find_quote
from fingerpost.verify.unseen import without_unseen


@dataclass(frozen=True, slots=True)
class JudgePair:
    """What one source says about one claim.

    Attributes:
        verdict: The verdict.
        p_supported: Calibrated probability of support, 0 to 1; ranks pairs for AUROC.
        p_contradicted: Probability of contradiction, 0 to 1.
        reasons: Named findings for people.
    """

    verdict: Verdict
    p_supported: float
    p_contradicted: float
    reasons: tuple[str, ...] = ()


def judge_pair(claim: str, source: str, *, embedder: EmbeddingModel | None = None) -> JudgePair:
    """Return what `CitationVerifier` would say of the claim with this one source.

    Markers in the claim are no part of what it says: ``[2]`` is not the number 2.
    """
    claim, source = listed_claim(without_unseen(claim)).text, without_unseen(source)
    if find_quote(claim, source) is not None:
        return JudgePair(QUOTED.verdict, QUOTED.p_supported, QUOTED.p_contradicted, ("verbatim",))
    found = measure(Reading(claim), SourceSentences(source))
    said = judge(found, judge_weights())
    if embedder is not None and undecided(found, said, judge_weights()):
        embed_candidates(found, claim, embedder)
        said = judge(found, judge_weights())
    return JudgePair(said.verdict, said.p_supported, said.p_contradicted, tuple(found.reasons))
