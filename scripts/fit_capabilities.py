"""Fit the confidence of capability recommendations on the dev half of the labelled questions.

    python scripts/fit_capabilities.py [--cache DIR] [--write]

A logistic function of three features, one of them without an embedding model; every pair of a
question and a tool is a row. Each question is asked of catalogues of several sizes, as hosts have
them: the server that can help alone, with two others, two others without it, and all. No feature
speaks against a capability. The threshold is that probability which nothing reaches in nine of ten
catalogues that cannot help. ``--write`` puts both into the package.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from fingerpost.capabilities import CapabilityDiscoveryEngine
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers import load_embedder

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data" / "capabilities"
WEIGHTS = ROOT / "src" / "fingerpost" / "capabilities" / "weights.json"
RIDGE = 0.05
QUIET = 0.9
Floats = np.ndarray


def built(
    files: tuple[Path, ...], *, embedder: EmbeddingModel | None, cache: Path | None
) -> CapabilityDiscoveryEngine:
    """Return the engine of some servers."""
    return CapabilityDiscoveryEngine(tools=files, embedder=embedder, cache_dir=cache)


def catalogues(one: Mapping[str, object]) -> list[tuple[Path, ...]]:
    """Return the servers that a labelled question is asked of, the same ones at each run."""
    every = tuple(sorted((DATA / "tools").glob("*.json")))
    own = [file for file in every if any(f'"{id_[5:]}"' in texts(file) for id_ in one["relevant"])]
    others = random.Random(str(one["question"])).sample(sorted({*every} - {*own}), 4)
    with_it = [(own[0],), tuple(sorted([own[0], *others[:2]]))] if own else []
    return [*with_it, tuple(sorted(others[2:])), every]


@cache
def texts(file: Path) -> str:
    """Return the text of a server's list."""
    return file.read_text(encoding="utf-8")


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
    """Return the probability that is reached in a tenth of the catalogues that cannot help."""
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
        engine = cache(partial(built, embedder=embedder, cache=options.cache))
        rows, right = [], []
        for one, files in ((each, files) for each in dev for files in catalogues(each)):
            features = engine(files).features(one["question"])
            columns = list(features)
            rows.append(np.stack(list(features.values()), axis=1).astype(float))
            ids = [item.full_id for item in engine(files).capabilities()]
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
