"""Each claim of an answer held against the sentences of its sources."""

from fingerpost.verify.base import Entailment, EntailmentHook, SourceText
from fingerpost.verify.claims import Claim, extract_claims
from fingerpost.verify.pair import JudgePair, judge_pair
from fingerpost.verify.policy import apply_policy, apply_verdict_policy
from fingerpost.verify.verifier import CitationVerifier, OnUnsupported

__all__ = [
    "CitationVerifier",
    "Claim",
    "Entailment",
    "EntailmentHook",
    "JudgePair",
    "OnUnsupported",
    "SourceText",
    "apply_policy",
    "apply_verdict_policy",
    "extract_claims",
    "judge_pair",
]
