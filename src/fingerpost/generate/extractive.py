"""An answer without a model: the units of the evidence that answer, quoted with markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fingerpost.generate.abstain import abstain, judge
from fingerpost.generate.compose import Composition, reading_order
from fingerpost.generate.phrases import phrase
from fingerpost.generate.plain import plain_text
from fingerpost.generate.score import score_units, settle_tie
from fingerpost.generate.select import LIMITS, Limits, choose
from fingerpost.generate.units import Unit, split_hits
from fingerpost.text.language import detect_language
from fingerpost.types import Answer, Evidence, Tier

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def extract_answer(
    question: str,
    evidence: Evidence,
    *,
    max_units: int | None = None,
    max_tokens: int = 4000,
    tier: Tier = Tier.LOOKUP,
    embed: Embed | None = None,
    question_vector: NDArray[np.float32] | None = None,
) -> Answer:
    """Return the sentences, items, rows or code of the evidence that answer the question.

    They stand in reading order, each with the marker of its chunk, whose `Citation.quote` is
    their exact place in the document. Abstains when the evidence cannot answer.

    Args:
        question: Made to stand alone.
        evidence: Hits best first; none gives an abstention.
        max_units: Most units chosen for themselves; ``None`` takes the tier's number.
        max_tokens: Most tokens of the answer, estimated.
        tier: Decides how much is quoted, and whether parts stand apart (research).
        embed: Not needed. Given with ``question_vector`` it is called once, on the two best
            units, and only when they are nearly equal.
        question_vector: The question's unit-length vector of the same model as ``embed``.
    """
    language = detect_language(question)
    units = split_hits(evidence.hits)
    reason = judge(question, evidence, units, language=language)
    if reason is not None:
        return abstain(reason, question, language)
    limits = LIMITS[tier]
    if max_units is not None:
        limits = replace(limits, max_units=max(1, max_units))
    answer = Composition(evidence.hits)
    nearness = None
    if embed is not None and question_vector is not None:
        nearness = partial(_nearness, embed, question_vector)
    request = _Request(question, evidence, limits, max_tokens, nearness)
    if len(evidence.sub_queries) > 1 and tier >= Tier.MULTI_SOURCE:
        _write_parts(request, units, answer, headed=tier is Tier.RESEARCH)
    else:
        answer.units(reading_order(_chosen(request, question, units), evidence.hits))
    for missing in evidence.uncovered:
        answer.heading(phrase("uncovered", language).format(plain_text(missing)))
    return answer.answer()


@dataclass(frozen=True, slots=True)
class _Request:
    """What every part of an answer is made from."""

    question: str
    evidence: Evidence
    limits: Limits
    max_tokens: int
    nearness: Callable[[Sequence[str]], Sequence[float]] | None = None


def _nearness(
    embed: Embed, question_vector: NDArray[np.float32], texts: Sequence[str]
) -> list[float]:
    """Return the cosine of each text to the question."""
    return [float(value) for value in embed(texts) @ question_vector]


def _chosen(request: _Request, question: str, units: Sequence[Unit]) -> list[Unit]:
    read, scored = score_units(question, units, request.evidence)
    if request.nearness is not None and question == request.question:
        scored = settle_tie(scored, request.nearness)
    return choose(read, scored, request.limits, request.max_tokens)


def _write_parts(
    request: _Request, units: Sequence[Unit], answer: Composition, *, headed: bool
) -> None:
    """Write what answers each sub-question; a unit is quoted once, where it is first needed.

    Args:
        request: The question and its limits; the parts share them.
        units: Of all hits.
        answer: Takes the text.
        headed: Each part stands under its sub-question, else all are brought into one order.
    """
    hits = request.evidence.hits
    parts = [
        part for part in request.evidence.sub_queries if part not in request.evidence.uncovered
    ]
    share = max(1, round(request.limits.max_units / max(len(parts), 1)))
    per_part = replace(
        request,
        limits=replace(request.limits, max_units=share),
        max_tokens=request.max_tokens // max(len(parts), 1),
    )
    seen: set[tuple[int, int]] = set()
    joined: list[Unit] = []
    for part in parts:
        own = [u for u in units if hits[u.hit].sub_query == part] or units
        chosen = [u for u in _chosen(per_part, part, own) if (u.hit, u.order) not in seen]
        seen.update((u.hit, u.order) for u in chosen)
        joined.extend(chosen)
        if headed and chosen:
            answer.heading(plain_text(part))
            answer.units(reading_order(chosen, hits))
    if not headed:
        answer.units(reading_order(joined, hits))
