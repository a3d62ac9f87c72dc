"""Run the product's own evaluation over public data and keep what it found.

python benchmarks/quality.py --data ../shared/data [--only retrieval] [--quick]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from machine import keep

ROOT = Path(__file__).parent.parent
COMMANDS = ("retrieval", "tiers", "routing", "grounding")


def pairs(data: Path) -> list[tuple[Path, Path]]:
    """Return (passages, queries) of every retrieval set; shared passages stand in ``common``."""
    found = []
    for queries in sorted((data / "retrieval").glob("*_queries.jsonl")):
        name = queries.name.replace("_queries", "_passages")
        passages = queries.with_name(name)
        if not passages.exists():
            passages = data / "common" / "retrieval" / name
        found.append((passages, queries))
    return found


def arguments(command: str, data: Path) -> list[str]:
    """Return the files of one command."""
    if command == "retrieval":
        return [
            text
            for passages, queries in pairs(data)
            for text in ("--passages", str(passages), "--queries", str(queries))
        ]
    if command == "routing":
        found = []
        for queries in sorted((data / "routing").glob("*.jsonl")):
            sources = data / "common" / "routing" / f"{queries.stem}_sources.jsonl"
            found += ["--queries", str(queries), "--sources", str(sources)]
        return found
    return [str(path) for path in sorted((data / command).glob("*.jsonl"))]


def evaluate(command: str, data: Path, extra: list[str]) -> dict[str, Any]:
    """Run one command; return its JSON object."""
    line = [sys.executable, "-m", "fingerpost", "eval", command, "--json"]
    line += [*arguments(command, data), *extra]
    ran = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"fingerpost eval {command} ended with exit code {ran.returncode}")
    out: dict[str, Any] = json.loads(ran.stdout)
    return out


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=COMMANDS, action="append")
    parser.add_argument("--reports", type=Path, help="folder for one HTML report per command")
    parser.add_argument("--cache", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--quick", action="store_true", help="20 cases each; nothing is kept")
    options = parser.parse_args()
    for command in options.only or COMMANDS:
        extra = ["--limit", "20"] if options.quick else []
        if options.cache and command == "retrieval":
            extra += ["--cache", str(options.cache)]
        if options.reports:
            options.reports.mkdir(parents=True, exist_ok=True)
            extra += ["--report", str(options.reports / f"{command}.html")]
        found = evaluate(command, options.data, extra)
        print(f"eval {command}: {found['took_ms'] / 1000:.0f} s, {len(found['datasets'])} sets")
        if not options.quick:
            line = f"python benchmarks/quality.py --data DATA --only {command}"
            keep(f"quality-{command}", {**found, "command": line})


if __name__ == "__main__":
    main()
