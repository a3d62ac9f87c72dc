"""Fit how far a first search moves the tier, on questions asked of real passages.

    python scripts/fit_looks.py RETRIEVAL_FOLDER tiers.jsonl --indexes FOLDER [--lookups F]
        [--questions F F] [--write]

Questions whose answer stands in one passage (docsfaq, xquad, mtrag_un) are T1 over their own
passages, those of hotpotqa T2. Questions of ``tiers.jsonl`` asked of passages that do not answer
them keep their tier: they teach that a poor look says nothing. The weights are fitted on scores
of text models that never saw the source of the question, or they would trust the text too much.
Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import fit_tiers
from fingerpost.classify import LocalClassifier
from fingerpost.classify.features import extract_features
from fingerpost.classify.look import lead
from fingerpost.eval.cases import passage, read_cases
from fingerpost.eval.index import build_index
from fingerpost.retrieve import first_look
from fingerpost.types.query import Filters

Floats = NDArray[np.float64]
OWN = {"docsfaq": 1, "xquad": 1, "mtrag_un": 1, "hotpotqa": 2}
LANGUAGES = ("en", "de", "es", "zh")
XQUAD_STEP = 4
FOREIGN = frozenset(
    {"researchy_questions", "scholarqa_cs", "scholarqa_bio", "scholarqa_neuro", "trec_rag24"}
    | {"deep_research_bench", "graphrag_msft_multi", "nq_open", "triviaqa", "2wikimultihop"}
)
# Share of the weight per tier. Joining two passages is dearer to miss than to do in vain; T3 is
# rare in a folder of docs, and no set here has T3 questions over passages that answer them.
PRIOR = {1: 0.36, 2: 0.50, 3: 0.14}
TOTAL, RIDGE, LEAST = 1000.0, 2.0, 1e-3
WEIGHTS = Path(__file__).parents[1] / "src/fingerpost/classify/look_weights.json"


@dataclass(frozen=True)
class Asked:
    """Questions of one set: tier, probabilities of both text models, and (lead, spread)."""

    tier: int
    blind: Floats
    shipped: Floats
    seen: Floats


def read_jsonl(path: Path) -> list[dict[str, object]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def own_questions(folder: Path, name: str) -> list[str]:
    """Return the questions of a set that one passage answers, or two for the joined ones."""
    rows = read_jsonl(folder / f"{name}_queries.jsonl")
    if name == "xquad":
        rows = [row for row in rows if row["lang"] in LANGUAGES][::XQUAD_STEP]
    if name == "mtrag_un":
        rows = [row for row in rows if len(row["gold"]) == 1]  # type: ignore[arg-type]
    return [str(row["question"]) for row in rows]


def blind_scores(rows: fit_tiers.Rows, source: str, texts: list[str]) -> Floats:
    """Return tier probabilities by a text model that was fitted without the source."""
    model = fit_tiers.fit(rows, rows.sources != source)
    column = {name: place for place, name in enumerate(rows.names)}
    matrix = np.zeros((len(texts), len(rows.names)))
    for place, text in enumerate(texts):
        for name, value in extract_features(text).items():
            if name in column:
                matrix[place, column[name]] = value
    asked = replace(rows, texts=texts)
    shipped = json.loads(fit_tiers.WEIGHTS.read_text("utf-8"))
    heat = (shipped["chatter"]["temperature"], shipped["tier"]["temperature"])
    chatter = matrix @ model.chatter[:-1] + model.chatter[-1]
    return fit_tiers.predict(asked, chatter, matrix @ model.tier[:-1] + model.tier[-1], heat)


def gather(folder: Path, rows: fit_tiers.Rows, indexes: Path) -> dict[str, Asked]:
    """Return the sets by name, each question looked up in the index it is asked of."""
    texts: dict[str, list[str]] = {}
    seen: dict[str, list[list[float]]] = {}
    tier_of = dict(OWN)
    for name in OWN:
        passages = read_cases(folder / f"{name}_passages.jsonl", passage)
        asked = [(name, text) for text in own_questions(folder, name)]
        for text, tier, source in zip(rows.texts, rows.tiers, rows.sources, strict=True):
            if source in FOREIGN:
                tier_of[str(source)] = int(tier)
                asked.append((str(source), text))
        with build_index(name, passages, indexes / name).reader() as reader:
            for key, text in asked:
                look = first_look(reader, text, Filters())
                texts.setdefault(key, []).append(text)
                spread = max(0.0, look.pooled_coverage - look.coverage)
                seen.setdefault(key, []).append([lead(look), spread])
    classify = LocalClassifier().classify
    return {
        key: Asked(
            tier_of[key],
            blind_scores(rows, key, asked),
            np.array([list(classify(t, confidence_threshold=0).scores.values()) for t in asked]),
            np.array(seen[key]),
        )
        for key, asked in texts.items()
    }


def logits(theta: Floats, asked: Asked, scores: Floats) -> Floats:
    """Return log-scores of T1 to T3: text, bias, and what the search showed."""
    keep, bias2, bias3, gap, spread2, spread3 = theta
    text = keep * np.log(scores[:, 1:] + LEAST)
    ahead, spread = asked.seen[:, 0], asked.seen[:, 1]
    added = [gap * ahead, bias2 + spread2 * spread, bias3 + spread3 * spread]
    total: Floats = text + np.stack(added, axis=1)
    return total


def probabilities(theta: Floats, asked: Asked, text: Floats) -> Floats:
    """Return probabilities of T1 to T3 by row."""
    scores = logits(theta, asked, text)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def fit(sets: dict[str, Asked]) -> Floats:
    """Return keep, bias of T2 and T3, gap of T1, spread of T2 and T3; evidence never reversed."""
    root = {
        tier: sum(len(a.seen) ** 0.5 for a in sets.values() if a.tier == tier) for tier in PRIOR
    }

    def loss(theta: Floats) -> float:
        total = RIDGE * float((theta[0] - 1) ** 2 + (theta[1:] ** 2).sum())
        for asked in sets.values():
            weight = TOTAL * PRIOR[asked.tier] * len(asked.seen) ** 0.5 / root[asked.tier]
            shares = probabilities(theta, asked, asked.blind)[:, asked.tier - 1]
            total -= weight * float(np.log(shares + 1e-12).mean())
        return total

    bounds = [(0.3, 2.0), (-3.0, 3.0), (-3.0, 3.0), *[(0.0, 6.0)] * 3]
    found: Floats = minimize(loss, [1.0, 0, 0, 0, 0, 0], bounds=bounds, method="L-BFGS-B").x
    return found


def taken(name: str, way: str, asked: Asked, shares: Floats) -> dict[str, object]:
    """Return the shares taken for T1 to T3, before and after escalation at 0.7."""
    best = shares.argmax(axis=1) + 1
    final = np.minimum(best + (shares.max(axis=1) < 0.7), 3)
    row: dict[str, object] = {"set": name, "by": way, "tier": f"T{asked.tier}", "n": len(best)}
    for when, column in (("", best), (" escalated", final)):
        for tier in (1, 2, 3):
            row[f"T{tier}{when}"] = round(float((column == tier).mean()), 3)
    return row


def measured(sets: dict[str, Asked]) -> list[dict[str, object]]:
    """Return for each set: text alone and with the look, by blind and by shipped models."""
    rows = []
    whole = fit(sets)
    for name, asked in sets.items():
        rest = {key: value for key, value in sets.items() if key != name}
        rows.append(taken(name, "blind text alone", asked, asked.blind[:, 1:]))
        if name != "hotpotqa":  # without it no question is T2 by what it finds
            blind = probabilities(fit(rest), asked, asked.blind)
            rows.append(taken(name, "left out of both", asked, blind))
        rows.append(taken(name, "shipped text alone", asked, asked.shipped[:, 1:]))
        shipped = probabilities(whole, asked, asked.shipped)
        rows.append(taken(name, "as shipped", asked, shipped))
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("tiers", type=Path)
    parser.add_argument("--lookups", nargs="*", type=Path, default=[])
    parser.add_argument("--questions", nargs="*", type=Path, default=[])
    parser.add_argument("--indexes", type=Path, required=True, help="where indexes are kept")
    parser.add_argument("--write", action="store_true", help="write the weight file")
    chosen = parser.parse_args()
    rows = fit_tiers.load([chosen.tiers], chosen.lookups, chosen.questions)
    sets = gather(chosen.folder, rows, chosen.indexes)
    print(json.dumps({"sets": measured(sets)}))
    if chosen.write:
        keep, bias2, bias3, gap, spread2, spread3 = (round(float(v), 3) for v in fit(sets))
        value = {
            "about": "Written by scripts/fit_looks.py: how a first search moves log-probabilities.",
            "format": 1,
            "keep": keep,
            "bias": [0, bias2, bias3],
            "gap": [gap, 0, 0],
            "spread": [0, spread2, spread3],
        }
        WEIGHTS.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
