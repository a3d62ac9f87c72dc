"""Cranfield beside the plainest BM25+dense there is, over the same topics, judgements and vectors.

    python benchmarks/cranfield.py --data DATA --cache CACHE

Words alone (BM25), vectors alone, both fused one to one by reciprocal rank (k = 60), and the
product's own first tier. The judgements carry a code from 1 to 4, and distributions of the
collection disagree which end is the complete answer, so nDCG is given for the codes as gains, for
the codes turned round (5 - code), and for relevant or not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fingerpost.eval.cases import RetrievalCase, passage, read_cases, retrieval_case
from fingerpost.eval.index import build_index, fill_vectors, passage_ids
from fingerpost.eval.metrics import mean, ndcg_at
from fingerpost.eval.ranking import DEPTH
from fingerpost.eval.retrieval import RememberedEmbedder
from fingerpost.eval.subjects import embedder_chooser
from fingerpost.retrieve import reciprocal_rank, search
from fingerpost.stores.base import Reader
from fingerpost.types.evidence import Hit
from machine import keep
from quality import pairs

ROOT = Path(__file__).parent.parent
NAME = "cranfield"
FUSED = 100
WIDER = 50
GAINS: Mapping[str, Callable[[float], float]] = {
    "code as gain": lambda code: code,
    "5 - code": lambda code: 5 - code,
    "relevant or not": lambda _: 1.0,
}


def ranked(
    hits: Sequence[Hit], ids: Mapping[str, str], rank: Callable[[Hit], int | None]
) -> list[str]:
    """Return passages in the order of one leg's ranks."""
    found = sorted(
        (place, ids[hit.document.path]) for hit in hits if (place := rank(hit)) is not None
    )
    return list(dict.fromkeys(name for _, name in found))


def rankings(
    reader: Reader, embedder: RememberedEmbedder, ids: Mapping[str, str], case: RetrievalCase
) -> dict[str, list[str]]:
    """Return the passages of one topic in the order of each way."""
    own = list(search(reader, case.question, embedder=embedder, k=DEPTH).hits)
    own += search(reader, case.question, embedder=embedder, k=WIDER).hits  # as `eval` looks further
    every = search(reader, case.question, embedder=embedder, k=FUSED, explain=True).candidates
    words = ranked(every, ids, lambda hit: hit.lexical_rank)
    vectors = ranked(every, ids, lambda hit: hit.vector_rank)
    return {
        "BM25": words,
        "MiniLM": vectors,
        "both, reciprocal rank": [name for name, _ in reciprocal_rank([words, vectors])],
        "fingerpost, T1": list(dict.fromkeys(ids[hit.document.path] for hit in own)),
    }


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, required=True, help="keeps the index")
    options = parser.parse_args()
    files = next(pair for pair in pairs(options.data) if pair[1].stem == f"{NAME}_queries")
    rows = list(read_cases(files[0], passage))
    cases = [case for case in read_cases(files[1], retrieval_case) if case.gold]
    store = build_index(NAME, rows, options.cache / f"{NAME}-auto.index")
    model = embedder_chooser("auto")(store)
    if model is None:
        raise SystemExit("the local model is not installed")
    fill_vectors(NAME, store, model)
    embedder, ids = RememberedEmbedder(model), passage_ids(rows)
    values: dict[str, dict[str, list[float]]] = {}
    with store.reader() as reader:
        for case in cases:
            for way, found in rankings(reader, embedder, ids, case).items():
                for name, gain in GAINS.items():
                    grades = {one: gain(code) for one, code in case.grades.items()}
                    one = values.setdefault(way, {}).setdefault(name, [])
                    one.append(ndcg_at(found, grades, DEPTH))
    store.close()
    means = {
        way: {name: round(mean(own), 3) for name, own in by.items()} for way, by in values.items()
    }
    for way, by in means.items():
        print(way, by)
    line = "python benchmarks/cranfield.py --data DATA --cache CACHE"
    keep(
        NAME, {"command": line, "n_topics": len(cases), "n_documents": len(rows), "ndcg@10": means}
    )


if __name__ == "__main__":
    main()
