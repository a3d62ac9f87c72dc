"""Measure the local decision model: from descriptions alone, from examples, and how long it takes.

    python benchmarks/decide.py --data ../shared/data [--draws 5]

Accuracy, out-of-scope recall and calibration error are those of ``fingerpost eval routing``. The
examples of a draw are ten questions per source, drawn at random with seeds 0, 1, …; they are not
measured. Latency is CPU time of `LocalDecisionModel` for ten described sources in one call.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio

from fingerpost.decide import LocalDecisionModel
from fingerpost.decide.query_router import DEFAULT_QUESTION_TEMPLATE
from fingerpost.decide.template import QuestionTemplate
from fingerpost.lanes.asked import ask
from fingerpost.lanes.providers import MiniLmEmbedder
from fingerpost.types.question import YesNo
from machine import keep

ROOT = Path(__file__).parent.parent
SETS = ("banking77", "clinc150", "mtrag_collections")
LEARNT = ("banking77", "clinc150")
MEASURES = ("n", "accuracy", "accuracy_rewrite", "accuracy_forced", "oos_recall", "ece")
N_EXAMPLES = 10
N_TIMED = 300


def files(data: Path, name: str) -> tuple[Path, Path]:
    """Return the questions and the sources of a data set."""
    return data / f"routing/{name}.jsonl", data / f"common/routing/{name}_sources.jsonl"


def measured(data: Path, name: str, *more: str) -> dict[str, Any]:
    """Return the measures of the product's own command."""
    queries, sources = files(data, name)
    command = [sys.executable, "-m", "fingerpost", "eval", "routing", "--json", *more]
    command += ["--queries", str(queries), "--sources", str(sources)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    found = json.loads(ran.stdout)["datasets"][name]
    return {key: found[key] for key in MEASURES if found.get(key) is not None}


def drawn(data: Path, name: str, draws: int) -> dict[str, Any]:
    """Return mean and standard deviation over draws of the examples."""
    runs = [
        measured(data, name, "--examples", str(N_EXAMPLES), "--seed", str(seed))
        for seed in range(draws)
    ]
    return {
        key: {
            "mean": round(statistics.mean(run[key] for run in runs), 4),
            "sd": round(statistics.stdev(run[key] for run in runs), 4),
        }
        for key in runs[0]
    } | {"draws": draws}


def latency(data: Path) -> dict[str, float]:
    """Return CPU milliseconds of the first call, which embeds the descriptions, and of others."""
    queries, sources = files(data, "clinc150")
    told = [json.loads(line) for line in sources.read_text("utf-8").split("\n") if line]
    asked = [json.loads(line)["text"] for line in queries.read_text("utf-8").split("\n") if line]
    template = QuestionTemplate(DEFAULT_QUESTION_TEMPLATE)
    questions = [
        YesNo(source["id"], template.about(f"{source['name']}: {', '.join(source['intents'])}"))
        for source in told
    ]
    model = LocalDecisionModel(MiniLmEmbedder())

    async def run() -> list[float]:
        took = []
        for text in ["warm", *asked[:: max(1, len(asked) // N_TIMED)]]:
            began = time.process_time()
            await ask(model, text, questions)
            took.append((time.process_time() - began) * 1000)
        return took

    first, *rest = anyio.run(run)
    return {
        "sources": len(questions),
        "first_call_cpu_ms": round(first, 1),
        "p50_cpu_ms": round(statistics.median(rest), 2),
        "p95_cpu_ms": round(statistics.quantiles(rest, n=20)[-1], 2),
    }


def main() -> None:
    """Run and keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    found = {
        "descriptions": {name: measured(options.data, name) for name in SETS},
        "examples": {name: drawn(options.data, name, options.draws) for name in LEARNT},
        "latency": latency(options.data),
    }
    print(f"kept in {keep('decide', found)}")


if __name__ == "__main__":
    main()
