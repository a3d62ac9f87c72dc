"""Measure the local judge of claims and keep it in ``results/grounding.json``.

    python benchmarks/grounding.py --data ../shared/data/grounding --tree ../corpora/TREE \
        --cache CACHE [--only sets|challenge|speed]

*sets*: every labelled set, held out of the fit that judges it (``scripts/fit_judge.py``), beside
the cosine of claim and whole source and beside word overlap. *challenge*: our own pairs
(``data/challenge.jsonl``), with the weights that ship. *speed*: 50 claims against 10 sources of
500 words, CPU milliseconds of one call of the verifier, median of nine, words alone and with
the local embedding model. A part that is not run keeps its last result.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers.minilm import MiniLmEmbedder
from fingerpost.text.sentences import sentences
from fingerpost.verify import CitationVerifier, judge_pair
from machine import RESULTS, keep, step

ROOT = Path(__file__).parent.parent
CHALLENGE = Path(__file__).parent / "data" / "challenge.jsonl"
PARTS = ("sets", "challenge", "speed")
N_SOURCES, N_WORDS, N_CLAIMS, N_RUNS = 10, 500, 50, 9
MEASURES = ("recall", "precision")
TELLING = ("supported", "contradicted")


def sets(data: Path, cache: Path | None) -> dict[str, Any]:
    """Return a row for each set, fitted without it, and the macro average."""
    script = str(ROOT / "scripts" / "fit_judge.py")
    kept = ["--cache", str(cache)] if cache else []
    found = step(script, sys.executable, str(data), *kept)
    if "error" in found:
        sys.exit(f"fit_judge.py: {found['error']}")
    return found


def challenge() -> list[dict[str, Any]]:
    """Return a row for all pairs, each part, language and kind.

    *words only* and *full* are the share of pairs of which the judge says rightly whether they
    are supported; *exact* is the share of the supported and contradicted ones with just that
    verdict.
    """
    rows = [json.loads(line) for line in CHALLENGE.read_text("utf-8").split("\n") if line]
    embedder = MiniLmEmbedder()
    said = [
        (row, judge_pair(row["claim"], row["source"]).verdict.value,
         judge_pair(row["claim"], row["source"], embedder=embedder).verdict.value)
        for row in rows
    ]  # fmt: skip
    groups: dict[str, list[tuple[Mapping[str, str], str, str]]] = {}
    for one in said:
        row = one[0]
        for name in ("all", f"part {row['part']}", f"language {row['lang']}", row["kind"]):
            groups.setdefault(name, []).append(one)
    return [_scored(name, members) for name, members in groups.items()]


def _scored(name: str, members: Sequence[tuple[Mapping[str, str], str, str]]) -> dict[str, Any]:
    def right(row: Mapping[str, str], verdict: str) -> bool:
        return (verdict == "supported") == (row["label"] == "supported")

    exact = [full == row["label"] for row, _, full in members if row["label"] in TELLING]
    return {
        "pairs of": name,
        "n": len(members),
        "words only": round(statistics.fmean(right(row, words) for row, words, _ in members), 3),
        "full": round(statistics.fmean(right(row, full) for row, _, full in members), 3),
        "exact": round(statistics.fmean(exact), 3) if exact else None,
    }


def figures(
    rows: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the figures that goals were set for."""
    by_name = {row["data set"]: row for row in rows}
    macro = by_name["macro"]
    full, cosine = macro["full"][0], macro["cosine to whole source ≥ 0.6"][0]
    found = {"full": full, "gain": round(full - cosine, 3), "challenge": pairs[0]["full"]}
    for name in ("fever_symmetric", "scifact"):
        found |= {f"{name} {what}": by_name[name][f"contradicted {what}"] for what in MEASURES}
    return found


def speed(tree: Path) -> dict[str, float]:
    """Return the median CPU milliseconds of one call, by what judges."""
    sources = _sources(tree)
    claims = _claims(sources)
    return {
        "words only, CPU ms": _median_ms(claims, sources, None),
        "full, CPU ms": _median_ms(claims, sources, MiniLmEmbedder()),
    }


def _sources(tree: Path) -> list[str]:
    """Return the first 500 words of the first ten files that have as many, lines kept."""
    found: list[str] = []
    for path in sorted(tree.rglob("*.md")):
        lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
        text, n_words = "", 0
        for line in lines:
            if n_words >= N_WORDS:
                break
            text, n_words = text + line, n_words + len(line.split())
        if n_words >= N_WORDS:
            found.append(text)
        if len(found) == N_SOURCES:
            return found
    sys.exit(f"{tree} has fewer than {N_SOURCES} Markdown files of {N_WORDS} words")


def _claims(sources: Sequence[str]) -> list[str]:
    """Return fifty sentences of the sources, a word of each changed: none is a verbatim quote."""
    claims: list[str] = []
    for source in sources:
        own = [source[one.start : one.end].split() for one in sentences(source)]
        own = [words for words in own if 8 <= len(words) <= 40][: N_CLAIMS // N_SOURCES]
        claims += [" ".join([*words[:4], "seven", *words[5:]]) for words in own]
    return (claims * N_CLAIMS)[:N_CLAIMS]


def _median_ms(
    claims: Sequence[str], sources: Sequence[str], embedder: EmbeddingModel | None
) -> float:
    verifier = CitationVerifier(embedder=embedder)
    took = []
    for _ in range(N_RUNS + 1):
        began = time.process_time()
        verifier.verify_sync(claims, sources)
        took.append((time.process_time() - began) * 1000)
    return round(statistics.median(took[1:]), 1)


def main() -> None:
    """Run and keep."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/grounding")
    parser.add_argument("--tree", type=Path, default=ROOT.parent / "corpora/powershell-docs")
    parser.add_argument("--cache", type=Path, help="keeps the vectors for the next run")
    parser.add_argument("--only", choices=PARTS, action="append")
    options = parser.parse_args()
    kept = RESULTS / "grounding.json"
    found: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    measures: dict[str, Callable[[], Any]] = {
        "sets": lambda: sets(options.data, options.cache),
        "challenge": challenge,
        "speed": lambda: speed(options.tree),
    }
    for part in options.only or PARTS:
        found[part] = measures[part]()
    line = "python benchmarks/grounding.py --data DATA --tree TREE --cache CACHE"
    told = {part: found[part] for part in PARTS if part in found}
    if "sets" in told and "challenge" in told:
        told["macro"] = figures(told["sets"]["sets"], told["challenge"])
    print(f"kept in {keep('grounding', {**told, 'command': line})}")


if __name__ == "__main__":
    main()
