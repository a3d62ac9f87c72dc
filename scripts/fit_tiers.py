"""Fit the offline tier classifier and report how it does on sources it never saw.

    python scripts/fit_tiers.py tiers.jsonl [--lookups F] [--questions F F] --report
    python scripts/fit_tiers.py tiers.jsonl [--lookups F] [--questions F F] --write

Two models: one tells chatter (T0) from questions, one tells T1 to T3 apart. ``--lookups`` are
further questions of one help topic each (field ``text``), taken as T1; ``--questions`` are
questions of unknown tier (field ``rewrite``), which only say what chatter is not. Both help to
fit; neither is ever counted in the report.

Needs numpy alone. The label of a row follows from the source it came from, so a split by row
measures how well the style of a source is recognised; only the split by source says anything
about the questions of users.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.classify.features import extract_features
from fingerpost.classify.tier import LocalClassifier

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Figures = dict[str, object]
LABELS = ("T0", "T1", "T2", "T3")
UNKNOWN = -1
RIDGE = {"chatter": 10.0, "tier": 4.0}
SOURCE_POWER = 0.6
ROUNDS = 400
LARGEST_EXTRA = 300
WEIGHTS = Path(__file__).parents[1] / "src/fingerpost/classify/tier_weights.json"


@dataclass(frozen=True)
class Rows:
    """Questions as a matrix; tier -1 where only 'not chatter' is known."""

    texts: list[str]
    names: list[str]
    matrix: Floats
    tiers: Ints
    sources: NDArray[np.str_]
    counted: NDArray[np.bool_]


@dataclass(frozen=True)
class Fitted:
    """Weights (features + 1, options) of both models, and their temperatures."""

    chatter: Floats
    tier: Floats
    heat: tuple[float, float] = (1.0, 1.0)


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def load(files: list[Path], lookups: list[Path], questions: list[Path]) -> Rows:
    """Read all rows, those of low label confidence left out, extra files cut to a sample."""
    found: list[tuple[str, int, str, bool]] = []
    for path in files:
        found += [
            (row["text"], LABELS.index(row["tier"]), row["source"], True)
            for row in read_jsonl(path)
            if row.get("label_confidence") != "low"
        ]
    pick = random.Random(0)
    for paths, field, tier in ((lookups, "text", 1), (questions, "rewrite", UNKNOWN)):
        for path in paths:
            texts = [row[field] for row in read_jsonl(path)]
            chosen = pick.sample(texts, min(LARGEST_EXTRA, len(texts)))
            found += [(text, tier, path.stem, False) for text in chosen]
    features = [extract_features(text) for text, *_ in found]
    names = sorted({name for row in features for name in row})
    column = {name: position for position, name in enumerate(names)}
    matrix = np.zeros((len(found), len(names)))
    for position, row in enumerate(features):
        for name, value in row.items():
            matrix[position, column[name]] = value
    return Rows(
        [row[0] for row in found],
        names,
        matrix,
        np.array([row[1] for row in found]),
        np.array([row[2] for row in found]),
        np.array([row[3] for row in found]),
    )


def row_weights(classes: Ints, sources: NDArray[np.str_]) -> Floats:
    """Give each class the same weight, and within it each source its size to a power < 1."""
    weights = np.zeros(len(classes))
    kinds = sorted(set(classes))
    for kind in kinds:
        for source in set(sources[classes == kind]):
            rows = (classes == kind) & (sources == source)
            weights[rows] = float(rows.sum()) ** (SOURCE_POWER - 1)
        weights[classes == kind] /= weights[classes == kind].sum()
    return weights * len(classes) / len(kinds)


def fit_logistic(matrix: Floats, classes: Ints, weights: Floats, ridge: float) -> Floats:
    """Return weights (features + 1, classes) of a ridge-penalised multinomial model.

    Accelerated descent under the fixed curvature bound of Boehning (1992): the Hessian of the
    softmax lies below half the weighted Gram matrix, so one inverse serves every step.
    """
    design = np.hstack([matrix, np.ones((len(matrix), 1))])
    penalty = np.full((design.shape[1], 1), ridge)
    penalty[-1] = 1e-3
    gram = 0.5 * (design * weights[:, None]).T @ design + np.diag(penalty[:, 0])
    inverse = np.linalg.inv(gram)
    target = np.eye(int(classes.max()) + 1)[classes]
    found = np.zeros((design.shape[1], target.shape[1]))
    ahead, pace = found.copy(), 1.0
    for _ in range(ROUNDS):
        slope = design.T @ ((softmax(design @ ahead) - target) * weights[:, None])
        following = ahead - inverse @ (slope + penalty * ahead)
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = following + (pace - 1) / faster * (following - found)
        moved = float(np.abs(following - found).max())
        found, pace = following, faster
        if moved < 1e-3:
            break
    return found


def softmax(scores: Floats) -> Floats:
    """Return probabilities by row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    total: Floats = powers / powers.sum(axis=1, keepdims=True)
    return total


def fit(rows: Rows, kept: NDArray[np.bool_]) -> Fitted:
    """Return both models fitted on the rows kept."""
    is_question = (rows.tiers[kept] != 0).astype(np.int64)
    chatter = fit_logistic(
        rows.matrix[kept],
        is_question,
        row_weights(is_question, rows.sources[kept]),
        RIDGE["chatter"],
    )
    graded = kept & (rows.tiers > 0)
    tier = fit_logistic(
        rows.matrix[graded],
        rows.tiers[graded] - 1,
        row_weights(rows.tiers[graded] - 1, rows.sources[graded]),
        RIDGE["tier"],
    )
    return Fitted(chatter, tier)


def held_out_scores(rows: Rows) -> tuple[Floats, Floats]:
    """Return the scores of both models for each counted row, by models blind to its source."""
    chatter, tier = np.zeros((len(rows.tiers), 2)), np.zeros((len(rows.tiers), 3))
    for source in sorted(set(rows.sources[rows.counted])):
        held = rows.sources == source
        model = fit(rows, ~held)
        chatter[held] = rows.matrix[held] @ model.chatter[:-1] + model.chatter[-1]
        tier[held] = rows.matrix[held] @ model.tier[:-1] + model.tier[-1]
    return chatter, tier


def fit_temperature(scores: Floats, classes: Ints) -> float:
    """Return the divisor of the scores under which the true classes are likeliest."""
    grid = np.geomspace(0.4, 4, 60)
    chosen = np.arange(len(classes))
    losses = [-np.log(softmax(scores / heat)[chosen, classes] + 1e-12).mean() for heat in grid]
    return float(grid[int(np.argmin(losses))])


def temperatures(rows: Rows, chatter: Floats, tier: Floats) -> tuple[float, float]:
    """Return the temperature of each model, from predictions for sources it never saw."""
    counted, graded = rows.counted, rows.counted & (rows.tiers > 0)
    return (
        fit_temperature(chatter[counted], (rows.tiers[counted] != 0).astype(np.int64)),
        fit_temperature(tier[graded], rows.tiers[graded] - 1),
    )


def predict(rows: Rows, chatter: Floats, tier: Floats, heat: tuple[float, float]) -> Floats:
    """Return probabilities by row as the shipped classifier would combine these scores."""
    out = np.zeros((len(rows.texts), len(LABELS)))
    trivial, graded = softmax(chatter / heat[0])[:, 0], softmax(tier / heat[1])
    for position, text in enumerate(rows.texts):
        features = extract_features(text)
        scores = LocalClassifier.combine(
            text, features, float(trivial[position]), [float(p) for p in graded[position]]
        )
        out[position] = [scores[label] for label in LABELS]
    return out


def f1_by_tier(tiers: Ints, predicted: Ints) -> list[float]:
    """Return F1 of each tier."""
    both = [((tiers == tier) & (predicted == tier)).sum() for tier in range(len(LABELS))]
    sizes = [(tiers == tier).sum() + (predicted == tier).sum() for tier in range(len(LABELS))]
    return [float(2 * hit / max(1, size)) for hit, size in zip(both, sizes, strict=True)]


def calibration_error(confidence: Floats, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [
        abs(confidence[bins == place].mean() - right[bins == place].mean()) * (bins == place).mean()
        for place in set(bins)
    ]
    return float(sum(gaps))


def measured(rows: Rows) -> Figures:
    """Return the leave-one-source-out result: figures, F1 and confusion by tier, each source."""
    chatter, tier = held_out_scores(rows)
    heat = temperatures(rows, chatter, tier)
    scores = predict(rows, chatter, tier, heat)[rows.counted]
    tiers, sources = rows.tiers[rows.counted], rows.sources[rows.counted]
    predicted = scores.argmax(axis=1)
    f1, right, sure = f1_by_tier(tiers, predicted), predicted == tiers, scores.max(axis=1)
    low = sure < 0.7
    final = np.minimum(predicted + low, len(LABELS) - 1)
    figures = {
        "macro-F1": np.mean(f1),
        "accuracy": right.mean(),
        "ECE": calibration_error(sure, right),
        "temperature of chatter": heat[0],
        "temperature of tier": heat[1],
        "share below 0.7": low.mean(),
        "right below 0.7": right[low].mean(),
        "right from 0.7": right[~low].mean(),
        "too cheap before escalation": (predicted < tiers).mean(),
        "too cheap after escalation": (final < tiers).mean(),
        "macro-F1 after escalation": np.mean(f1_by_tier(tiers, final)),
    }
    groups = Counter(zip(tiers.tolist(), sources.tolist(), strict=True))
    return {
        "n": len(right),
        **{name: round(float(value), 3) for name, value in figures.items()},
        "by tier": [
            {"tier": label, "F1": round(f1[position], 3), **counted(predicted[tiers == position])}
            for position, label in enumerate(LABELS)
        ],
        "by held-out source": [
            {
                "source": source,
                "tier": LABELS[position],
                "n": size,
                "right": round(float(right[(sources == source) & (tiers == position)].mean()), 3),
                **counted(predicted[(sources == source) & (tiers == position)]),
            }
            for (position, source), size in sorted(groups.items())
        ],
    }


def counted(predicted: Ints) -> dict[str, int]:
    """Return how many rows were taken for each tier."""
    counts = np.bincount(predicted, minlength=len(LABELS))
    return {f"as {label}": int(n) for label, n in zip(LABELS, counts, strict=True)}


def model_value(names: list[str], weights: Floats, labels: list[str], heat: float) -> object:
    """Return a model as JSON, features that say nothing left out."""
    rows = zip(names, weights[:-1], strict=True)
    return {
        "format": 1,
        "labels": labels,
        "temperature": round(heat, 3),
        "bias": [round(float(number), 3) for number in weights[-1]],
        "weights": {
            name: [round(float(number), 3) for number in row]
            for name, row in rows
            if np.abs(row).max() >= 0.005
        },
    }


def write(rows: Rows, path: Path) -> None:
    """Fit on all rows, take the temperatures from held-out sources, write the file."""
    heat = temperatures(rows, *held_out_scores(rows))
    model = fit(rows, np.ones(len(rows.tiers), dtype=bool))
    value = {
        "about": "Written by scripts/fit_tiers.py: one weight per option for each feature.",
        "chatter": model_value(rows.names, model.chatter, ["chatter", "question"], heat[0]),
        "tier": model_value(rows.names, model.tier, list(LABELS[1:]), heat[1]),
    }
    text = json.dumps(value, indent=1)
    compact = re.sub(r"\[\s+([^\[\]]+?)\s+\]", _on_one_line, text)
    path.write_text(compact + "\n", "utf-8")


def _on_one_line(match: re.Match[str]) -> str:
    """Return a JSON list without line breaks."""
    return "[" + " ".join(match[1].split()) + "]"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--lookups", nargs="*", type=Path, default=[])
    parser.add_argument("--questions", nargs="*", type=Path, default=[])
    parser.add_argument("--report", action="store_true", help="print the held-out result as JSON")
    parser.add_argument("--write", action="store_true", help="write the weight file")
    chosen = parser.parse_args()
    rows = load(chosen.files, chosen.lookups, chosen.questions)
    if chosen.report:
        print(json.dumps(measured(rows)))
    if chosen.write:
        write(rows, WEIGHTS)


if __name__ == "__main__":
    main()
