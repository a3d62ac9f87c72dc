"""Take each part of retrieval out, one at a time: quality and CPU time side by side.

    python benchmarks/ablation.py --data ../shared/data --cache CACHE [--most 150] [--tier 2]

A part is taken out by a setting where the product has one, else by putting something that does
nothing in its place. The local model, no chat model. Quality is of the first ten passages; CPU
milliseconds are those of the process for the five hits that an answer rests on, the median over
all sets, the question's vector known.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from fingerpost.classify.followup import earlier_questions, rewrite_follow_up
from fingerpost.eval.cases import RetrievalCase, dataset_name, passage, read_cases, retrieval_case
from fingerpost.eval.index import build_index, fill_vectors, passage_ids
from fingerpost.eval.ranking import DEPTH, Ranking, scores
from fingerpost.eval.retrieval import RememberedEmbedder
from fingerpost.eval.subjects import embedder_chooser
from fingerpost.retrieve import (
    RetrieveRequest,
    RetrieveTools,
    dispatch,
    hybrid,
    investigate,
    retrieve,
    score,
    search,
    stages,
)
from fingerpost.retrieve.legs import run_legs
from fingerpost.stores.base import Reader
from fingerpost.types.decision import Strategy, Tier
from fingerpost.types.evidence import Hit
from machine import RESULTS, keep
from quality import pairs

ROOT = Path(__file__).parent.parent
SETS = ("docsfaq", "hotpotqa", "mtrag_un", "scifact", "cranfield", "cisi")
MEASURES = ("hit@1", "hit@5", "recall@5", "ndcg@10")
RESTS_ON = 5
WIDER = 50
TIMED = 25
Swaps = Sequence[tuple[ModuleType, str, Callable[..., Any]]]


@dataclass(frozen=True)
class Part:
    """What is taken out.

    Attributes:
        name: As it stands in the table.
        swaps: Module, name, and what takes its place.
        tools: Settings that take it out.
        embedded: Search by vectors as well.
    """

    name: str
    swaps: Swaps = ()
    tools: RetrieveTools = field(default_factory=RetrieveTools)
    embedded: bool = True


def as_given(hits: Sequence[Hit], *_: object) -> list[Hit]:
    """Return the hits as they are."""
    return list(hits)


def alone(hits: Sequence[Hit], *_: object) -> list[list[Hit]]:
    """Return each hit as a group of its own."""
    return [[hit] for hit in hits]


def leading(groups: Sequence[Sequence[Hit]], *_: object) -> list[Hit]:
    """Return the first hit of each group."""
    return [group[0] for group in groups]


def first(_: object, hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the first ``k`` hits as they are."""
    return list(hits[:k])


def first_of(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the first ``k`` hits as they are."""
    return list(hits[:k])


def of_vectors(reader: Reader, question: Any, **more: Any) -> Any:
    """Run the vector leg alone."""
    return run_legs(reader, replace(question, tokens={}), **more)


def fused_alone(fused: float, _: float) -> float:
    """Return the fused score."""
    return fused


EVERYTHING = Part("everything on")
NO_GRAPH = Part("graph", tools=RetrieveTools(graph_enabled=False))
NO_RERANK = Part("rerank", [(stages, "rerank", first)])
NO_JOIN = Part(
    "neighbours joined",
    [
        (dispatch, "joined_neighbours", as_given),
        (dispatch, "filled", as_given),
        (investigate, "filled", as_given),
    ],
)
PARTS: Mapping[int, Sequence[Part]] = {
    1: (
        EVERYTHING,
        Part("vector leg", embedded=False),
        Part("words leg", [(hybrid, "run_legs", of_vectors)]),
        Part("weight by question (half and half)", [(hybrid, "_weight", lambda *_: (0.5, {}))]),
        Part("coverage", [(hybrid, "covering", fused_alone), (score, "covering", fused_alone)]),
        Part("near-duplicates", [(hybrid, "grouped", alone), (hybrid, "one_of_each", leading)]),
        Part("naming", [(hybrid, "raise_named", as_given)]),
        Part("spread", [(hybrid, "spread", first_of)]),
    ),
    2: (
        EVERYTHING,
        NO_GRAPH,
        Part("second step of the walk", tools=RetrieveTools(graph_depth=1)),
        NO_RERANK,
        NO_JOIN,
        Part("spread", [(hybrid, "spread", first_of), (dispatch, "spread", first_of)]),
    ),
    3: (
        EVERYTHING,
        Part("sub-questions", [(investigate, "split", lambda *_: [])]),
        Part("research", tools=RetrieveTools(deep_research_enabled=False)),
        NO_GRAPH,
        NO_RERANK,
        NO_JOIN,
    ),
}


@dataclass(frozen=True)
class DataSet:
    """One set, its index open.

    Attributes:
        name: Of the files.
        reader: The index.
        embedder: Keeps the vectors of questions between the parts.
        ids: Path in the index → passage id.
        cases: Those that have a right passage.
    """

    name: str
    reader: Reader
    embedder: RememberedEmbedder
    ids: Mapping[str, str]
    cases: Sequence[RetrievalCase]


def opened(stack: ExitStack, data: Path, cache: Path, most: int) -> list[DataSet]:
    """Open every set, building its index when it is not there."""
    choose, found = embedder_chooser("auto"), []
    for passage_file, query_file in pairs(data):
        name = dataset_name(query_file)
        if name not in SETS:
            continue
        rows = read_cases(passage_file, passage)
        cases = [case for case in read_cases(query_file, retrieval_case) if case.gold]
        store = build_index(name, rows, cache / f"{name}-auto.index")
        stack.callback(store.close)
        model = choose(store)
        if model is None:
            raise SystemExit("the local model is not installed")
        fill_vectors(name, store, model)
        reader = stack.enter_context(store.reader())
        kept = cases[:: -(-len(cases) // most)]
        found.append(DataSet(name, reader, RememberedEmbedder(model), passage_ids(rows), kept))
    return found


class Asking:
    """Asks one set as the product would, with one part taken out."""

    def __init__(self, one: DataSet, tier: int, part: Part, loop: asyncio.Runner) -> None:
        self._set, self._tier, self._loop = one, Tier(tier), loop
        self._embedder = one.embedder if part.embedded else None
        self._tools = replace(part.tools, embedder=self._embedder)

    def hits(self, case: RetrievalCase, k: int) -> Sequence[Hit]:
        """Return ``k`` hits for a question."""
        text = rewrite_follow_up(case.question, case.history[-RESTS_ON:]) or case.question
        earlier = earlier_questions(case.history[-RESTS_ON:])
        reader = self._set.reader
        if self._tier is Tier.LOOKUP:
            return search(reader, text, context=earlier, embedder=self._embedder, k=k).hits
        strategy = Strategy.for_tier(self._tier)
        request = RetrieveRequest(text, self._tier, strategy, top_k=k, context=earlier)
        return self._loop.run(retrieve(reader, request, self._tools)).hits

    def ranking(self, case: RetrievalCase) -> Ranking:
        """Return the first ten passages."""
        hits = self.hits(case, DEPTH)
        passages = list(dict.fromkeys(self._set.ids[hit.document.path] for hit in hits))
        if len(passages) < DEPTH <= len(hits):
            hits = self.hits(case, WIDER)
            more = (self._set.ids[hit.document.path] for hit in hits)
            passages = list(dict.fromkeys([*passages, *more]))
        return Ranking(tuple(passages[:DEPTH]))

    def cpu_ms(self, case: RetrievalCase) -> float:
        """Return the CPU time of one question, all threads."""
        began = time.process_time()
        self.hits(case, RESTS_ON)
        return (time.process_time() - began) * 1000


def measured(
    tier: int, part: Part, sets: Sequence[DataSet], loop: asyncio.Runner
) -> dict[str, Any]:
    """Return quality by set and CPU time with one part taken out."""
    by_set: dict[str, dict[str, float]] = {}
    spent: list[float] = []
    with ExitStack() as stack:
        for module, name, instead in part.swaps:
            stack.enter_context(patch.object(module, name, instead))
        for one in sets:
            asking = Asking(one, tier, part, loop)
            values = scores([(case, asking.ranking(case)) for case in one.cases])
            by_set[one.name] = {name: round(float(values[name] or 0.0), 4) for name in MEASURES}
            spent += [asking.cpu_ms(case) for case in one.cases[:TIMED]]
    mean = {m: round(statistics.fmean(v[m] for v in by_set.values()), 4) for m in MEASURES}
    return {
        "out": part.name,
        "sets": by_set,
        "mean": mean,
        "cpu_ms": round(statistics.median(spent), 2),
    }


def kept_tiers(tiers: Sequence[int]) -> dict[str, Any]:
    """Return what was kept of the tiers that are not measured now."""
    path = RESULTS / "ablation.json"
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["tiers"]
    return {name: one for name, one in found.items() if int(name[1:]) not in tiers}


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, required=True, help="keeps the indexes")
    parser.add_argument("--most", type=int, default=150, help="questions of a set")
    parser.add_argument("--tier", type=int, choices=sorted(PARTS), action="append")
    options = parser.parse_args()
    tiers = options.tier or sorted(PARTS)
    with ExitStack() as stack:
        sets = opened(stack, options.data, options.cache, options.most)
        loop = stack.enter_context(asyncio.Runner())
        for tier in tiers:
            rows = []
            for part in PARTS[tier]:
                rows.append(measured(tier, part, sets, loop))
                print(f"T{tier} without {part.name}: {rows[-1]['mean']}", flush=True)
            counts = {one.name: len(one.cases) for one in sets}
            every = {**kept_tiers([tier]), f"T{tier}": {"questions": counts, "rows": rows}}
            line = "python benchmarks/ablation.py --data DATA --cache CACHE"
            keep("ablation", {"command": line, "tiers": dict(sorted(every.items()))})


if __name__ == "__main__":
    main()
