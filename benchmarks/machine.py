"""What every benchmark needs: the machine, memory, subprocess steps, and where results go."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
_BYTECODE = "fingerpost-benchmarks-bytecode"


def machine() -> dict[str, Any]:
    """Return what the numbers were measured on."""
    model = ""
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        lines = cpu.read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), "")
    return {
        "cpu": model or platform.processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load_1m": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "loop_ms": round(min(_loop_s() for _ in range(5)) * 1000),
    }


def _loop_s() -> float:
    """Return the CPU seconds of a million plain steps: rented machines differ from day to day."""
    began = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number * number
    return time.process_time() - began


def resident_mb() -> float:
    """Return the resident memory of this process now."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return peak_mb()


def peak_mb() -> float:
    """Return the largest resident memory that this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024


def cpu_s() -> float:
    """Return the CPU seconds of this process and of its finished children, all threads."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def children_peak_mb() -> float:
    """Return the largest resident memory of any one finished child."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024


def step(script: str, python: str, *arguments: str, timeout_s: float = 3600) -> dict[str, Any]:
    """Run one step of a benchmark in a process of its own; return the JSON of its last line.

    A step that fails gives ``{"error": …}`` and does not end the benchmark.
    """
    command = [python, script, *arguments]
    # Bytecode is kept between the steps, as an installed package has it.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / _BYTECODE))
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {timeout_s:g} s"}
    lines = ran.stdout.strip().splitlines()
    if ran.returncode != 0 or not lines:
        tail = ran.stderr.strip().splitlines()[-1:] or ["no output"]
        return {"error": tail[0]}
    out: dict[str, Any] = json.loads(lines[-1])
    return out


def median_ms(
    work: Callable[[Any], object], items: Sequence[Any], *, clock: Callable[[], float]
) -> float:
    """Return the median milliseconds of ``work`` over the items, after one unmeasured call."""
    work(items[0])
    took = []
    for item in items:
        began = clock()
        work(item)
        took.append((clock() - began) * 1000)
    return statistics.median(took)


def keep(name: str, result: dict[str, Any]) -> Path:
    """Write a result with command, date and machine to ``results/NAME.json``."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    record = {
        "command": " ".join(["python", *map(_portable, sys.argv)]),
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        **result,
    }
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _portable(argument: str) -> str:
    """Return an argument as it may be typed on another machine: paths from the project's root."""
    return os.path.relpath(argument, ROOT) if Path(argument).is_absolute() else argument


def ratio(part: float | None, whole: float | None) -> float | None:
    """Return part by whole, ``None`` when either is missing."""
    return round(part / whole, 3) if part is not None and whole else None


@contextlib.contextmanager
def scripted_provider(answer: str) -> Iterator[str]:
    """Run the scripted provider in a process of its own; yield its address.

    Args:
        answer: Python expression of what it answers, ``Answer("…")``.
    """
    code = (
        "import sys\nfrom fingerpost.testing.provider import Answer, ProviderServer\n"
        f"with ProviderServer({answer}) as server:\n"
        "    print(server.url, flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield server.stdout.readline().strip()
        server.stdin.close()
