"""Fit the confidence of capability recommendations on the dev half of the labelled questions.

    python scripts/fit_capabilities.py [--cache DIR] [--write]

A logistic function of four features, two of them without an embedding model; every pair of a
question and a tool is a row. Each question is asked of catalogues of several sizes, as hosts have
them: of servers with the one that can help and without, of 5 and of 20 tools drawn at random, and
of all. No feature speaks against a capability. The threshold is that probability which nothing
reaches in four of five catalogues that cannot help. ``--write`` puts both into the package.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fingerpost.capabilities import CapabilityDiscoveryEngine
from fingerpost.lanes.providers import load_embedder

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data" / "capabilities"
WEIGHTS = ROOT / "src" / "fingerpost" / "capabilities" / "weights.json"
RIDGE = 0.05
QUIET = 0.8
Floats = np.ndarray


def catalogues(one: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the tools that a labelled question is asked of, the same ones at each run."""
    drawn = random.Random(one["question"])
    right = {id_.removeprefix("tool:") for id_ in one["relevant"]}
    servers = list(tools_by_server())
    own = [tools for tools in servers if right & {tool["name"] for tool in tools}]
    others = drawn.sample([tools for tools in servers if tools not in own], 4)
    pool = [tool for tools in servers for tool in tools if tool["name"] not in right]
    every = [tool for tools in servers for tool in tools]
    found = [others[2] + others[3], drawn.sample(pool, 5), drawn.sample(pool, 20), every]
    if own:
        helping = next(tool for tool in own[0] if tool["name"] in right)
        found += [own[0], own[0] + others[0] + others[1]]
        found += [[helping, *drawn.sample(pool, n)] for n in (4, 19)]
    return found


@cache
def tools_by_server() -> tuple[list[dict[str, Any]], ...]:
    """Return the tools of each server."""
    files = sorted((DATA / "tools").glob("*.json"))
    return tuple(json.loads(file.read_text(encoding="utf-8"))["tools"] for file in files)


def logistic(rows: Floats, right: Floats) -> Floats:
    """Return the weights of a ridge-penalised logistic model by Newton's method, bias last."""
    design = np.hstack([rows, np.ones((len(rows), 1))])
    penalty = np.full(design.shape[1], RIDGE)
    penalty[-1] = 0.0
    found = np.zeros(design.shape[1])
    found[-1] = np.log(right.mean() / (1 - right.mean()))
    for _ in range(100):
        chance = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (chance - right) + penalty * found
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        found -= 0.7 * step
        if np.abs(step).max() < 1e-6:
            break
    return found


def monotone(rows: Floats, right: Floats) -> Floats:
    """Return the weights of `logistic`, features that would get one below 0 left out as 0."""
    kept = list(range(rows.shape[1]))
    while (found := logistic(rows[:, kept], right))[:-1].min() < 0:
        del kept[int(found[:-1].argmin())]
    out = np.zeros(rows.shape[1] + 1)
    out[[*kept, -1]] = found
    return out


def quiet_threshold(chances: list[Floats], right: list[Floats]) -> float:
    """Return the probability that is reached in a fifth of the catalogues that cannot help."""
    best = [
        chance.max() for chance, is_right in zip(chances, right, strict=True) if not is_right.any()
    ]
    return round(float(np.quantile(best, QUIET)), 3)


def main() -> None:
    """Fit both models; print them, or write them into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, help="folder of kept vectors")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    asked = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    dev = [one for one in asked if one["half"] == "dev"]
    out: dict[str, Mapping[str, float] | float] = {}
    for name, embedder in (("words", None), ("both", load_embedder("minilm"))):
        rows, right, known = [], [], {}
        for one, tools in ((each, tools) for each in dev for tools in catalogues(each)):
            names = tuple(tool["name"] for tool in tools)
            engine = known.get(names) or CapabilityDiscoveryEngine(
                tools=[tools], embedder=embedder, cache_dir=options.cache
            )
            known[names] = engine
            features = engine.features(one["question"])
            columns = list(features)
            rows.append(np.stack(list(features.values()), axis=1).astype(float))
            ids = [item.full_id for item in engine.capabilities()]
            right.append(np.isin(ids, one["relevant"]).astype(float))
        found = monotone(np.vstack(rows), np.concatenate(right))
        chances = [1 / (1 + np.exp(-(each @ found[:-1] + found[-1]))) for each in rows]
        out[name] = {c: round(float(w), 3) for c, w in zip([*columns, "bias"], found, strict=True)}
        out[f"threshold_{name}"] = quiet_threshold(chances, right)
    text = json.dumps(out, indent=2) + "\n"
    sys.stdout.write(text)
    if options.write:
        WEIGHTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
