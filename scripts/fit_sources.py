"""Fit when the local source router abstains and what its confidence means; report.

    python scripts/fit_sources.py DATA [--model FOLDER] [--vectors FOLDER] [--write]

DATA holds ``routing/NAME.jsonl`` and ``common/routing/NAME_sources.jsonl``. Even rows fit, odd
rows are reported: nothing is learnt about the sources themselves, only three numbers for each
kind of evidence (examples, names, words alone).
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.decide.local import LocalSourceRouter, SourceDescription
from fingerpost.lanes.providers.minilm import MiniLmEmbedder

Floats = NDArray[np.float64]
NAMES = ("clinc150", "banking77", "mtrag_collections")
OUT = Path(__file__).parents[1] / "src/fingerpost/decide/source_calibration.json"
OOS_RECALL = 0.6
FLOOR = {"examples": -1.0, "names": 0.1, "words": 0.001}


@dataclass(frozen=True)
class Scored:
    """Likeness of each question to each source, and the right source (-1: none fits)."""

    name: str
    scores: Floats
    gold: NDArray[np.int64]
    has_examples: bool


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def describe(row: dict[str, str]) -> SourceDescription:
    """Return a row of a sources file as a description."""
    return SourceDescription(
        row["id"], row.get("name", ""), row.get("description", ""), tuple(row.get("intents", ()))
    )


def score(data: Path, name: str, embedder: MiniLmEmbedder | None, vectors: Path) -> Scored:
    """Return the scores of one data set; vectors of its questions are kept in a folder."""
    sources = [describe(row) for row in rows(data / f"common/routing/{name}_sources.jsonl")]
    asked = rows(data / f"routing/{name}.jsonl")
    texts = [row.get("rewrite") or row["text"] for row in asked]
    ids = [source.id for source in sources]
    gold = np.array([ids.index(row["source"]) if row["source"] else -1 for row in asked])
    router = LocalSourceRouter(sources, embedder)
    if embedder is None:
        scores = np.stack([router.likeness(text) for text in texts])
    else:
        kept = vectors / f"fit_{name}.npy"
        if not kept.exists():
            np.save(kept, embedder.embed(texts))
        loaded = np.load(kept)
        scores = np.stack([router.likeness("", embedding=vector) for vector in loaded])
    return Scored(name, scores, gold, any(source.examples for source in sources))


def evidence(scored: Scored) -> tuple[Floats, Floats]:
    """Return columns (1, best, gap, log count) and whether the best source is right."""
    ranked = np.sort(scored.scores, axis=1)[:, ::-1]
    count = np.full(len(ranked), math.log(scored.scores.shape[1]))
    columns = np.stack(
        [np.ones(len(ranked)), ranked[:, 0], ranked[:, 0] - ranked[:, 1], count], axis=1
    )
    return columns, (scored.scores.argmax(axis=1) == scored.gold).astype(float)


def fit_platt(columns: Floats, right: Floats, weights: Floats) -> Floats:
    """Return logistic weights by Newton's method with a small ridge."""
    found = np.zeros(columns.shape[1])
    ridge = np.diag([1e-3] * columns.shape[1])
    for _ in range(40):
        chance = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weights * (chance - right)) + ridge @ found
        curve = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + ridge
        found = found - np.linalg.solve(curve, slope)
    return found


def calibrate(sets: list[Scored], kind: str, half: slice) -> dict[str, float]:
    """Return the numbers of one kind of evidence, fitted on one half of the rows."""
    parts = [evidence(scored) for scored in sets]
    columns = np.concatenate([part[0][half] for part in parts])
    right = np.concatenate([part[1][half] for part in parts])
    weights = np.concatenate(
        [np.full(len(part[1][half]), 1 / len(part[1][half])) for part in parts]
    )
    found = fit_platt(columns, right, weights * len(right) / weights.sum())
    chance = 1 / (1 + np.exp(-columns @ found))
    gold = np.concatenate([scored.gold[half] for scored in sets])
    none = chance[gold < 0]
    # Words alone are too weak to tell a foreign question from one in other words.
    learnt = len(none) > 0 and kind == "examples"
    threshold = float(np.quantile(none, OOS_RECALL)) if learnt else 0.0
    numbers = dict(zip(("bias", "best", "gap", "count"), map(float, found), strict=True))
    return {
        key: round(value, 4)
        for key, value in {**numbers, "threshold": threshold, "floor": FLOOR[kind]}.items()
    }


def judge(scored: Scored, numbers: dict[str, float], half: slice) -> str:
    """Return a Markdown row: n, accuracy, out-of-scope recall, accuracy in scope, ECE."""
    columns, _ = evidence(scored)
    keys = ("bias", "best", "gap", "count")
    chance = 1 / (1 + np.exp(-columns @ np.array([numbers[key] for key in keys])))
    none = (chance < numbers["threshold"]) | (columns[:, 1] < numbers["floor"])
    chosen = np.where(none, -1, scored.scores.argmax(axis=1))[half]
    sure, gold = np.where(none, 1 - chance, chance)[half], scored.gold[half]
    right = chosen == gold
    bins = np.minimum((sure * 10).astype(int), 9)
    ece = sum(
        abs(sure[bins == place].mean() - right[bins == place].mean()) * (bins == place).mean()
        for place in set(bins)
    )
    outside = gold < 0
    recall = f"{(chosen[outside] < 0).mean():.3f}" if outside.any() else "-"
    return (
        f"| {scored.name} | {len(gold)} | {right.mean():.3f} | "
        f"{right[~outside].mean():.3f} | {recall} | {ece:.3f} |"
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, help="folder of the embedding model")
    parser.add_argument("--vectors", type=Path, default=Path())
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    embedder = MiniLmEmbedder(chosen.model)
    with_vectors = [score(chosen.data, name, embedder, chosen.vectors) for name in NAMES]
    by_words = [score(chosen.data, name, None, chosen.vectors) for name in NAMES]
    groups = {
        "examples": [scored for scored in with_vectors if scored.has_examples],
        "names": [scored for scored in with_vectors if not scored.has_examples],
        "words": by_words,
    }
    even, odd, whole = slice(0, None, 2), slice(1, None, 2), slice(None)
    print("| data set | n | accuracy | in scope | out-of-scope recall | ECE |")
    print("|---|---|---|---|---|---|")
    for kind, sets in groups.items():
        numbers = calibrate(sets, kind, even)
        for scored in sets:
            print(judge(scored, numbers, odd) + f" {kind}")
    if chosen.write:
        kinds = {kind: calibrate(sets, kind, whole) for kind, sets in groups.items()}
        about = "Written by scripts/fit_sources.py: Platt scaling by kind of evidence."
        text = json.dumps({"about": about, "kinds": kinds}, indent=1)
        OUT.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
