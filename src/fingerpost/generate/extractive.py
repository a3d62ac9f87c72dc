"""An answer without a model: the units of the evidence that answer, quoted with markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fingerpost.generate.abstain import abstain, judge
from fingerpost.generate.compose import Composition, reading_order
from fingerpost.generate.listing import with_continuations
from fingerpost.generate.overview import MOST, openings
from fingerpost.generate.parts import Part, answered, readable, real_parts
from fingerpost.generate.phrases import phrase
from fingerpost.generate.rows import narrowed
from fingerpost.generate.score import score_units, settle_tie
from fingerpost.generate.select import LIMITS, Choice, Limits, choose
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
    their exact place in the document. Of a question that the evidence cannot answer as a whole
    those parts are answered that it can, and the others named; without one it abstains.

    Args:
        question: Made to stand alone.
        evidence: Hits best first; none gives an abstention. For an overview of the whole corpus
            each is quoted by its opening sentence, whatever the words of the question.
        max_units: Most units chosen for themselves; ``None`` takes the tier's number.
        max_tokens: Most tokens of the answer, estimated.
        tier: Decides how much is quoted, and whether parts stand apart (research).
        embed: Not needed. Given with ``question_vector`` it is called once, on the two best
            units, and only when they are nearly equal.
        question_vector: The question's unit-length vector of the same model as ``embed``.
    """
    language = detect_language(question)
    units = split_hits(evidence.hits)
    judged = judge(question, evidence, units)
    if judged.reason is not None:
        nothing = abstain(judged.reason, question, language)
        return replace(nothing, answerability=judged.answerability)
    if evidence.overview:
        return _overview(evidence, units, max_units)
    limits = LIMITS[tier]
    if max_units is not None:
        limits = replace(limits, max_units=max(1, max_units))
    nearness = None
    if embed is not None and question_vector is not None:
        nearness = partial(_nearness, embed, question_vector)
    hits, n_found = with_continuations(evidence), len(evidence.hits)
    if len(hits) > len(evidence.hits):
        evidence = replace(evidence, hits=hits)
        units = split_hits(hits)
    request = _Request(question, evidence, n_found, limits, max_tokens, nearness)
    answer = Composition(hits)
    parts = judged.covered or real_parts(question, evidence)
    written = _write(request, parts, units, answer, headed=tier is Tier.RESEARCH)
    weak = [part for part in evidence.sub_queries if judged.covered and part not in judged.covered]
    missing = [
        part
        for part in dict.fromkeys((*weak, *evidence.uncovered))
        if not answered(part, question, written)
    ]
    for part in missing:
        answer.heading(phrase("uncovered", language).format(readable(part)))
    likely = judged.answerability
    return replace(answer.answer(), uncovered=tuple(missing), answerability=likely)


def _overview(evidence: Evidence, units: Sequence[Unit], max_units: int | None) -> Answer:
    """Return how the pages begin that stand for the whole, in the order of the hits."""
    answer = Composition(evidence.hits)
    answer.units(openings(units, MOST if max_units is None else max(1, max_units)), {})
    return answer.answer()


@dataclass(frozen=True, slots=True)
class _Request:
    """What every part of an answer is made from."""

    question: str
    evidence: Evidence
    n_found: int
    limits: Limits
    max_tokens: int
    nearness: Callable[[Sequence[str]], Sequence[float]] | None = None


def _nearness(
    embed: Embed, question_vector: NDArray[np.float32], texts: Sequence[str]
) -> list[float]:
    """Return the cosine of each text to the question."""
    return [float(value) for value in embed(texts) @ question_vector]


def _chosen(request: _Request, question: str, units: Sequence[Unit]) -> Choice:
    hits = request.evidence.hits
    read, scored = score_units(question, units, request.evidence, request.n_found)
    if request.nearness is not None and question == request.question:
        scored = settle_tie(scored, request.nearness)
    choice = choose(read, scored, request.limits, request.max_tokens, hits, request.n_found)
    return replace(choice, units=[narrowed(unit, read.terms.keys()) for unit in choice.units])


def _write(
    request: _Request,
    parts: Sequence[str],
    units: Sequence[Unit],
    answer: Composition,
    *,
    headed: bool,
) -> list[Unit]:
    """Write what answers the question, or each of its parts, and return what was written.

    Args:
        request: The question and its limits; the parts share them.
        parts: Of the question; with none it is answered as a whole.
        units: Of all hits.
        answer: Takes the text.
        headed: Each part stands under its sub-question, else all are brought into one order.
    """
    hits = request.evidence.hits
    if not parts:
        choice = _chosen(request, request.question, units)
        answer.units(reading_order(choice.units, hits), choice.left_out)
        return choice.units
    found = _of_parts(request, parts, units)
    everything = [unit for part in found for unit in part.units]
    left_out = {place: n for part in found for place, n in part.left_out.items()}
    if not headed or len(found) <= 1:
        answer.units(reading_order(everything, hits), left_out)
        return everything
    for part in found:
        answer.heading(readable(part.text))
        answer.units(reading_order(part.units, hits), left_out)
    return everything


def _of_parts(request: _Request, parts: Sequence[str], units: Sequence[Unit]) -> list[Part]:
    """Return what answers each part; a unit is quoted once, where it is first needed."""
    per_part = replace(
        request,
        limits=replace(
            request.limits, max_units=max(1, round(request.limits.max_units / len(parts)))
        ),
        max_tokens=request.max_tokens // len(parts),
    )
    hits = request.evidence.hits
    seen: set[tuple[int, int]] = set()
    found: list[Part] = []
    for text in parts:
        own = [unit for unit in units if hits[unit.hit].sub_query == text] or units
        choice = _chosen(per_part, text, own)
        fresh = [unit for unit in choice.units if (unit.hit, unit.order) not in seen]
        seen.update((unit.hit, unit.order) for unit in fresh)
        if fresh:
            found.append(Part(text, fresh, choice.left_out))
    return found
