"""Rankings of passages and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.eval.cases import RetrievalCase
from fingerpost.eval.measurement import Failure, Measurement, Outcome, Values, grouped
from fingerpost.eval.metrics import first_relevant, mean, ndcg_at, percentile, recall_at, share
from fingerpost.eval.plots import Bars

DEPTH = 10
_HITS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the product found for one question.

    Attributes:
        passages: Ids, best first, each once.
        searched: The question as it was searched, after follow-up rewriting.
        retrieve_ms: Wall milliseconds of retrieval without embedding the question.
        embed_ms: Wall milliseconds of embedding the question, 0 without an embedder.
        abstained: The product would not answer from this.
        scores: Passage id → relevance of its best chunk, 0 to 1.
    """

    passages: tuple[str, ...] = ()
    searched: str = ""
    retrieve_ms: float = 0.0
    embed_ms: float = 0.0
    abstained: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)


def measured(
    name: str,
    cases: Sequence[RetrievalCase],
    rankings: Sequence[Ranking],
    failures: Sequence[Failure] = (),
) -> Measurement:
    """Score the rankings of one data set, as a whole and by group."""
    pairs = list(zip(cases, rankings, strict=True))
    groups = grouped(
        {
            "languages": [case.language for case in cases],
            "answerability": [case.answerability for case in cases],
        },
        lambda places: scores([pairs[place] for place in places]),
    )
    return Measurement(
        name=name,
        values=scores(pairs),
        groups=groups,
        plots=_plots(name, pairs, groups),
        failures=failures,
        outcomes=[_outcome(case, found) for case, found in pairs],
    )


def _outcome(case: RetrievalCase, found: Ranking) -> Outcome:
    place = first_relevant(found.passages[:DEPTH], case.gold)
    return Outcome(
        case_id=case.id,
        text=case.question,
        expected=sorted(case.gold),
        got=found.passages,
        right=None if not case.gold else place is not None,
        scores=found.scores,
        more={
            "place": place,
            "searched": found.searched,
            "abstained": found.abstained,
            "lang": case.language,
        },
    )


def scores(
    pairs: Sequence[tuple[RetrievalCase, Ranking]],
) -> Values:
    """Return the measures over questions with gold, and abstention apart.

    ``mrr`` looks at the first ten passages. ``abstained`` is the share of the questions
    without gold on which the product abstains, ``abstained_with_gold`` the same of the others.
    """
    answerable = [(case, found) for case, found in pairs if case.gold]
    hopeless = [found for case, found in pairs if not case.gold]
    places = [first_relevant(found.passages[:DEPTH], case.gold) for case, found in answerable]
    values: Values = {"n": len(answerable)}
    for k in _HITS:
        values[f"hit@{k}"] = share([place is not None and place <= k for place in places])
    values["mrr"] = _mean([1 / place if place else 0.0 for place in places])
    values["ndcg@10"] = _mean(
        [ndcg_at(found.passages, case.grades, DEPTH) for case, found in answerable]
    )
    for k in _HITS[1:]:
        values[f"recall@{k}"] = _mean(
            [recall_at(found.passages, case.gold, k) for case, found in answerable]
        )
    values["p50_ms"] = percentile([found.retrieve_ms for _, found in pairs], 0.5)
    values["p50_embed_ms"] = percentile([found.embed_ms for _, found in pairs], 0.5)
    values["n_without_gold"] = len(hopeless)
    if hopeless:
        values["abstained"] = share([found.abstained for found in hopeless])
        values["abstained_with_gold"] = share([found.abstained for _, found in answerable])
    return values


def _mean(values: Sequence[float]) -> float | None:
    return mean(values) if values else None


def _plots(
    name: str,
    pairs: Sequence[tuple[RetrievalCase, Ranking]],
    groups: dict[str, dict[str, Values]],
) -> list[Bars]:
    rows = {name: scores(pairs)}
    for members in groups.values():
        rows.update({group: row for group, row in members.items() if row["n"]})
    hits = tuple(f"hit@{k}" for k in _HITS)
    more = ("mrr", "ndcg@10", "recall@5")
    return [
        Bars("Questions with a right passage among the first", hits, _bars(rows, hits)),
        Bars("Ranking as a whole", more, _bars(rows, more)),
    ]


def _bars(
    rows: dict[str, Values], series: tuple[str, ...]
) -> tuple[tuple[str, tuple[float | None, ...]], ...]:
    return tuple((row, tuple(values[one] for one in series)) for row, values in rows.items())
