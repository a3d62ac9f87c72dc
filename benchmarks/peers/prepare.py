"""Write what every system is given: chunks, questions, described sources, and their vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import steps
from fingerpost.stores.open import open_store
from peers import fingerpost
from peers.given import Known, said_of, write_json

QUICK_FILES = 60
N_QUESTIONS = 100
N_CASES = 1500
MANY_FILES = 500


def prepare_tree(tree: Path, folder: Path, *, quick: bool) -> dict[str, Any]:
    """Index a tree and write chunks, questions and vectors for everyone.

    Vectors are those of the local model up to 500 files, random beyond and when it must be quick.
    """
    copy = steps.copied(tree, folder / "tree", QUICK_FILES if quick else None)
    random = quick or len(steps.files_of(copy)) > MANY_FILES
    known = Known(steps.RandomVectors() if random else steps.local_model())
    steps.index_tree(copy, folder / "index")
    filled = steps.fill(folder / "index", known)
    known.save(folder / "embedded")
    store = open_store(str(folder / "index"))
    with store.reader() as reader:
        stored = [
            one for document in reader.documents() for one in reader.document_chunks(document.id)
        ]
        texts = ["\n".join([*one.chunk.heading_path, one.chunk.text]) for one in stored]
        np.save(folder / "texts.npy", reader.vectors([one.key for one in stored]))
        # txtai reads a quote in a question as syntax.
        questions = [name for name in steps.questions_of(reader) if "'" not in name]
    store.close()
    write_json(folder / "texts.json", texts)
    asked = Known(known)
    asked.embed(questions[:N_QUESTIONS])
    asked.save(folder / "questions")
    return {
        "tree": tree.name,
        "files": len(steps.files_of(copy)),
        "chunks": len(texts),
        "distinct": filled["embedded"],
        "vectors": "random: right for speed, wrong for answers" if random else "local",
    }


def build(folder: Path, place: int) -> dict[str, Any]:
    """Time the first build of our index: by words, then the vectors of a model that is free."""
    index = folder / f"built-{place}"
    ingested = steps.ingest(folder / "tree", index)
    filled = steps.fill(index, Known.load(folder / "embedded"))
    return {
        "words_s": ingested["wall_s"],
        "words_cpu_s": ingested["cpu_s"],
        "vectors_s": filled["wall_s"],
        "vectors_cpu_s": filled["cpu_s"],
    }


def prepare_sources(data: Path, folder: Path, *, quick: bool) -> dict[str, Any]:
    """Write the routing sets with the vectors that either side asks for."""
    model = steps.local_model()
    counts = {}
    for path in sorted((data / "routing").glob("*.jsonl")):
        described = data / "common" / "routing" / f"{path.stem}_sources.jsonl"
        rows, sources = _rows(path), _rows(described)
        most = min(len(rows), 100 if quick else N_CASES)
        rows = [rows[place * len(rows) // most] for place in range(most)]
        cases = [(row.get("rewrite") or row["text"], row["source"]) for row in rows]
        known = Known(model)
        fingerpost.chooser(sources, known)
        known.embed([text for text, _ in cases])
        known.embed([text for source in sources for text in said_of(source)])
        known.save(folder / f"{path.stem}-vectors")
        write_json(folder / f"{path.stem}.set.json", {"sources": sources, "cases": cases})
        counts[path.stem] = len(cases)
    return counts


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
