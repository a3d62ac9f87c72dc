"""Speed and memory of the product, each as a ratio to the raw cost of its parts in the same run.

    python benchmarks/speed.py --tree DIR [--vectors random|local] [--quick] [--embed-seconds 60]

Steps run one after the other, each in a process of its own. CPU is process time (all threads),
so that the ratios hold on a busy machine; wall times do not.

* ``parser``: markdown-it's block parser alone over every Markdown file of the tree.
* ``ingest``: reading, splitting and indexing the tree by words.
* ``fill``: vectors for the whole index: from the local model, or (the default for more than 500
  files) random ones, so that a large index can be searched both ways without an hour of
  embedding. Random vectors are never used for quality; the result says which ones these were.
* ``open``, ``retrieve``, ``memory``: the finished index; one product of all vectors with one
  query is the raw cost beside retrieval.
* ``routes``: opening by `QueryRouter`, whole T1 to T3 routes with the question embedded by the
  local model, and routes a second with 1 and with 32 questions at once.
* ``reindex``: the index after one changed file.
* ``embed``: the local model alone, then the product's embedding of the same chunks.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import steps
from machine import keep, ratio, step

SMALL_FILES = 110
MANY_FILES = 500


def _vectors(kind: str) -> Any:
    return steps.local_model() if kind == "local" else steps.RandomVectors()


def run_step(options: argparse.Namespace) -> dict[str, Any]:
    """Run the step that this process is for."""
    tree, index = options.tree, options.index
    named: dict[str, Callable[[], dict[str, Any]]] = {
        "parser": lambda: steps.parse_alone(tree),
        "ingest": lambda: steps.ingest(tree, index),
        "fill": lambda: steps.fill(index, _vectors(options.vectors)),
        "open": lambda: steps.open_index(index),
        "retrieve": lambda: steps.retrieve(index, steps.local_model()),
        "embed-alone": lambda: steps.embed_alone(index, n_texts=options.texts, threads=2),
        "embed-product": lambda: steps.fill(
            index, steps.local_model(), seconds=options.embed_seconds
        ),
        "routes": lambda: steps.routes(tree, index),
        "reindex": lambda: steps.reindex(tree, index),
    }
    return named[options.step]()


def measure(options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Run all steps on the whole tree and on a small part of it."""
    whole = steps.copied(options.tree, scratch / "whole", 100 if options.quick else None)
    small = steps.copied(options.tree, scratch / "small", SMALL_FILES)
    me = str(Path(__file__).resolve())

    def one(name: str, tree: Path, index: str, *more: str) -> dict[str, Any]:
        print(f"{name} …", file=sys.stderr)
        found = step(
            me,
            sys.executable,
            "--step",
            name,
            "--tree",
            str(tree),
            "--index",
            str(scratch / index),
            *more,
        )
        print(f"{name}: {json.dumps(found)}", file=sys.stderr)
        return found

    kind = options.vectors
    if kind is None:
        kind = "random" if len(steps.files_of(whole)) > MANY_FILES else "local"
    out: dict[str, Any] = {
        "tree": options.tree.name,
        "vectors": kind if kind == "local" else "random: right for speed, wrong for answers",
        "whole": {"parser": one("parser", whole, "whole-index")},
        "small": {},
    }
    steps_of_index = ("ingest", "fill", "open", "retrieve", "routes", "reindex")
    for name in steps_of_index:
        out["whole"][name] = one(name, whole, "whole-index", "--vectors", kind)
    if len(steps.files_of(whole)) <= SMALL_FILES:
        out["small"] = {name: out["whole"][name] for name in steps_of_index}
    else:
        for name in steps_of_index:
            out["small"][name] = one(name, small, "small-index", "--vectors", kind)
    one("ingest", small, "embedded-index")
    seconds = "10" if options.quick else str(options.embed_seconds)
    product = one("embed-product", small, "embedded-index", "--embed-seconds", seconds)
    texts = str(max(20, product.get("embedded", 20)))
    alone = one("embed-alone", small, "embedded-index", "--texts", texts)
    out["small"].update({"embed-product": product, "embed-alone": alone})
    out["ratios"] = ratios(out)
    return out


def ratios(out: dict[str, Any]) -> dict[str, Any]:
    """Return each cost by the raw cost of its part."""
    whole, small = out["whole"], out["small"]
    product, alone = small["embed-product"], small["embed-alone"]
    rate = ratio(product.get("embedded"), product.get("wall_s"))
    alone_rate = ratio(alone.get("texts"), alone.get("wall_s"))
    return {
        "ingest CPU by parser CPU": ratio(
            whole["ingest"].get("cpu_s"), whole["parser"].get("cpu_s")
        ),
        "embedding rate by model alone": ratio(rate, alone_rate),
        "hybrid CPU by one product, whole": ratio(
            whole["retrieve"].get("hybrid_cpu_ms"), whole["retrieve"].get("product_cpu_ms")
        ),
        "hybrid CPU by one product, small": ratio(
            small["retrieve"].get("hybrid_cpu_ms"), small["retrieve"].get("product_cpu_ms")
        ),
        "routes a second, 32 at once by 1, whole": ratio(
            whole["routes"].get("routes_per_s_at_32"), whole["routes"].get("routes_per_s_at_1")
        ),
    }


def main() -> None:
    """Measure, or run one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="folder of Markdown files")
    parser.add_argument("--quick", action="store_true", help="100 files; results are not kept")
    parser.add_argument(
        "--vectors",
        choices=("random", "local"),
        help="default: random for more than 500 files, else local",
    )
    parser.add_argument("--embed-seconds", type=float, default=60.0)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=int, default=200, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(run_step(options)))
        return
    with tempfile.TemporaryDirectory(prefix="fingerpost-speed-") as folder:
        out = measure(options, Path(folder))
    print(json.dumps(out, indent=2))
    if not options.quick:
        print(f"kept in {keep(f'speed-{options.tree.name}', out)}")


if __name__ == "__main__":
    main()
