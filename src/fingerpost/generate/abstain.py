"""When not to answer, and what to say then."""

from __future__ import annotations

from fingerpost.generate.phrases import phrase
from fingerpost.types import AbstentionReason, Answer, Evidence, GenerationMode


def abstain(reason: AbstentionReason, question: str, language: str = "en") -> Answer:
    """Return the answer that says, in the given language, that and why there is none.

    Args:
        reason: Chosen by the caller, or by `should_abstain`.
        question: Not repeated in the text: it may hold anything.
        language: ISO 639-1 code; English stands in for languages without a phrase.
    """
    del question
    return Answer(phrase(reason.value, language), GenerationMode.ABSTAINED, abstention=reason)


def should_abstain(question: str, evidence: Evidence) -> AbstentionReason | None:
    """Return why the evidence cannot answer the question, ``None`` when it may."""
    del question
    return None if evidence.hits else AbstentionReason.NO_DOCUMENT_MATCHES
