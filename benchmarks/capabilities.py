"""Recommendation of tools: quality on labelled questions, and time at 1,000 tools.

    python benchmarks/capabilities.py [--cache DIR]

Data: ``benchmarks/data/capabilities`` (its README tells where tools and labels are from). Beside
ours in the same run stands plain BM25 (k1 1.2, b 0.75) over the lower-cased words of name,
description, parameter names and their descriptions. Weights and threshold of ours were fitted on
the dev half; the tools of the held half's answers are of other servers.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fingerpost import CapabilityDiscoveryEngine
from fingerpost.capabilities.parameters import parameters_of
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers import load_embedder
from machine import keep

DATA = Path(__file__).parent / "data" / "capabilities"
AT = 5
SHOWN = 10
N_TOOLS = 1_000
BINS = 10


class PlainBm25:
    """BM25 as textbooks have it, over ``\\w+`` of the lower-cased text."""

    def __init__(self, tools: Sequence[dict[str, Any]]) -> None:
        self.bags = [Counter(self.words(self.text(tool))) for tool in tools]
        self.mean = statistics.fmean(sum(bag.values()) for bag in self.bags)
        self.held = Counter(word for bag in self.bags for word in bag)

    @staticmethod
    def words(text: str) -> list[str]:
        return re.findall(r"[^\W_]+", text.lower())

    @staticmethod
    def text(tool: dict[str, Any]) -> str:
        taken = [f"{name} {said}" for name, said in parameters_of(tool.get("inputSchema"))]
        return " ".join([tool["name"], tool.get("title", ""), tool.get("description", ""), *taken])

    def scores(self, question: str, k1: float = 1.2, b: float = 0.75) -> np.ndarray:
        out = np.zeros(len(self.bags))
        for word in self.words(question):
            n = self.held[word]
            if not n:
                continue
            idf = math.log(1 + (len(self.bags) - n + 0.5) / (n + 0.5))
            for row, bag in enumerate(self.bags):
                if word in bag:
                    norm = k1 * (1 - b + b * sum(bag.values()) / self.mean)
                    out[row] += idf * bag[word] * (k1 + 1) / (bag[word] + norm)
        return out


def built(
    files: Sequence[Path], *, embedder: EmbeddingModel | None, cache: Path | None
) -> CapabilityDiscoveryEngine:
    """Return the engine of some servers."""
    return CapabilityDiscoveryEngine(tools=files, embedder=embedder, cache_dir=cache)


def first_of_each_name(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the tools of all servers; of those with one name the first, as the engine does."""
    tools = (tool for file in files for tool in json.loads(file.read_text("utf-8"))["tools"])
    named: dict[str, dict[str, Any]] = {}
    for tool in tools:
        named.setdefault(tool["name"], tool)
    return list(named.values())


def ranked(scores: np.ndarray, ids: Sequence[str]) -> list[str]:
    """Return ids, the best first; what scored nothing is not found."""
    order = np.argsort(-scores, kind="stable")
    return [ids[row] for row in order if scores[row] > 0]


def quality(find: Callable[[str], Sequence[str]], asked: Sequence[dict[str, Any]]) -> Any:
    """Return recall@5, hit@1, hit@5 and mean reciprocal rank (of ten) by half."""
    out: dict[str, Any] = {}
    for half in ("dev", "held"):
        rows = []
        for one in asked:
            if one["half"] != half or not one["relevant"]:
                continue
            found, right = list(find(one["question"]))[:SHOWN], set(one["relevant"])
            top = found[:AT]
            ranks = [rank for rank, id_ in enumerate(found, start=1) if id_ in right]
            rows.append(
                (
                    len(right & set(top)) / min(AT, len(right)),
                    bool(right & set(top[:1])),
                    bool(right & set(top)),
                    1 / ranks[0] if ranks else 0.0,
                )
            )
        names = ("recall@5", "hit@1", "hit@5", "mrr")
        means = (statistics.fmean(column) for column in zip(*rows, strict=True))
        out[half] = {"n": len(rows), **{k: round(v, 3) for k, v in zip(names, means, strict=True)}}
    return out


def honesty(
    engine_of: Callable[[Sequence[Path]], CapabilityDiscoveryEngine],
    asked: Sequence[dict[str, Any]],
    files: Sequence[Path],
) -> dict[str, Any]:
    """Return how well confidences hold on the held half, and what is recommended for nothing.

    As hosts have them: each question is asked of the server that can help with two others beside
    it, and of three that cannot; questions that none can help with of three servers.
    """
    pairs: list[tuple[float, bool]] = []
    n: Counter[str] = Counter()
    for one in asked:
        if one["half"] != "held":
            continue
        for some, can_help in three_servers(one, files):
            found = engine_of(some).recommend(one["question"], k=AT)
            hits = [f"{item.kind}:{item.id}" in one["relevant"] for item in found]
            pairs += zip((item.confidence for item in found), hits, strict=True)
            n.update(
                {
                    f"asked, {'can' if can_help else 'cannot'} help": 1,
                    f"told something, {'can' if can_help else 'cannot'} help": bool(found),
                    "told a right one": any(hits),
                }
            )
    error = 0.0
    for low in np.arange(BINS) / BINS:
        inside = [pair for pair in pairs if low <= pair[0] < low + 1 / BINS]
        if inside:
            sure, right = (statistics.fmean(column) for column in zip(*inside, strict=True))
            error += abs(sure - right) * len(inside) / len(pairs)
    return {
        **n,
        "recommendations": len(pairs),
        "right": round(statistics.fmean(hit for _, hit in pairs), 3),
        "mean_confidence": round(statistics.fmean(sure for sure, _ in pairs), 3),
        "calibration_error": round(error, 3),
    }


def three_servers(
    one: dict[str, Any], files: Sequence[Path]
) -> list[tuple[tuple[Path, ...], bool]]:
    """Return three servers, and whether one of them can help; the same ones at each run."""
    names = [f'"{id_.removeprefix("tool:")}"' for id_ in one["relevant"]]
    own = [file for file in files if any(name in file.read_text("utf-8") for name in names)]
    others = random.Random(one["question"]).sample(sorted({*files} - {*own}), 5)
    without = (tuple(sorted(others[2:])), False)
    return [(tuple(sorted([own[0], *others[:2]])), True), without] if own else [without]


def speed(
    tools: Sequence[dict[str, Any]],
    questions: Sequence[str],
    embedder: EmbeddingModel | None,
    cache: Path | None,
) -> dict[str, Any]:
    """Return milliseconds of a recommendation among 1,000 tools: wall and CPU time."""
    many = [
        {**tool, "name": f"{tool['name']}_{round_}" if round_ else tool["name"]}
        for round_ in range(1 + N_TOOLS // len(tools))
        for tool in tools
    ][:N_TOOLS]
    began = time.perf_counter()
    engine = CapabilityDiscoveryEngine(tools=[many], embedder=embedder, cache_dir=cache)
    built = time.perf_counter() - began
    engine.recommend(questions[0])
    took, cpu = [], []
    for question in questions * 3:
        began, burnt = time.perf_counter(), time.process_time()
        engine.recommend(question)
        cpu.append((time.process_time() - burnt) * 1000)
        took.append((time.perf_counter() - began) * 1000)
    return {
        "tools": len(many),
        "build_s": round(built, 2),
        "p50_ms": round(statistics.median(took), 2),
        "p95_ms": round(float(np.percentile(took, 95)), 2),
        "p50_cpu_ms": round(statistics.median(cpu), 2),
        "p95_cpu_ms": round(float(np.percentile(cpu, 95)), 2),
    }


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, help="folder of kept vectors")
    options = parser.parse_args()
    files = sorted((DATA / "tools").glob("*.json"))
    tools = first_of_each_name(files)
    asked = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    model = load_embedder("minilm")
    plain = PlainBm25(tools)
    ids = [f"tool:{tool['name']}" for tool in tools]
    found: dict[str, Any] = {
        "tools": len(tools),
        "servers": len(files),
        "plain BM25": quality(lambda q: ranked(plain.scores(q), ids), asked),
    }
    for name, embedder in (("words", None), ("words and meaning", model)):
        engine_of = partial(built, embedder=embedder, cache=options.cache)
        engine = engine_of(files)
        found[name] = quality(
            lambda q, engine=engine: [item.full_id for item in engine.nearest(q, k=SHOWN)], asked
        )
        found[f"{name}: confidence, held"] = honesty(engine_of, asked, files)
    questions = [one["question"] for one in asked]
    found["speed: words"] = speed(tools, questions, None, options.cache)
    found["speed: words and meaning"] = speed(tools, questions, model, options.cache)
    print(json.dumps(found, indent=2))
    print(f"kept in {keep('capabilities', found)}")


if __name__ == "__main__":
    main()
