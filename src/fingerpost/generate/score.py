"""How well each unit answers a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fingerpost.generate.cues import STRENGTH, Want, gives, wants
from fingerpost.generate.units import Unit, UnitKind
from fingerpost.text.analyse import analyse, query_tokens
from fingerpost.types import Evidence, Hit

_ERROR_CODE = re.compile(
    r"\b(?:[A-Z]{1,8}[-_]?\d{2,6}|0x[0-9A-Fa-f]{3,}|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+|\d{3})\b"
)
_NEAR_TIE = 0.92
_MEANING = 0.6
_USUAL_TOKENS = 40
_LONG_TOKENS = 150


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the scorer sees it.

    Attributes:
        text: As asked.
        terms: Token → weight, > 0; rarer among the evidence's units weighs more.
        pairs: Tokens that follow each other in the question.
        wants: Kinds of answers that it asks for.
        codes: Error codes and constants named in it, as written.
        total: Sum of all weights.
    """

    text: str
    terms: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    wants: tuple[Want, ...]
    codes: frozenset[str]
    total: float

    def share(self, tokens: frozenset[str]) -> float:
        """Return the weighted share of its terms among the tokens, 0 to 1."""
        if not self.total:
            return 0.0
        return sum(map(self.terms.__getitem__, self.terms.keys() & tokens)) / self.total


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit with its score and the tokens that the choice among units needs.

    Attributes:
        unit: The unit.
        score: Higher answers better; comparable within one question only.
        tokens: Its index tokens.
        terms: Question terms in it or in what it leans on (headings, lead).
    """

    unit: Unit
    score: float
    tokens: frozenset[str]
    terms: frozenset[str]


# Weight of each feature; see `features`.
WEIGHTS: Mapping[str, float] = {
    "share": 1.0,
    "context": 0.45,
    "before": 0.08,
    "pairs": 0.25,
    "want": 0.2,
    "code": 0.8,
    "hit": 0.8,
    "first": 0.05,
    "heading": 0.4,
    "defines": 0.35,
    "short": -0.25,
    "long": -0.45,
    "code_unasked": -0.4,
    "code_alone": -0.15,
    "asks": -0.35,
}


def read_question(text: str, units: Sequence[frozenset[str]]) -> Question:
    """Return the question with term weights from the units among which to choose.

    Args:
        text: As asked.
        units: Token sets of these.
    """
    base = query_tokens(text)
    counts = Counter(token for tokens in units for token in tokens & base.keys())
    n_units = max(len(units), 1)
    terms = {
        token: weight * math.log(1 + (n_units - counts[token] + 0.5) / (counts[token] + 0.5))
        for token, weight in base.items()
    }
    order = [token for token in analyse(text) if token in base]
    pairs = frozenset(pairwise(order))
    codes = error_codes(text)
    return Question(text, terms, pairs, wants(text), codes, sum(terms.values()))


def error_codes(text: str) -> frozenset[str]:
    """Return the error codes and constants that a text names, as written."""
    return frozenset(_ERROR_CODE.findall(text))


def score_units(
    text: str, units: Sequence[Unit], evidence: Evidence, n_found: int
) -> tuple[Question, list[ScoredUnit]]:
    """Return the question as read and every unit with its score, in the order given.

    Args:
        text: The question.
        units: Grouped by hit, in reading order within each.
        evidence: Whose hits the units come from.
        n_found: How many of the hits were found for the question; only their units say how
            telling a term is.
    """
    sets = [frozenset(unit.tokens) for unit in units]
    among = [own for unit, own in zip(units, sets, strict=True) if unit.hit < n_found]
    question = read_question(text, among)
    headings = [heading_tokens(hit) for hit in evidence.hits]
    titles = [_title_tokens(hit) for hit in evidence.hits]
    top = max((hit.score for hit in evidence.hits), default=0.0) or 1.0
    scored: list[ScoredUnit] = []
    for at, unit in enumerate(units):
        heading = frozenset(analyse(unit.heading))
        title = subject_tokens(unit.heading) or titles[unit.hit]
        near = _Near(
            own=sets[at],
            before=_before(units, sets, at),
            above=headings[unit.hit] | heading,
            title=title,
            hit=max(evidence.hits[unit.hit].score, 0.0) / top,
            opens=unit.first and not evidence.hits[unit.hit].chunk.ordinal,
        )
        values = features(question, unit, near)
        score = sum(WEIGHTS[name] * value for name, value in values.items())
        terms = question.terms.keys() & (sets[at] | near.above)
        scored.append(ScoredUnit(unit, score, sets[at], frozenset(terms)))
    return question, scored


def settle_tie(
    scored: Sequence[ScoredUnit], nearness: Callable[[Sequence[str]], Sequence[float]]
) -> list[ScoredUnit]:
    """Return the units with the two best told apart by meaning when their scores nearly tie.

    Args:
        scored: In any order, which is kept.
        nearness: Texts to cosines with the question; called with two texts or not at all.
    """
    best = sorted(range(len(scored)), key=lambda at: -scored[at].score)[:2]
    settled = list(scored)
    if len(best) <= 1 or scored[best[1]].score < _NEAR_TIE * scored[best[0]].score:
        return settled
    cosines = nearness([scored[at].unit.text for at in best])
    for at, cosine in zip(best, cosines, strict=True):
        settled[at] = replace(scored[at], score=scored[at].score + _MEANING * cosine)
    return settled


@dataclass(frozen=True, slots=True)
class _Near:
    """The tokens of a unit and of what stands around it."""

    own: frozenset[str]
    before: frozenset[str]
    above: frozenset[str]
    title: frozenset[str]
    hit: float
    opens: bool


def features(question: Question, unit: Unit, near: _Near) -> dict[str, float]:
    """Return the feature values of a unit by the names of `WEIGHTS`, each 0 to 1."""
    own = near.own
    is_code = unit.kind is UnitKind.CODE
    likeness = _likeness(question, near.title)
    share = question.share(own)
    joined = frozenset(pairwise(unit.tokens))
    pairs = len(question.pairs & joined) / len(question.pairs) if question.pairs else 0.0
    answered = [
        STRENGTH[want] for want in question.wants if _by_kind(unit, want) or gives(unit.text, want)
    ]
    return {
        "share": share,
        "context": question.share(own | near.above) - share,
        "before": question.share(own | near.before) - share,
        "pairs": pairs,
        "want": max(answered, default=0.0),
        "code": float(any(code in unit.text for code in question.codes)),
        "hit": near.hit,
        "first": float(unit.first),
        "heading": likeness * (1.0 if unit.first else 0.6),
        "defines": float(Want.DEFINITION in question.wants and _defines(question, unit, near)),
        "long": min(max(len(unit.tokens) - _USUAL_TOKENS, 0) / _LONG_TOKENS, 1.0),
        "code_unasked": float(is_code and Want.HOW not in question.wants),
        "code_alone": float(is_code and unit.lead is None and not likeness),
        "short": float(len(own) < 4 and unit.kind is UnitKind.SENTENCE),  # noqa: PLR2004
        "asks": float(unit.text.endswith(("?", "？", "؟"))),
    }


def _likeness(question: Question, title: frozenset[str]) -> float:
    """Return how much of question and heading is shared (Jaccard), 0 to 1."""
    terms = question.terms.keys()
    shared = len(terms & title)
    return shared / (len(terms) + len(title) - shared) if shared else 0.0


def _defines(question: Question, unit: Unit, near: _Near) -> bool:
    """Return whether the unit begins with the subject and says what it is.

    So does the first sentence of a page that is named after the subject.
    """
    known = near.own & near.title & question.terms.keys()
    if near.opens and unit.kind is UnitKind.SENTENCE and known:
        return question.terms.keys() <= near.title
    start = frozenset(unit.tokens[: len(question.terms) + 3])
    return question.terms.keys() <= start and gives(unit.text, Want.DEFINITION)


def _by_kind(unit: Unit, want: Want) -> bool:
    """Return whether the form of the unit alone speaks for the kind of answer."""
    if want is Want.HOW:
        return unit.kind in {UnitKind.STEP, UnitKind.CODE}
    return want is Want.LISTING and unit.kind in {UnitKind.ITEM, UnitKind.ROW}


def heading_tokens(hit: Hit) -> frozenset[str]:
    """Return the tokens of the titles above a chunk; each of its sentences implies them."""
    return frozenset(analyse(" ".join((hit.document.title, *hit.chunk.heading_path))))


def subject_tokens(title: str) -> frozenset[str]:
    """Return the tokens of a title that are no stop words; a title may be asked like a question."""
    return frozenset(query_tokens(title))


def _title_tokens(hit: Hit) -> frozenset[str]:
    """Return the tokens of the heading right above a chunk, or of the document's title."""
    path = hit.chunk.heading_path
    return subject_tokens(path[-1] if path else hit.document.title)


def _before(units: Sequence[Unit], sets: Sequence[frozenset[str]], at: int) -> frozenset[str]:
    """Return the tokens of the unit before in the same chunk, none for its first."""
    same = at > 0 and units[at - 1].hit == units[at].hit
    return sets[at - 1] if same else frozenset()
