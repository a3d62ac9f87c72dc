"""Fit the weights of the local decision model; report each data set by weights it had no part in.

    python scripts/fit_decide.py DATA --vectors FILE [--model FOLDER] [--write]

DATA is the folder of public data: ``routing``, ``common/routing``, ``retrieval``, ``tiers``. Five
groups of data sets (clinc150, banking77, mtrag, the projects of docsfaq, whole retrieval sets)
are told to the router in several forms: names alone, lists, examples. Of most only some sources
are shown at a time, with the right one sometimes left out, so that *none fits* and small numbers
of sources are learnt as well. FILE keeps vectors.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fingerpost.classify.decision import TIER_QUESTION
from fingerpost.decide.local_evidence import FEATURES, LocalEvidence
from fingerpost.decide.local_source import SourceDescription
from fingerpost.decide.local_weights import SourceWeights, softmax
from fingerpost.eval.metrics import calibration_error, reliability
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers.minilm import MiniLmEmbedder

Floats = NDArray[np.float64]
OUT = Path(__file__).parents[1] / "src/fingerpost/decide/local_weights.json"
WRITTEN = Path(__file__).with_name("fit_decide_sources.json")
GROUPS = ("banking77", "clinc150", "docs", "mtrag", "sets")
THRESHOLDS = {"told": 0.27, "named": 0.3, "words": 0.75, "levels": 0.99}
NONE_SHARE = 0.12
LEFT_OUT = 0.08
LEVELS_SHRINK = 0.5  # the tiers are one question; of others less is known
FAR_WEIGHT = 0.2
SUBSETS = (2, 3, 5, 10, 20, 40)
N_SUBSET = 400
N_EXAMPLES = 10


@dataclass(frozen=True)
class Told:
    """Questions, and sources in one form; gold is -1 where none fits."""

    group: str
    form: str
    kind: str
    texts: list[str]
    gold: NDArray[np.int64]
    sources: list[SourceDescription]


@dataclass(frozen=True)
class Seen:
    """Evidence of questions: gold is the number of sources where none fits."""

    columns: Floats
    gold: NDArray[np.int64]
    weight: float


class Vectors:
    """The packaged model, its vectors kept in a file."""

    def __init__(self, path: Path, folder: Path | None) -> None:
        self._path, self._model = path, MiniLmEmbedder(folder)
        self._known: dict[str, NDArray[np.float32]] = {}
        if path.exists():
            with np.load(path, allow_pickle=False) as kept:
                self._known = dict(zip(kept["t"].tolist(), kept["v"], strict=True))

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._model.embed(new), strict=True) if new else ())
        return np.stack([self._known[text] for text in texts])

    def keep(self) -> None:
        """Write what is known."""
        np.savez(self._path, t=np.array(list(self._known)), v=np.stack([*self._known.values()]))


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def told(
    group: str, form: str, pairs: Sequence[tuple[str, str | None]], sources: list[SourceDescription]
) -> Told:
    """Return questions with the places of their sources."""
    ids = {source.id: place for place, source in enumerate(sources)}
    gold = np.array([ids.get(name, -1) if name else -1 for _, name in pairs])
    kind = "told" if form in ("lists", "examples", "drawn") else "named"
    return Told(group, form, kind, [text for text, _ in pairs], gold, sources)


def clinc(data: Path) -> list[Told]:
    """Return clinc150 as examples, as lists, as names, and its 150 intents as sources."""
    asked = rows(data / "routing/clinc150.jsonl")
    given = rows(data / "common/routing/clinc150_sources.jsonl")
    pairs = [(row["text"], row["source"]) for row in asked]
    fine = [(row["text"], row["source"] and row["intent"]) for row in asked]
    with_examples = [
        SourceDescription(row["id"], row["name"], "", tuple(row["intents"])) for row in given
    ]
    lists = [
        SourceDescription(one.id, one.name, ", ".join(one.examples).replace("_", " "))
        for one in with_examples
    ]
    names = [replace(one, examples=()) for one in with_examples]
    intents = [SourceDescription(name, name) for one in with_examples for name in one.examples]
    return [
        told("clinc150", "examples", pairs, with_examples),
        told("clinc150", "lists", pairs, lists),
        told("clinc150", "names", pairs, names),
        told("clinc150", "intents", fine, intents),
    ]


def others(data: Path) -> list[Told]:
    """Return the sets whose sources have a name or a line of description."""
    written = json.loads(WRITTEN.read_text("utf-8"))
    banking = rows(data / "common/routing/banking77_sources.jsonl")
    asked = rows(data / "routing/banking77.jsonl")
    found = [
        told(
            "banking77",
            "names",
            [(row["text"], row["source"]) for row in asked],
            [SourceDescription(row["id"], row["name"]) for row in banking],
        )
    ]
    turns = rows(data / "routing/mtrag_collections.jsonl")
    collections = rows(data / "common/routing/mtrag_collections_sources.jsonl")
    described = [SourceDescription(row["id"], "", row["description"]) for row in collections]
    whole = [(row.get("rewrite") or row["text"], row["source"]) for row in turns]
    found.append(told("mtrag", "turns", [(row["text"], row["source"]) for row in turns], described))
    found.append(told("mtrag", "names", whole, described))
    hop = rows(data / "retrieval/hotpotqa_queries.jsonl")
    faq = [row for row in rows(data / "retrieval/docsfaq_queries.jsonl") if row["lang"] == "en"]
    about = [(row["question"], row["project"]) for row in faq]
    about += [(row["question"], None) for row in hop]
    found.append(told("docs", "names", about, _written(written["docs"])))
    mixed: list[tuple[str, str | None]] = []
    for name in written["sets"]:
        own = rows(data / f"retrieval/{name}_queries.jsonl")
        mixed += [(row["question"], name) for row in own if row.get("lang", "en") == "en"][:130]
    small = rows(data / "routing/clinc150.jsonl")
    home = [row for row in small if row["source"] in ("home", "small_talk", "credit_cards")]
    mixed += [(row["text"], None) for row in home[::8]]
    found.append(told("sets", "names", mixed, _written(written["sets"])))
    return found


def _written(texts: dict[str, str]) -> list[SourceDescription]:
    return [SourceDescription(name, "", text) for name, text in texts.items()]


def with_drawn_examples(one: Told, chance: np.random.Generator) -> Told:
    """Return the set with questions of its own as examples, which are no longer asked."""
    taken: set[int] = set()
    sources = []
    for place, source in enumerate(one.sources):
        own = chance.permutation(np.flatnonzero(one.gold == place))
        own = own[: min(N_EXAMPLES, len(own) // 2)]
        taken.update(map(int, own))
        sources.append(replace(source, examples=tuple(one.texts[p] for p in own)))
    left = [place for place in range(len(one.texts)) if place not in taken]
    return Told(one.group, "drawn", "told", [one.texts[p] for p in left], one.gold[left], sources)


def seen(one: Told, foreign: Sequence[str], embedder: EmbeddingModel | None) -> Iterator[Seen]:
    """Yield the evidence of all sources, of foreign questions, and of some of the sources."""
    evidence = LocalEvidence(one.sources, embedder)
    vectors = [None] * len(one.texts) if embedder is None else list(embedder.embed(one.texts))
    columns = np.stack([evidence.of(t, v) for t, v in zip(one.texts, vectors, strict=True)])
    n = len(one.sources)
    yield Seen(columns, np.where(one.gold < 0, n, one.gold), 1.0)
    if foreign:
        far = np.stack([evidence.of(text) for text in foreign])
        yield Seen(far, np.full(len(far), n), FAR_WEIGHT)
    chance = np.random.default_rng(3)
    for size in (size for size in SUBSETS if size < n):
        parts, gold = [], []
        for place in chance.permutation(len(columns))[:N_SUBSET]:
            right = int(one.gold[place])
            wrong = chance.permutation([p for p in range(n) if p != right])
            here = right >= 0 and chance.random() >= LEFT_OUT
            parts.append(columns[place][[right, *wrong[: size - 1]] if here else wrong[:size]])
            gold.append(0 if here else size)
        yield Seen(np.stack(parts), np.array(gold), 1.0)


def fit_evidence(sets: Sequence[tuple[float, list[Seen]]]) -> Floats:
    """Return the weights of the features: a conditional logit where one of the sources fits."""
    weights, ridge = np.zeros(len(FEATURES)), 1e-4
    for _ in range(40):
        slope, curve = -ridge * weights, ridge * np.eye(len(weights))
        for share, parts in sets:
            for part in parts:
                fits = part.gold < part.columns.shape[1]
                if not fits.any():
                    continue
                columns, gold = part.columns[fits], part.gold[fits]
                chance = softmax(columns @ weights)
                mean = np.einsum("nk,nkf->nf", chance, columns)
                scale = share / len(parts) / len(gold)
                slope += scale * (columns[np.arange(len(gold)), gold] - mean).sum(axis=0)
                spread = np.einsum("nk,nkf,nkg->fg", chance, columns, columns, optimize=True)
                curve += scale * (spread - mean.T @ mean)
        weights = weights + 0.7 * np.linalg.solve(curve, slope)
    return weights


def fit_none(sets: Sequence[tuple[float, list[Seen]]], weights: Floats) -> Floats:
    """Return bias, best and count of none; one in eight questions counts as foreign."""
    columns, none, scale = [], [], []
    for share, parts in sets:
        best = [(part.columns @ weights).max(axis=1) for part in parts]
        own = np.concatenate(best)
        sizes = [np.full(len(part.gold), math.log(part.columns.shape[1])) for part in parts]
        foreign = np.concatenate([part.gold == part.columns.shape[1] for part in parts])
        mass = np.concatenate([np.full(len(p.gold), p.weight / len(p.gold)) for p in parts])
        yes, no = mass[foreign].sum(), mass[~foreign].sum()
        mass = np.where(foreign, mass / max(yes, 1e-9) * NONE_SHARE, mass / no * (1 - NONE_SHARE))
        columns.append(np.stack([np.ones(len(own)), own, np.concatenate(sizes)], axis=1))
        none.append(foreign)
        scale.append(mass * share)
    x, y, w = np.concatenate(columns), np.concatenate(none), np.concatenate(scale)
    w, found = w / w.sum(), np.zeros(3)
    ridge = np.diag([0, 1e-3, 1e-3])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-x @ found))
        curve = (x * (w * chance * (1 - chance))[:, None]).T @ x + ridge
        found = found - np.linalg.solve(curve, x.T @ (w * (chance - y)) + ridge @ found)
    return found


def fit_kind(kind: str, sets: Sequence[tuple[Told, list[Seen]]]) -> SourceWeights:
    """Return the weights of one kind of evidence; each group of data sets counts the same."""
    counts = {group: sum(one.group == group for one, _ in sets) for group in GROUPS}
    shared = [(1 / counts[one.group], parts) for one, parts in sets]
    evidence = fit_evidence(shared)
    bias, best, count = fit_none(shared, evidence)
    return SourceWeights(
        tuple(round(float(value), 4) for value in evidence),
        *(round(float(value), 4) for value in (bias, best, count)),
        threshold=THRESHOLDS[kind],
    )


def judge(one: Told, whole: Seen, weights: SourceWeights) -> str:
    """Return a row: accuracy, of the best source, out-of-scope recall, ECE."""
    n = whole.columns.shape[1]
    chosen, best, sure = [], [], []
    for columns in whole.columns:
        shares = weights.shares(columns)
        best.append(int(shares.sources.argmax()))
        chosen.append(n if shares.abstain else best[-1])
        sure.append(shares.none if shares.abstain else float(shares.sources.max()))
    right = np.array(chosen) == whole.gold
    served = whole.gold < n
    ece = calibration_error(reliability(right.tolist(), sure))
    recall = "-" if served.all() else f"{right[~served].mean():.3f}"
    forced = (np.array(best) == whole.gold)[served].mean()
    return (
        f"| {one.group} | {one.form} | {n} | {len(right)} | {right[served].mean():.3f} |"
        f" {forced:.3f} | {recall} | {ece:.3f} |"
    )


def fit_levels(data: Path, embedder: EmbeddingModel) -> SourceWeights:
    """Return the weights of descriptions of levels; the tiers are all there is to fit them on."""
    levels = list(TIER_QUESTION.options.values())
    evidence = LocalEvidence(
        [SourceDescription(str(n), str(text)) for n, text in enumerate(levels)], embedder
    )
    asked = [r for r in rows(data / "tiers/tiers.jsonl") if r["label_confidence"] != "low"]
    columns = np.stack([evidence.of(row["text"]) for row in asked])
    gold = np.array([int(row["tier"][1]) for row in asked])
    found = fit_evidence([(1.0, [Seen(columns, gold, 1.0)])])
    right = (columns @ found).argmax(axis=1) == gold
    print(f"levels: {right.mean():.3f} of {len(gold)} tiers right, on what they were fitted on")
    return SourceWeights(
        tuple(round(LEVELS_SHRINK * float(v), 4) for v in found), 0, 0, 0, THRESHOLDS["levels"]
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, help="folder of the embedding model")
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    vectors = Vectors(options.vectors, options.model)
    sets = [*clinc(options.data), *others(options.data)]
    chance = np.random.default_rng(0)
    sets += [
        with_drawn_examples(one, chance)
        for one in sets
        if one.group != "clinc150" and one.form == "names"
    ]
    kinds: dict[str, SourceWeights] = {}
    print("| group | form | sources | n | accuracy | best | out of scope | ECE |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ("told", "named", "words"):
        embedder = None if kind == "words" else vectors
        mine = [
            (one, list(seen(one, foreign(one, sets), embedder)))
            for one in sets
            if kind in (one.kind, "words")
        ]
        for group in GROUPS:
            weights = fit_kind(kind, [pair for pair in mine if pair[0].group != group])
            for one, parts in mine:
                if one.group == group:
                    print(judge(one, parts[0], weights) + f" {kind}", flush=True)
        kinds[kind] = fit_kind(kind, mine)
    kinds["levels"] = fit_levels(options.data, vectors)
    vectors.keep()
    if options.write:
        about = "Written by scripts/fit_decide.py."
        value = {"format": 1, "about": about, "features": FEATURES}
        value["kinds"] = {name: weights.to_json() for name, weights in kinds.items()}
        OUT.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def foreign(one: Told, sets: Sequence[Told]) -> list[str]:
    """Return questions of other groups, none for sources as wide as an encyclopedia."""
    if one.group in ("mtrag", "sets"):
        return []
    chance = np.random.default_rng(5)
    return [
        str(text)
        for other in sets
        if other.group not in (one.group, "sets") and other.form != "drawn"
        for text in chance.choice(np.array(other.texts), 60)
    ]


if __name__ == "__main__":
    main()
