"""Fit what the built-in reranker adds to the fused score, leave-one-set-out.

    python scripts/fit_rerank.py DATA_DIR --cache FOLDER [--passages DIR ...] [--write]

Each set is indexed by the product's own path (once: the folder is kept) and searched as T2 does,
up to its reranker. The loss is the cross-entropy of the gold passages among what it was given
under a softmax of the score, whose sharpness is fitted too, averaged over questions, then over
sets. Weights are >= 0 and held near zero, where the fused score decides alone.

Written by hand so far: on 2026-11-30 no fit was at least as good on each of docsfaq, hotpotqa,
mtrag_un and scifact (hit@1, hit@5, nDCG@10). Heading earns nothing, as both legs see the title and
the headings already; coverage and proximity none since coverage has its say before the reranker.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
from scipy.optimize import minimize

from fingerpost.classify.followup import earlier_questions, rewrite_follow_up
from fingerpost.eval.cases import RetrievalCase, passage, read_cases, retrieval_case
from fingerpost.eval.index import build_index, fill_vectors, passage_ids
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers.minilm import MiniLmEmbedder
from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.question import ask
from fingerpost.retrieve.rerank import signals
from fingerpost.retrieve.weights import weights
from fingerpost.stores.base import Reader
from fingerpost.types.decision import Strategy, Tier
from fingerpost.types.evidence import Hit

WEIGHTS = Path("src/fingerpost/retrieve/weights.json")
PULL = 0.002
MOST_QUESTIONS = 300
WINDOW = 5
SIGNALS = ("coverage", "heading", "identifier", "phrase", "proximity")


@dataclass(frozen=True)
class Case:
    """One question: fused score, signals and passage of each hit that is to be reranked."""

    fused: np.ndarray
    signals: np.ndarray
    passages: list[str]
    gold: frozenset[str]

    def target(self) -> np.ndarray:
        """Return the share of each hit in the gold, the best hit of a passage."""
        best: dict[str, int] = {}
        for row, identity in enumerate(self.passages):
            if identity in self.gold:
                best.setdefault(identity, row)
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
    store = build_index(name, rows, cache / f"{name}-auto.index")
    fill_vectors(name, store, model)
    ids = passage_ids(rows)
    with store.reader() as reader:
        return [anyio.run(_case, reader, case, ids, model) for case in cases]


async def _case(
    reader: Reader, case: RetrievalCase, ids: Mapping[str, str], model: EmbeddingModel
) -> Case:
    history = case.history[-WINDOW:]
    text = rewrite_follow_up(case.question, history) or case.question
    context = earlier_questions(history)
    given: list[Hit] = []

    def keep(_question: str, hits: Sequence[Hit], _top_n: int) -> Sequence[Hit]:
        given.extend(hits)
        return hits

    tier = Tier.MULTI_SOURCE
    request = RetrieveRequest(text, tier, Strategy.for_tier(tier), top_k=10, context=context)
    await retrieve(reader, request, RetrieveTools(embedder=model, rerank=keep))
    question = ask(reader, text, context)
    found = signals(question, given)
    return Case(
        np.array([hit.score for hit in given]),
        np.array([[one.get(name, 0.0) for name in SIGNALS] for one in found]),
        [ids[hit.document.path] for hit in given],
        frozenset(case.gold),
    )


def fit(sets: Sequence[Sequence[Case]]) -> np.ndarray:
    """Return the weights of the signals, the fused score counting 1."""
    found = [
        (np.column_stack([case.fused, case.signals]), case.target(), 1 / len(cases))
        for cases in sets
        for case in cases
        if case.gold.intersection(case.passages) and case.signals.size
    ]

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        added = np.concatenate([[0.0], theta[1:]])
        total, slope = PULL * len(sets) * added @ added, 2 * PULL * len(sets) * added
        for rows, target, share in found:
            scores = rows @ theta
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            total -= share * float(target @ np.log(chances + 1e-12))
            slope = slope + share * rows.T @ (chances - target)
        return total, slope

    start = np.array([10.0, *[0.5] * len(SIGNALS)])
    bounds = [(1.0, None), *[(0.0, None)] * len(SIGNALS)]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return best[1:] / best[0]


def figures(cases: Sequence[Case], theta: np.ndarray) -> dict[str, float]:
    """Return the means over one set: hit@1, hit@5, recall@5, nDCG@10."""
    rows = []
    for case in cases:
        scores = case.fused + (case.signals @ theta if case.signals.size else 0.0)
        order = np.argsort(-scores, kind="stable")
        ranked = list(dict.fromkeys(case.passages[row] for row in order))
        hit = [passage in case.gold for passage in ranked]
        gain = sum(1 / np.log2(n + 2) for n, is_gold in enumerate(hit[:10]) if is_gold)
        ideal = sum(1 / np.log2(n + 2) for n in range(min(10, len(case.gold))))
        recall = len(case.gold.intersection(ranked[:5])) / len(case.gold)
        rows.append((any(hit[:1]), any(hit[:5]), recall, gain / ideal))
    names = ("hit@1", "hit@5", "recall@5", "nDCG@10")
    means = np.array(rows, dtype=float).mean(axis=0)
    return {name: round(float(one), 3) for name, one in zip(names, means, strict=True)}


def main() -> None:
    """Print each set held out as one JSON object a line; write the weights of all when asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--passages", type=Path, nargs="*", default=[])
    options.add_argument("--cache", type=Path, required=True)
    options.add_argument("--sets", nargs="*")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    model = MiniLmEmbedder()
    found: dict[str, list[Case]] = {}
    for queries in sorted(given.data.glob("*_queries.jsonl")):
        name = queries.name.removesuffix("_queries.jsonl")
        places = [place / f"{name}_passages.jsonl" for place in (given.data, *given.passages)]
        place = next((p for p in places if p.exists()), None)
        if place is not None and (not given.sets or name in given.sets):
            found[name] = collect(name, place, queries, given.cache, model)
    shipped = np.array([weights().rerank.get(name, 0.0) for name in SIGNALS])
    for name, cases in found.items():
        rest = [other for key, other in found.items() if key != name]
        told = {"set": name, "n": len(cases), "none": figures(cases, 0 * shipped)}
        told["shipped"] = figures(cases, shipped)
        told["held out"] = figures(cases, fit(rest)) if rest else {}
        print(json.dumps(told), flush=True)
    theta = {n: round(float(w), 3) for n, w in zip(SIGNALS, fit(list(found.values())), strict=True)}
    print(json.dumps(theta))
    if given.write:
        stored = json.loads(WEIGHTS.read_text("utf-8"))
        stored["rerank"] = theta
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
