"""Why a question got its tier, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from fingerpost.types.decision import Tier
from fingerpost.types.evidence import FirstLook

_SHOWN = 8
_SAID = 3
_MEANING = {
    Tier.TRIVIAL: "small talk, nothing to look up",
    Tier.LOOKUP: "one fact in one place",
    Tier.MULTI_SOURCE: "several passages have to be joined",
    Tier.RESEARCH: "comparison or synthesis over the corpus",
}
_PHRASES = {
    "cue:ask_who": "it asks who",
    "cue:ask_when": "it asks when",
    "cue:ask_where": "it asks where",
    "cue:ask_which": "it asks which",
    "cue:ask_amount": "it asks for an amount",
    "cue:ask_why": "it asks why",
    "cue:ask_how": "it asks how",
    "cue:ask_what": "it asks what",
    "cue:how_to": "it asks how to get something done",
    "cue:relation": "it names a relation between persons or works",
    "cue:work": "it names a kind of work, place or body",
    "cue:bridge_verb": "it identifies one thing through another",
    "cue:two_things": "it speaks of two things together",
    "cue:comparative": "it compares",
    "cue:superlative": "it asks for an extreme",
    "cue:compare": "it asks for a comparison",
    "cue:causal": "it asks about causes or effects",
    "cue:evaluate": "it asks for an assessment",
    "cue:synthesis": "it asks about methods, trends or roles in general",
    "cue:research_verb": "it orders a report or an analysis",
    "cue:society": "it is about people at large",
    "cue:assistant": "it is about the assistant",
    "cue:greeting": "it greets or thanks",
    "cue:reply": "it is a bare reply",
    "cue:feeling": "it voices a feeling",
    "cue:utility": "it is a request that no document answers",
    "cue:second_person": "it addresses the assistant",
    "cue:first_person": "the writer speaks of themselves",
    "talk:share": "known phrases of small talk cover it",
    "talk:whole": "known phrases of small talk cover it",
    "shape:code": "it names code or a version",
    "shape:arithmetic": "it is a sum",
    "shape:relative": "it chains relative clauses",
    "shape:possessive": "it chains possessives",
    "shape:of-chain": "it chains 'of'",
    "pair:chain": "it reaches one thing through another",
    "pair:abstract": "its terms are abstract",
    "pair:abstract-unnamed": "its terms are abstract and nothing is named",
    "pair:relation-named": "it asks for a relation of something named",
    "pair:yes-no-two": "it asks yes or no about two named things",
    "pair:both-same": "it asks whether two things share something",
    "pair:compare-named": "it compares named things",
    "pair:fact-named": "it asks for a single fact",
}
_BY_KIND = {
    "length": "its length",
    "sentences": "its number of sentences",
    "open": "the way it begins",
    "shape": "its form",
    "talk": "its tone",
    "word": "the length of its words",
    "pair": "how its parts stand together",
    "cue": "its wording",
}


def loudest(contributions: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Return the features with the largest absolute weight, loudest first, at most eight."""
    ranked = sorted(contributions.items(), key=lambda item: (-abs(item[1]), item[0]))
    return tuple((name, round(value, 3)) for name, value in ranked[:_SHOWN] if round(value, 3))


def explain_tier(
    tier: Tier,
    probability: float,
    signals: tuple[tuple[str, float], ...],
    *,
    first_look: FirstLook | None = None,
) -> str:
    """Return one or two sentences: the tier, how sure, and the signals that spoke for it."""
    said: list[str] = []
    for name, value in signals:
        phrase = _PHRASES.get(name) or _BY_KIND.get(name.partition(":")[0], name)
        if value > 0 and phrase not in said:
            said.append(phrase)
    reasons = "; ".join(said[:_SAID]) or "no signal spoke clearly"
    text = f"{tier.label} ({_MEANING[tier]}), {probability:.0%} sure: {reasons}."
    if first_look is not None:
        text += (
            f" The best passage holds {first_look.coverage:.0%} of the terms, the best ten "
            f"{first_look.pooled_coverage:.0%}."
        )
    return text
