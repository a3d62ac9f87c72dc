"""The steps that are timed; each runs in a process of its own, in the python of its system."""

from __future__ import annotations

import gc
import importlib
import resource
import statistics
import time
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from machine import peak_mb, resident_mb
from peers.given import Given, Known, Search, read_json

LEAST = 3
PACKAGES = (
    "llama-index-core",
    "llama-index-retrievers-bm25",
    "bm25s",
    "haystack-ai",
    "langchain-core",
    "langchain-classic",
    "langchain-community",
    "rank-bm25",
    "txtai",
    "faiss-cpu",
    "semantic-router",
    "torch",
    "numpy",
)


def versions() -> dict[str, str]:
    """Return the versions of what is installed here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def limit_memory(gigabytes: float) -> None:
    """Let this process fail rather than take more memory for its data."""
    most = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def measure_search(system: str, side: str, folder: Path, *, seconds: float) -> dict[str, Any]:
    """Import one system, build or open its index and answer the questions."""
    empty_mb = resident_mb()
    with ExitStack() as closing:
        given = Given(folder, closing)
        if system != "fingerpost":
            given.read_texts()
        began = time.perf_counter()
        module = importlib.import_module(f"peers.{system}")
        imported, used = time.perf_counter(), time.process_time()
        search: Search = getattr(module, side)(given)
        built = time.perf_counter()
        out: dict[str, Any] = {
            "import_s": round(imported - began, 3),
            "start_s": round(built - imported, 3),
            "start_cpu_s": round(time.process_time() - used, 3),
        }
        given.forget_texts()
        gc.collect()
        out |= timed(search, given.questions, seconds)
        gc.collect()
        out["memory_mb"] = round(resident_mb() - empty_mb)
        out["peak_mb"] = round(peak_mb())
    return out


def timed(search: Search, questions: list[str], seconds: float) -> dict[str, Any]:
    """Return the median times of a search, after one that is not counted.

    Stops after so many seconds, but not before three questions.
    """
    search(questions[0])
    took, used, hits = [], [], []
    began = time.perf_counter()
    for question in questions:
        wall, cpu = time.perf_counter(), time.process_time()
        hits.append(len(search(question)))
        used.append((time.process_time() - cpu) * 1000)
        took.append((time.perf_counter() - wall) * 1000)
        if len(took) >= LEAST and time.perf_counter() - began > seconds:
            break
    return {
        "p50_ms": round(statistics.median(took), 3),
        "cpu_p50_ms": round(statistics.median(used), 3),
        "questions": len(took),
        "hits": statistics.median(hits),
    }


def measure_choice(system: str, folder: Path) -> dict[str, Any]:
    """Let one system choose a source for every question of every routing set."""
    module = importlib.import_module(f"peers.{system}")
    out: dict[str, Any] = {}
    for path in sorted(folder.glob("*.set.json")):
        name = path.name.removesuffix(".set.json")
        prepared = read_json(path)
        for label, chooser in module.CHOOSERS.items():
            known = Known.load(folder / f"{name}-vectors")
            choose = chooser(prepared["sources"], known)
            out.setdefault(label, {})[name] = _scored(choose, prepared["cases"])
    return out


def _scored(choose: Any, cases: list[list[Any]]) -> dict[str, Any]:
    """Return accuracy and median time; a right abstention counts where no source fits."""
    choose(cases[0][0])
    took, used, forced, chosen, refused = [], [], [], [], []
    for question, source in cases:
        wall, cpu = time.perf_counter(), time.process_time()
        choice, best = choose(question)
        used.append((time.process_time() - cpu) * 1000)
        took.append((time.perf_counter() - wall) * 1000)
        if source is None:
            refused.append(choice is None)
        else:
            chosen.append(choice == source)
            forced.append(best == source)
    return {
        "n": len(cases),
        "n_without_source": len(refused),
        "accuracy": round(statistics.mean(chosen), 3),
        "accuracy_forced": round(statistics.mean(forced), 3),
        "oos_recall": round(statistics.mean(refused), 3) if refused else None,
        "p50_ms": round(statistics.median(took), 3),
        "cpu_p50_ms": round(statistics.median(used), 3),
    }
