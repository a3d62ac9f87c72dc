"""Each claim of an answer held against the sentences of its sources."""

from fingerpost.verify.base import ClaimJudge, ClaimPair, Entailment, EntailmentHook, SourceText
from fingerpost.verify.citations import CitationScores, citation_scores
from fingerpost.verify.claims import Claim, extract_claims
from fingerpost.verify.judges import ChatClaimJudge, DecisionClaimJudge, HookClaimJudge
from fingerpost.verify.listed import ListedSources, listed_sources
from fingerpost.verify.pair import JudgePair, judge_pair
from fingerpost.verify.policy import (
    apply_policy,
    apply_verdict_policy,
    is_grounded,
    unsupported,
)
from fingerpost.verify.repair import replaced, rewrite_claims
from fingerpost.verify.verifier import WORDS_ALONE, CitationVerifier, OnUnsupported

__all__ = [
    "WORDS_ALONE",
    "ChatClaimJudge",
    "CitationScores",
    "CitationVerifier",
    "Claim",
    "ClaimJudge",
    "ClaimPair",
    "DecisionClaimJudge",
    "Entailment",
    "EntailmentHook",
    "HookClaimJudge",
    "JudgePair",
    "ListedSources",
    "OnUnsupported",
    "SourceText",
    "apply_policy",
    "apply_verdict_policy",
    "citation_scores",
    "extract_claims",
    "is_grounded",
    "judge_pair",
    "listed_sources",
    "replaced",
    "rewrite_claims",
    "unsupported",
]
