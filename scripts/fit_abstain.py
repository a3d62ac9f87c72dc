"""Fit when to abstain, and print how often that is right.

    python scripts/fit_abstain.py --data DIR/retrieval --common DIR/common/retrieval \
        [--vectors DIR] [--write]

Answerable: the questions of docsfaq, scifact, mtrag_un (those labelled answerable) and xquad,
each asked of its own passages. Unanswerable: questions of one set asked of another's passages,
docsfaq questions asked of the other projects' passages, mtrag_un questions labelled
unanswerable, and xquad questions asked of the half of the passages that lacks theirs. The same
again over the English passages of all sets together (names that begin with "all-"): among thousands
of passages one that shares words with a question is soon found, whether or not it answers.
Vectors: NAME_passages.npy and NAME_queries.npy, rows as in the files; made when missing.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from fingerpost.generate.abstain import support
from fingerpost.generate.units import split_hits
from fingerpost.text.analyse import analyse, query_tokens
from fingerpost.text.language import detect_language
from fingerpost.types import Chunk, Document, Evidence, Hit, Span

Row = dict[str, Any]
Vectors = NDArray[np.float32]
TARGET = Path(__file__).parents[1] / "src/fingerpost/generate/abstain.json"
WORDS = ("coverage", "best", "pooled", "unit", "names", "length")
MAX_FALSE = 0.035
SMALLEST = 20


@dataclass
class Corpus:
    """Passages with BM25 and cosine; the top five by reciprocal rank are the evidence."""

    passages: Sequence[Row]
    vectors: Vectors
    counts: list[Counter[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        texts = [f"{row.get('title') or ''} {row['text']}" for row in self.passages]
        self.counts = [Counter(analyse(text)) for text in texts]
        self.lengths = np.array([sum(c.values()) for c in self.counts], dtype=float)
        self.posting: dict[str, list[int]] = defaultdict(list)
        for at, count in enumerate(self.counts):
            for token in count:
                self.posting[token].append(at)

    def rarity(self, token: str) -> float:
        n, holding = len(self.passages), len(self.posting.get(token, ()))
        return math.log(1 + (n - holding + 0.5) / (holding + 0.5))

    def bm25(self, question: str) -> NDArray[np.float64]:
        scores = np.zeros(len(self.passages))
        norm = 1.2 * (0.25 + 0.75 * self.lengths / self.lengths.mean())
        for token, weight in query_tokens(question).items():
            for at in self.posting.get(token, ()):
                tf = self.counts[at][token]
                scores[at] += weight * self.rarity(token) * tf * 2.2 / (tf + norm[at])
        return scores

    def evidence(self, question: str, vector: Vectors, *, with_vectors: bool) -> Evidence:
        words = self.bm25(question)
        cosines = self.vectors @ vector
        fused: dict[int, float] = defaultdict(float)
        legs = [words, cosines] if with_vectors else [words]
        for leg in legs:
            for rank, at in enumerate(np.argsort(-leg, kind="stable")[:50], 1):
                if leg is cosines or leg[at] > 0:
                    fused[int(at)] += 1 / (60 + rank)
        top = sorted(fused, key=lambda at: (-fused[at], at))[:5]
        hits = tuple(
            hit_of(self.passages[at], 30.5 * fused[at], cosines[at] if with_vectors else None)
            for at in top
        )
        terms = query_tokens(question)
        total = sum(self.rarity(token) for token in terms) or 1.0
        found = set().union(*(self.counts[at].keys() for at in top)) if top else set()
        coverage = sum(self.rarity(token) for token in terms if token in found) / total
        return Evidence(hits, coverage=coverage)


def hit_of(row: Row, score: float, cosine: float | None) -> Hit:
    """Return a passage as a one-chunk document."""
    title = row.get("title") or ""
    document = Document(
        "d" + row["id"], row["id"], "s", row["id"], title, "", row.get("format", "markdown")
    )
    span = Span(0, len(row["text"]))
    chunk = Chunk("c" + row["id"], document.id, 0, row["text"], span, (), 1, 1)
    return Hit(chunk, document, score, vector_score=None if cosine is None else float(cosine))


def load(args: argparse.Namespace, name: str) -> tuple[list[Row], list[Row], Vectors, Vectors]:
    passages = args.data / f"{name}_passages.jsonl"
    if not passages.exists():
        passages = args.common / f"{name}_passages.jsonl"
    rows = [
        [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        for path in (passages, args.data / f"{name}_queries.jsonl")
    ]
    vectors = [
        vectors_of(args, f"{name}_{part}", rows[at])
        for at, part in enumerate(("passages", "queries"))
    ]
    return rows[0], rows[1], vectors[0], vectors[1]


def vectors_of(args: argparse.Namespace, name: str, rows: Sequence[Row]) -> Vectors:
    path = args.vectors / f"{name}.npy"
    if not path.exists():
        from fingerpost.lanes.providers.minilm import (  # noqa: PLC0415 - only when needed
            MiniLmEmbedder,
        )

        texts = [row.get("question") or f"{row.get('title') or ''} {row['text']}" for row in rows]
        np.save(path, MiniLmEmbedder().embed(texts))
    vectors: Vectors = np.load(path)
    return vectors


Case = tuple[str, str, Corpus, Row, Vectors]
Sets = dict[str, tuple[list[Row], list[Row], Vectors, Vectors]]


def cases(args: argparse.Namespace) -> Iterable[Case]:
    """Yield (corpus name, kind, corpus, question, its vector); kind '' is answerable."""
    sets = {
        name: load(args, name)
        for name in ("docsfaq", "scifact", "mtrag_un", "hotpotqa", "cranfield", "xquad")
    }
    for name in ("docsfaq", "scifact"):
        passages, queries, pv, qv = sets[name]
        corpus = Corpus(passages, pv)
        yield from ((name, "", corpus, q, qv[i]) for i, q in enumerate(queries))
        for other in sets.keys() - {name, "xquad"}:
            _, asked, _, av = sets[other]
            yield from ((name, other, corpus, asked[i], av[i]) for i in range(0, len(asked), 3))
    yield from together(sets)
    yield from other_projects(*sets["docsfaq"])
    yield from mtrag(*sets["mtrag_un"])
    yield from xquad(*sets["xquad"])


class Together:
    """The English passages of all sets."""

    def __init__(self, sets: Sets) -> None:
        self.rows: list[tuple[str, Row]] = []
        vectors = []
        for name, (passages, _, found, _) in sets.items():
            for row, vector in zip(passages, found, strict=True):
                if row.get("lang", "en") == "en":
                    self.rows.append((name, row))
                    vectors.append(vector)
        self.vectors: Vectors = np.array(vectors)

    def without(self, name: str, key: str, gone: set[str | None]) -> Corpus:
        """Return the passages but those of a set whose ``key`` is among ``gone``."""
        kept = [
            i for i, (of, row) in enumerate(self.rows) if of != name or row.get(key) not in gone
        ]
        return Corpus([self.rows[i][1] for i in kept], self.vectors[kept])


def together(sets: Sets) -> Iterable[Case]:
    """Yield questions asked of all English passages, and of those without what answers them."""
    every = Together(sets)
    whole = every.without("", "", set())

    def asked(name: str, key: str, gone: set[str | None], step: int) -> Iterable[Case]:
        rest = every.without(name, key, gone)
        _, rows, _, vectors = sets[name]
        english = [i for i, row in enumerate(rows) if row.get("lang", "en") == "en"]
        for i in [i for i in english[::step] if rows[i].get(key) in gone]:
            yield f"all-{name}", "", whole, rows[i], vectors[i]
            yield f"all-{name}", "gone", rest, rows[i], vectors[i]

    for name, key, step in (("docsfaq", "project", 1), ("xquad", "group", 4)):
        groups = sorted({row[key] for row in sets[name][1]})
        yield from asked(name, key, set(groups[::2]), step)
        yield from asked(name, key, set(groups[1::2]), step)
    yield from asked("scifact", "project", {None}, 3)
    for i, row in enumerate(sets["mtrag_un"][1]):
        if row["answerability"] in {"ANSWERABLE", "UNANSWERABLE"}:
            kind = "" if row["answerability"] == "ANSWERABLE" else "unanswerable"
            yield "all-mtrag_un", kind, whole, row, sets["mtrag_un"][3][i]


def other_projects(p: list[Row], q: list[Row], pv: Vectors, qv: Vectors) -> Iterable[Case]:
    for project in sorted({row["project"] for row in p}):
        rest = [i for i, row in enumerate(p) if row["project"] != project]
        corpus = Corpus([p[i] for i in rest], pv[rest])
        own = [i for i, row in enumerate(q) if row["project"] == project]
        yield from (("docsfaq", "other-project", corpus, q[i], qv[i]) for i in own)


def mtrag(p: list[Row], q: list[Row], pv: Vectors, qv: Vectors) -> Iterable[Case]:
    for name in sorted({row["collection"] for row in p}):
        own = [i for i, row in enumerate(p) if row["collection"] == name]
        corpus = Corpus([p[i] for i in own], pv[own])
        for i, row in enumerate(q):
            if row["collection"] == name and row["answerability"] in {"ANSWERABLE", "UNANSWERABLE"}:
                kind = "" if row["answerability"] == "ANSWERABLE" else "unanswerable"
                yield "mtrag_un", kind, corpus, row, qv[i]
            elif i % 6 == 0 and row["collection"] != name:
                yield "mtrag_un", "other-collection", corpus, row, qv[i]


def xquad(p: list[Row], q: list[Row], pv: Vectors, qv: Vectors) -> Iterable[Case]:
    for language in sorted({row["lang"] for row in p}):
        own = [i for i, row in enumerate(p) if row["lang"] == language]
        half = set(sorted({p[i]["group"] for i in own})[::2])
        kept = [i for i in own if p[i]["group"] in half]
        whole, part = Corpus([p[i] for i in own], pv[own]), Corpus([p[i] for i in kept], pv[kept])
        name = "xquad-en" if language == "en" else "xquad-other"
        for i in [i for i, row in enumerate(q) if row["id"].endswith(f"-{language}")][::4]:
            yield name, "", whole, q[i], qv[i]
            if q[i]["group"] not in half:
                yield name, "other-half", part, q[i], qv[i]


def measure(found: Sequence[Case], *, with_vectors: bool) -> list[Row]:
    out = []
    for name, kind, corpus, row, vector in found:
        evidence = corpus.evidence(row["question"], vector, with_vectors=with_vectors)
        values = (
            support(row["question"], evidence, split_hits(evidence.hits)) if evidence.hits else {}
        )
        language = detect_language(row["question"])
        out.append(
            {"name": name, "kind": kind, "values": values, "english": language in {"en", "und"}}
        )
    return out


def fit(rows: Sequence[Row], names: Sequence[str]) -> tuple[dict[str, float], NDArray[np.float64]]:
    """Return the model; sets and kinds weigh the same, whatever their size."""
    x = np.array([[row["values"].get(name, 0.0) for name in names] for row in rows])
    y = np.array([not row["kind"] for row in rows])
    sizes = Counter((row["name"], not row["kind"]) for row in rows)
    weight = np.array([1 / sizes[row["name"], not row["kind"]] for row in rows])
    weight *= len(rows) / weight.sum()
    model = LogisticRegression(C=1.0, max_iter=2000).fit(x, y, sample_weight=weight)
    scores = model.decision_function(x)
    threshold = _threshold(rows, scores)
    out = {name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)}
    return out | {
        "bias": round(float(model.intercept_[0]), 3),
        "threshold": round(threshold, 3),
    }, scores


def _threshold(rows: Sequence[Row], scores: NDArray[np.float64]) -> float:
    """Return the highest threshold that abstains on MAX_FALSE of the answerable, set by set."""
    groups: dict[str, list[float]] = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        if not row["kind"]:
            groups[row["name"]].append(float(score))
    parts = [np.array(part) for part in groups.values() if len(part) >= SMALLEST]
    allowed = [
        t for t in np.arange(-5, 5, 0.01) if np.mean([np.mean(p < t) for p in parts]) <= MAX_FALSE
    ]
    return float(max(allowed))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--common", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    found = list(cases(args))
    models: dict[str, dict[str, float]] = {}
    for label, names in (("vectors", (*WORDS, "vector")), ("words", WORDS)):
        rows = measure(found, with_vectors=label == "vectors")
        for spoken in ("english", "other"):
            part = [row for row in rows if row["english"] == (spoken == "english")]
            models[f"{label}-{spoken}"], scores = fit(part, names)
            threshold = models[f"{label}-{spoken}"]["threshold"]
            print(f"\n{label}-{spoken}: {models[f'{label}-{spoken}']}")
            groups: dict[tuple[str, str], list[bool]] = defaultdict(list)
            for row, score in zip(part, scores, strict=True):
                groups[row["name"], row["kind"]].append(bool(score < threshold))
            for (name, kind), abstained in sorted(groups.items()):
                print(
                    f"  {name:12} {kind or 'ANSWERABLE':18} n={len(abstained):4}"
                    f" abstained={np.mean(abstained):.3f}"
                )
    if args.write:
        TARGET.write_text(json.dumps({"models": models}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
