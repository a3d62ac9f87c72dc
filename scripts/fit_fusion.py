"""Fit the weight of words against vectors that a question decides, leave-one-set-out.

    python scripts/fit_fusion.py DATA_DIR --cache FOLDER [--passages DIR ...] [--write]

Each set is indexed by the product's own path (once: the folder is kept) and searched by the
product's own legs. The loss is the cross-entropy of the gold chunks among all candidates under
a softmax of the fused score, averaged over questions, then over sets. The weights are held
near a prior that states what design and literature say; the sets only correct it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from fingerpost.eval.cases import RetrievalCase, passage, read_cases, retrieval_case
from fingerpost.eval.index import build_index, fill_vectors, passage_ids
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers.minilm import MiniLmEmbedder
from fingerpost.retrieve import reciprocal_rank
from fingerpost.retrieve.features import features
from fingerpost.retrieve.legs import run_legs
from fingerpost.retrieve.question import ask
from fingerpost.stores.base import Reader

WEIGHTS = Path("src/fingerpost/retrieve/weights.json")
PRIOR = {"bias": -0.2, "foreign": 2.5, "identifiers": 1.0}
PULL = 0.2
SHARPNESS = 20.0
MOST_QUESTIONS = 600


@dataclass(frozen=True)
class Case:
    """One question: its features, and by candidate both scores and the passage."""

    features: dict[str, float]
    lexical: np.ndarray
    vector: np.ndarray
    passages: list[str]
    gold: frozenset[str]

    def target(self) -> np.ndarray:
        """Return the share of each candidate in the gold, best-scored chunk of a passage."""
        best: dict[str, int] = {}
        both = self.lexical + self.vector
        for row, identity in enumerate(self.passages):
            if identity in self.gold and both[row] > both[best.get(identity, row)] - 1e-12:
                best[identity] = row
        share = np.zeros(len(self.passages))
        share[list(best.values())] = 1 / max(1, len(best))
        return share


def collect(
    name: str, passages: Path, queries: Path, cache: Path, model: EmbeddingModel
) -> list[Case]:
    """Return the cases of one set, from an index that is built when it is not there."""
    rows = read_cases(passages, passage)
    cases = [c for c in read_cases(queries, retrieval_case) if c.gold]
    cases = cases[:: max(1, len(cases) // MOST_QUESTIONS)]
    store = build_index(name, rows, cache / name)
    fill_vectors(name, store, model)
    ids = passage_ids(rows)
    with store.reader() as reader:
        return [_case(reader, case, ids, model) for case in cases]


def _case(
    reader: Reader, case: RetrievalCase, ids: Mapping[str, str], model: EmbeddingModel
) -> Case:
    question = ask(reader, case.question)
    legs = run_legs(reader, question, embedder=model, within=None)
    named = features(question, legs, model.languages)
    found = {s.key: ids[s.document.path] for s in reader.chunks(legs.keys.tolist())}
    least = float(np.nanmin(legs.vector)) if legs.n_vector else 0.0
    return Case(
        named,
        legs.lexical / question.ideal,
        np.nan_to_num(legs.vector, nan=least),
        [found[key] for key in legs.keys.tolist()],
        frozenset(case.gold),
    )


def fit(sets: Sequence[Sequence[Case]], names: Sequence[str]) -> np.ndarray:
    """Return the weights in the order of ``names``."""
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    found = [
        (np.array([case.features[n] for n in names]), case, case.target(), 1 / len(cases))
        for cases in sets
        for case in cases
        if case.gold.intersection(case.passages)
    ]

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        pull = theta - prior
        total, slope = PULL * len(sets) * pull @ pull, 2 * PULL * len(sets) * pull
        for row, case, target, share in found:
            weight = 1 / (1 + np.exp(-row @ theta))
            scores = SHARPNESS * (weight * case.lexical + (1 - weight) * case.vector)
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            total -= share * float(target @ np.log(chances + 1e-12))
            spread = SHARPNESS * (chances - target) @ (case.lexical - case.vector)
            slope = slope + share * spread * weight * (1 - weight) * row
        return total, slope

    return minimize(loss, prior, jac=True, method="L-BFGS-B").x


def hits(case: Case, scores: np.ndarray) -> tuple[float, float, float]:
    """Return hit@1, hit@5 and recall@5 over passages."""
    order = np.argsort(-scores, kind="stable")
    ranked = list(dict.fromkeys(case.passages[row] for row in order))[:5]
    found = case.gold.intersection(ranked)
    return float(ranked[0] in case.gold), float(bool(found)), len(found) / len(case.gold)


def weighted(case: Case, weight: float) -> np.ndarray:
    """Return the fused score of each candidate."""
    return weight * case.lexical + (1 - weight) * case.vector


def by_rank(case: Case) -> np.ndarray:
    """Return each candidate's sum of reciprocal ranks over both legs, one to one."""
    words = [str(row) for row in np.argsort(-case.lexical, kind="stable") if case.lexical[row] > 0]
    vectors = [str(row) for row in np.argsort(-case.vector, kind="stable")]
    sums = dict(reciprocal_rank([words, vectors]))
    return np.array([sums.get(str(row), 0.0) for row in range(len(case.passages))])


def figures(cases: Sequence[Case], scores: Sequence[np.ndarray]) -> dict[str, float]:
    """Return the means over one set."""
    rows = np.array([hits(case, one) for case, one in zip(cases, scores, strict=True)])
    names = ("hit@1", "hit@5", "recall@5")
    return {name: round(float(one), 3) for name, one in zip(names, rows.mean(axis=0), strict=True)}


def decided(cases: Sequence[Case], names: Sequence[str], theta: np.ndarray) -> list[float]:
    """Return the weight of each question."""
    return [float(1 / (1 + np.exp(-theta @ [c.features[n] for n in names]))) for c in cases]


def held_out(
    name: str, found: Mapping[str, Sequence[Case]], names: Sequence[str]
) -> dict[str, object]:
    """Return the figures of one set for each way to weigh the legs, its own fit left out."""
    cases = found[name]
    rest = [other for key, other in found.items() if key != name]
    prior = np.array([PRIOR.get(n, 0.0) for n in names])
    ways: dict[str, Sequence[float]] = {
        "words": [1.0] * len(cases),
        "vectors": [0.0] * len(cases),
        "even": [0.5] * len(cases),
        "prior": decided(cases, names, prior),
    }
    if rest:
        ways["held out"] = decided(cases, names, fit(rest, names))
    return {
        "set": name,
        "n": len(cases),
        "plain RRF": figures(cases, [by_rank(case) for case in cases]),
        **{
            way: figures(cases, [weighted(c, w) for c, w in zip(cases, weights, strict=True)])
            for way, weights in ways.items()
        },
    }


def main() -> None:
    """Print each set held out as one JSON object; write the weights of all when asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--passages", type=Path, nargs="*", default=[])
    options.add_argument("--cache", type=Path, required=True)
    options.add_argument("--model", type=Path)
    options.add_argument("--sets", nargs="*")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    model = MiniLmEmbedder(given.model) if given.model else MiniLmEmbedder()
    found: dict[str, list[Case]] = {}
    for queries in sorted(given.data.glob("*_queries.jsonl")):
        name = queries.name.removesuffix("_queries.jsonl")
        places = [place / f"{name}_passages.jsonl" for place in (given.data, *given.passages)]
        place = next((p for p in places if p.exists()), None)
        if place is not None and (not given.sets or name in given.sets):
            found[name] = collect(name, place, queries, given.cache, model)
    names = list(next(iter(found.values()))[0].features)
    print(json.dumps({"sets": [held_out(name, found, names) for name in found]}))
    theta = fit(list(found.values()), names)
    fusion = {n: round(float(w), 3) for n, w in zip(names, theta, strict=True)}
    if given.write:
        stored = json.loads(WEIGHTS.read_text("utf-8"))
        stored["fusion"] = fusion
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
