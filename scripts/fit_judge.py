"""Fit the weights of the local judge on labelled pairs and report leave-one-dataset-out.

    python scripts/fit_judge.py ../shared/data/grounding \
        --cache CACHE.pkl [--write]

The files are JSONL with ``dataset``, ``claim``, ``source`` and ``label``; files without a
``claim`` column are passed over. For every data set the models are fitted on all the others;
the last line is the result as JSON: balanced accuracy and AUROC (supported against the rest)
beside two baselines from the same run: cosine of claim and whole source (supported at 0.6 or
more, unverifiable below 0.3), and word overlap with the threshold that is best on the other
sets. ``--write`` fits on everything and writes
``src/fingerpost/verify/weights.json``. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from fingerpost.lanes.providers.minilm import MiniLmEmbedder
from fingerpost.types.answer import Verdict
from fingerpost.verify.evidence import Reading, SourceSentences
from fingerpost.verify.features import (
    EMBEDDING_FEATURES,
    LEXICAL_FEATURES,
    Evidence,
    add_cosines,
    measure,
)
from fingerpost.verify.judge import QUOTED, Judgement, JudgeWeights, Logistic, judge, undecided
from fingerpost.verify.quote import find_quote

WEIGHTS = Path(__file__).parent.parent / "src/fingerpost/verify/weights.json"
THRESHOLDS = {"supported": 0.5, "weak": 0.3, "aligned": 0.6, "related": 0.4}
REGULARISATION = 0.05


class CachedEmbedder:
    """MiniLM with its vectors kept in a file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[bytes, np.ndarray] = {}
        if path and path.exists():
            self.known = pickle.loads(path.read_bytes())
        self.model = MiniLmEmbedder()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        digests = [hashlib.md5(text.encode("utf-8", "replace")).digest() for text in texts]
        for digest, text in zip(digests, texts, strict=True):
            if digest not in self.known:
                self.known[digest] = self.model.embed([text])[0].astype(np.float16)
        stacked = np.array([self.known[digest] for digest in digests], dtype=np.float32)
        return stacked / np.linalg.norm(stacked, axis=1, keepdims=True)

    def save(self) -> None:
        if self.path:
            self.path.write_bytes(pickle.dumps(self.known))


@dataclass
class Pair:
    dataset: str
    label: str
    evidence: Evidence
    quoted: bool
    seed: float
    overlap: float


def read_pairs(folder: Path, embedder: CachedEmbedder) -> tuple[list[Pair], float]:
    """Return every pair with its features, and the CPU milliseconds of a lexical measurement."""
    pairs: list[Pair] = []
    spent = 0.0
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        if "claim" not in rows[0]:
            continue
        for row in rows:
            started = time.process_time()
            quoted = find_quote(row["claim"], row["source"]) is not None
            found = measure(Reading(row["claim"]), SourceSentences(row["source"]))
            spent += time.process_time() - started
            vectors = embedder.embed([row["claim"], row["source"], *found.candidates])
            cosines = vectors[1:] @ vectors[0]
            add_cosines(found, [float(one) for one in cosines[1:]])
            said, borne = (set(re.findall(r"\w+", row[k].lower())) for k in ("claim", "source"))
            overlap = len(said & borne) / max(1, len(said))
            pairs.append(
                Pair(row["dataset"], row["label"], found, quoted, float(cosines[0]), overlap)
            )
        print(f"{path.name}: {len(rows)} pairs", flush=True)
    embedder.save()
    return pairs, spent * 1000 / len(pairs)


def balanced_weights(pairs: Sequence[Pair], truth: np.ndarray) -> np.ndarray:
    """Return a weight per pair: each data set and each of its two classes counts the same."""
    sizes: dict[tuple[str, bool], int] = {}
    for pair, positive in zip(pairs, truth, strict=True):
        sizes[pair.dataset, bool(positive)] = sizes.get((pair.dataset, bool(positive)), 0) + 1
    weights = np.array([1 / sizes[p.dataset, bool(t)] for p, t in zip(pairs, truth, strict=True)])
    return weights / weights.mean()


def fit(pairs: Sequence[Pair], truth: np.ndarray, features: Sequence[str]) -> Logistic:
    """Return a logistic model on raw feature values, fitted on standardised ones."""
    table = np.array([[p.evidence.values.get(name, 0.0) for name in features] for p in pairs])
    centre, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread < 1e-9] = 1.0
    model = LogisticRegression(C=REGULARISATION, max_iter=3000)
    model.fit((table - centre) / spread, truth, sample_weight=balanced_weights(pairs, truth))
    slopes = model.coef_[0] / spread
    bias = float(model.intercept_[0] - (slopes * centre).sum())
    return Logistic(
        round(bias, 4), {n: round(float(w), 4) for n, w in zip(features, slopes, strict=True)}
    )


def fit_all(pairs: Sequence[Pair]) -> JudgeWeights:
    models: dict[str, Logistic] = {}
    supported = np.array([pair.label == "supported" for pair in pairs])
    telling = {pair.dataset for pair in pairs if pair.label == "contradicted"}
    against = [pair for pair in pairs if pair.dataset in telling]
    contradicted = np.array([pair.label == "contradicted" for pair in against])
    for suffix, features in (
        ("", LEXICAL_FEATURES),
        ("_embedded", LEXICAL_FEATURES + EMBEDDING_FEATURES),
    ):
        models["support" + suffix] = fit(pairs, supported, features)
        models["contradict" + suffix] = fit(against, contradicted, features)
    return JudgeWeights(models, THRESHOLDS)


def judged(pair: Pair, weights: JudgeWeights, *, embedded: bool = True) -> Judgement:
    if pair.quoted:
        return QUOTED
    e = pair.evidence
    values = {k: v for k, v in e.values.items() if k not in EMBEDDING_FEATURES}
    said = judge(Evidence(e.focus, e.window, e.candidates, values, e.reasons, e.flags), weights)
    return judge(e, weights) if embedded and undecided(e, said, weights) else said


def scores(truth: np.ndarray, chosen: np.ndarray, ranked: np.ndarray) -> list[float]:
    found = balanced_accuracy_score(truth, chosen), roc_auc_score(truth, ranked)
    return [round(float(one), 3) for one in found]


def best_threshold(pairs: Sequence[Pair]) -> float:
    """Return the overlap threshold with the best macro balanced accuracy."""
    names = sorted({pair.dataset for pair in pairs})
    sets = [
        (np.array([p.label == "supported" for p in pairs if p.dataset == n]),
         np.array([p.overlap for p in pairs if p.dataset == n]))
        for n in names
    ]  # fmt: skip
    return max(
        np.linspace(0, 1, 101),
        key=lambda t: float(np.mean([balanced_accuracy_score(y, s >= t) for y, s in sets])),
    )


def leave_one_out(pairs: list[Pair]) -> list[dict[str, object]]:
    """Return for each data set what models fitted on the others say of it.

    A column holds balanced accuracy and AUROC of *supported* against the rest.
    """
    rows: list[dict[str, object]] = []
    for name in sorted({pair.dataset for pair in pairs}):
        rest = [pair for pair in pairs if pair.dataset != name]
        own = [pair for pair in pairs if pair.dataset == name]
        weights = fit_all(rest)
        truth = np.array([pair.label == "supported" for pair in own])
        seed = np.array([pair.seed for pair in own])
        overlap = np.array([pair.overlap for pair in own])
        row: dict[str, object] = {
            "data set": name,
            "n": len(own),
            "cosine to whole source ≥ 0.6": scores(truth, seed >= 0.6, seed),
            "word overlap": scores(truth, overlap >= best_threshold(rest), overlap),
        }
        for column, embedded in (("words only", False), ("full", True)):
            said = [judged(pair, weights, embedded=embedded) for pair in own]
            chosen = np.array([one.verdict is Verdict.SUPPORTED for one in said])
            row[column] = scores(truth, chosen, np.array([one.p_supported for one in said]))
        against = np.array([pair.label == "contradicted" for pair in own])
        found = np.array([one.verdict is Verdict.CONTRADICTED for one in said])
        any_true = bool(against.any())
        row["contradicted recall"] = share(found[against]) if any_true else None
        row["contradicted precision"] = share(against[found]) if any_true and found.any() else None
        labels = [pair.label for pair in own]
        row["all verdicts"] = verdict_recall(labels, [one.verdict.value for one in said])
        row["all verdicts, cosine"] = verdict_recall(labels, [seed_verdict(s) for s in seed])
        rows.append(row)
    return rows


def verdict_recall(labels: Sequence[str], said: Sequence[str]) -> float | None:
    """Return the mean recall over a set's verdicts, ``None`` when it tells fewer than three."""
    names = sorted(set(labels))
    if len(names) < 3:
        return None
    recall = [
        np.mean(
            [verdict == name for label, verdict in zip(labels, said, strict=True) if label == name]
        )
        for name in names
    ]
    return round(float(np.mean(recall)), 3)


def seed_verdict(cosine: float) -> str:
    """Return what the compared method says: supported from 0.6, unverifiable below 0.3."""
    return "supported" if cosine >= 0.6 else "unverifiable" if cosine < 0.3 else "weak"


def share(values: np.ndarray) -> float:
    return round(float(values.mean()), 3)


def macro(rows: list[dict[str, object]]) -> dict[str, object]:
    """Return the unweighted mean of each column over the data sets that have it."""
    out: dict[str, object] = {"data set": "macro"}
    for column in list(rows[0])[2:]:
        known = [row[column] for row in rows if row[column] is not None]
        out[column] = np.round(np.mean(np.array(known), axis=0), 3).tolist() if known else None
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    pairs, ms = read_pairs(chosen.folder, CachedEmbedder(chosen.cache))
    rows = leave_one_out(pairs)
    found = {"sets": [*rows, macro(rows)], "lexical_ms_per_pair": round(ms, 2)}
    print(json.dumps(found, ensure_ascii=False))
    if chosen.write:
        weights = fit_all(pairs)
        models = {
            name: {"bias": model.bias, "weights": dict(model.weights)}
            for name, model in weights.models.items()
        }
        shape = {"version": 1, "models": models, "thresholds": dict(weights.thresholds)}
        WEIGHTS.write_text(json.dumps(shape, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
