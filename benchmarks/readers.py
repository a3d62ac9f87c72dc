"""What a search takes at the slow end while documents are read, by what it takes on an idle index.

    python benchmarks/readers.py --tree DIR [--quick]

Fifty readers each ask every second, spread over it, each with a reader of its own. First nothing
else runs; then another process changes a tenth of the files and indexes them, again and again.
The figure is the 99th percentile of the wall time of a search by words, and its ratio: on two
cores the other process takes one of them and more, which is part of what is measured.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import steps
from machine import keep, ratio

READERS, EVERY_S, SECONDS = 50, 1.0, 30.0
QUICK_FILES, QUICK_SECONDS = 100, 3.0
CHANGED_SHARE, WORKERS = 0.1, 1
SEED = 16


def write_for_ever(tree: Path, index: Path) -> None:
    """Change files and index them until the process is ended; a line for each time."""
    from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
    from fingerpost.corpus.worker import give_way
    from fingerpost.observe.observer import ignore
    from fingerpost.stores.open import open_store

    give_way()  # as `fingerpost index --watch` does
    rng = random.Random(SEED)
    files = sorted(steps.files_of(tree))
    store = open_store(str(index))
    root, options = CorpusRoot("docs", tree.resolve()), IndexOptions(embed=False, workers=WORKERS)
    number = 0
    while True:
        number += 1
        for file in rng.sample(files, max(1, int(len(files) * CHANGED_SHARE))):
            with file.open("a", encoding="utf-8") as text:
                text.write(f"\n\nRound {number}.\n")
        index_corpus(store, [root], embedder=None, options=options, observe=ignore)
        print(number, flush=True)


def latencies(index: Path, seconds: float) -> list[float]:
    """Return the milliseconds of each search that the readers made."""
    from fingerpost.retrieve import search
    from fingerpost.stores.open import open_store
    from fingerpost.types.query import Filters

    store = open_store(str(index))
    with store.reader() as reader:
        questions = steps.questions_of(reader)
    took: list[float] = []
    started = time.perf_counter()

    def ask(place: int) -> None:
        rng = random.Random(place)
        due = started + EVERY_S * place / READERS
        while due < started + seconds:
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            with store.reader() as reader:
                search(reader, rng.choice(questions), embedder=None, filters=Filters(), k=10)
            took.append((time.perf_counter() - began) * 1000)
            due += EVERY_S

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    return took


def told(took: list[float]) -> dict[str, Any]:
    """Return number, median and 99th percentile."""
    cuts = statistics.quantiles(took, n=100)
    return {"searches": len(took), "p50_ms": round(cuts[49], 2), "p99_ms": round(cuts[98], 2)}


def measure(tree: Path, folder: Path, *, quick: bool) -> dict[str, Any]:
    """Index a copy of the tree, then ask it idle and while it is written."""
    copy, index = steps.copied(tree, folder / "tree", QUICK_FILES if quick else None), folder / "ix"
    seconds = QUICK_SECONDS if quick else SECONDS
    steps.ingest(copy, index)
    latencies(index, 1.0)  # what is loaded at the first search is not counted
    out: dict[str, Any] = {"tree": tree.name, "idle": told(latencies(index, seconds))}
    command = [sys.executable, __file__, "--tree", str(copy), "--write", str(index)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        first = int(writer.stdout.readline())
        out["written"] = told(latencies(index, seconds))
        writer.terminate()
        out["written"]["runs"] = len(writer.stdout.read().split()) + first
    out["p99 written by idle"] = ratio(out["written"]["p99_ms"], out["idle"]["p99_ms"])
    return out


def main() -> None:
    """Measure, or be the writer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="folder of Markdown files")
    parser.add_argument("--quick", action="store_true", help="100 files; the result is not kept")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write_for_ever(options.tree, options.write)
    with tempfile.TemporaryDirectory(prefix="fingerpost-readers-") as folder:
        out = measure(options.tree, Path(folder), quick=options.quick)
    print(json.dumps(out, indent=2))
    if not options.quick:
        print(f"kept in {keep(f'readers-{options.tree.name}', out)}")


if __name__ == "__main__":
    main()
