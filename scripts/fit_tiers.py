"""Fit the offline tier classifier and report how it does on sources it never saw.

    python scripts/fit_tiers.py tiers.jsonl --report      leave-one-source-out, as Markdown
    python scripts/fit_tiers.py tiers.jsonl --write       fit on all rows, write the weight file

Needs numpy alone. The label of a row follows from the source it came from, so a split by row
measures how well the style of a source is recognised; only the split by source says anything
about the questions of users.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.classify.features import extract_features

Array = NDArray[np.float64]
LABELS = ("T0", "T1", "T2", "T3")
RIDGE = 10.0
SOURCE_POWER = 0.6
ROUNDS = 400
WEIGHTS = Path(__file__).parents[1] / "src/fingerpost/classify/tier_weights.json"


@dataclass(frozen=True)
class Rows:
    """Labelled questions as a matrix."""

    texts: list[str]
    names: list[str]
    matrix: Array
    tiers: NDArray[np.int64]
    sources: NDArray[np.str_]


def load(paths: list[Path]) -> Rows:
    """Read rows, those of low label confidence left out."""
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines() if line]
    rows = [row for row in map(json.loads, lines) if row.get("label_confidence") != "low"]
    features = [extract_features(row["text"]) for row in rows]
    names = sorted({name for row in features for name in row})
    column = {name: position for position, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)))
    for position, row in enumerate(features):
        for name, value in row.items():
            matrix[position, column[name]] = value
    return Rows(
        [row["text"] for row in rows],
        names,
        matrix,
        np.array([LABELS.index(row["tier"]) for row in rows]),
        np.array([row["source"] for row in rows]),
    )


def row_weights(tiers: NDArray[np.int64], sources: NDArray[np.str_]) -> Array:
    """Give each tier the same weight, and within it each source its size to a power < 1."""
    weights = np.zeros(len(tiers))
    for tier in range(len(LABELS)):
        for source in set(sources[tiers == tier]):
            rows = (tiers == tier) & (sources == source)
            weights[rows] = float(rows.sum()) ** (SOURCE_POWER - 1)
        if (tiers == tier).any():
            weights[tiers == tier] /= weights[tiers == tier].sum()
    return weights * len(tiers) / len(LABELS)


def fit(matrix: Array, tiers: NDArray[np.int64], weights: Array) -> Array:
    """Return weights (features + 1, tiers) of a ridge-penalised multinomial logistic model.

    Accelerated descent under the fixed curvature bound of Boehning (1992): the Hessian of the
    softmax lies below half the weighted Gram matrix, so one inverse serves every step.
    """
    design = np.hstack([matrix, np.ones((len(matrix), 1))])
    ridge = np.full((design.shape[1], 1), RIDGE)
    ridge[-1] = 1e-3
    gram = 0.5 * (design * weights[:, None]).T @ design + np.diag(ridge[:, 0])
    inverse = np.linalg.inv(gram)
    target = np.eye(len(LABELS))[tiers]
    found = np.zeros((design.shape[1], len(LABELS)))
    ahead, pace = found.copy(), 1.0
    for _ in range(ROUNDS):
        slope = design.T @ ((softmax(design @ ahead) - target) * weights[:, None])
        following = ahead - inverse @ (slope + ridge * ahead)
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = following + (pace - 1) / faster * (following - found)
        moved = float(np.abs(following - found).max())
        found, pace = following, faster
        if moved < 1e-4:
            break
    return found


def softmax(scores: Array) -> Array:
    """Return probabilities by row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def leave_one_source_out(rows: Rows) -> Array:
    """Return the scores (before softmax) of each row by a model that never saw its source."""
    scores = np.zeros((len(rows.tiers), len(LABELS)))
    for source in sorted(set(rows.sources)):
        held = rows.sources == source
        kept = ~held
        model = fit(
            rows.matrix[kept],
            rows.tiers[kept],
            row_weights(rows.tiers[kept], rows.sources[kept]),
        )
        scores[held] = rows.matrix[held] @ model[:-1] + model[-1]
    return scores


def fit_temperature(scores: Array, tiers: NDArray[np.int64]) -> float:
    """Return the divisor of the scores under which the true tiers are likeliest."""
    grid = np.geomspace(0.4, 4, 60)
    chosen = np.arange(len(tiers))
    losses = [-np.log(softmax(scores / heat)[chosen, tiers] + 1e-12).mean() for heat in grid]
    return float(grid[int(np.argmin(losses))])


def f1_by_tier(tiers: NDArray[np.int64], predicted: NDArray[np.int64]) -> list[float]:
    """Return F1 of each tier."""
    return [
        float(
            2
            * ((tiers == tier) & (predicted == tier)).sum()
            / max(1, (tiers == tier).sum() + (predicted == tier).sum())
        )
        for tier in range(len(LABELS))
    ]


def calibration_error(confidence: Array, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [
        abs(confidence[bins == position].mean() - right[bins == position].mean())
        * (bins == position).mean()
        for position in set(bins)
    ]
    return float(sum(gaps))


def report(rows: Rows) -> str:
    """Return the leave-one-source-out table as Markdown."""
    scores = leave_one_source_out(rows)
    predicted = scores.argmax(axis=1)
    f1 = f1_by_tier(rows.tiers, predicted)
    heat = fit_temperature(scores, rows.tiers)
    confidence = softmax(scores / heat).max(axis=1)
    right = predicted == rows.tiers
    lines = [
        f"Leave-one-source-out: n {len(right)}, macro-F1 **{np.mean(f1):.3f}**, accuracy "
        f"{right.mean():.3f}, ECE {calibration_error(confidence, right):.3f} at temperature "
        f"{heat:.2f}; below 0.7: {(confidence < 0.7).mean():.2f} of the questions "
        f"(right {right[confidence < 0.7].mean():.2f}), above: right "
        f"{right[confidence >= 0.7].mean():.2f}.",
        "",
        "| tier | F1 | " + " | ".join(f"as {label}" for label in LABELS) + " |",
        "|---|---|" + "---|" * len(LABELS),
    ]
    for tier, label in enumerate(LABELS):
        counts = np.bincount(predicted[rows.tiers == tier], minlength=len(LABELS))
        lines.append(f"| {label} | {f1[tier]:.3f} | " + " | ".join(map(str, counts)) + " |")
    lines += [
        "",
        "| held-out source | tier | n | right | as T0 / T1 / T2 / T3 |",
        "|---|---|---|---|---|",
    ]
    for (tier, source), size in sorted(Counter(zip(rows.tiers, rows.sources, strict=True)).items()):
        held = (rows.sources == source) & (rows.tiers == tier)
        counts = np.bincount(predicted[held], minlength=len(LABELS))
        lines.append(
            f"| {source} | {LABELS[tier]} | {size} | {right[held].mean():.2f} | "
            f"{' / '.join(map(str, counts))} |"
        )
    return "\n".join(lines)


def write(rows: Rows, path: Path) -> None:
    """Fit on all rows, take the temperature from held-out sources, write the file."""
    heat = fit_temperature(leave_one_source_out(rows), rows.tiers)
    model = fit(rows.matrix, rows.tiers, row_weights(rows.tiers, rows.sources))
    weights = {
        name: [round(float(value), 3) for value in row]
        for name, row in zip(rows.names, model[:-1], strict=True)
        if np.abs(row).max() >= 0.005
    }
    value = {
        "format": 1,
        "about": "Written by scripts/fit_tiers.py: one weight per tier for each feature.",
        "labels": LABELS,
        "temperature": round(heat, 3),
        "bias": [round(float(number), 3) for number in model[-1]],
        "weights": weights,
    }
    text = json.dumps(value, indent=1)
    for row in ["bias", *weights]:
        numbers = value["bias"] if row == "bias" else weights[row]
        text = text.replace(
            json.dumps(numbers, indent=1).replace("\n", "\n  "), json.dumps(numbers)
        )
        text = text.replace(json.dumps(numbers, indent=1).replace("\n", "\n "), json.dumps(numbers))
    path.write_text(text + "\n", "utf-8")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--report", action="store_true", help="print the held-out table")
    parser.add_argument("--write", action="store_true", help="write the weight file")
    chosen = parser.parse_args()
    rows = load(chosen.files)
    if chosen.report:
        print(report(rows))
    if chosen.write:
        write(rows, WEIGHTS)


if __name__ == "__main__":
    main()
