"""Measure what the fitted parts say of data they never saw, and keep it.

    python benchmarks/fits.py --data ../shared/data --cache CACHE [--only tiers]

Each ``scripts/fit_NAME.py`` is run without ``--write``: nothing that ships changes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from machine import keep, step

ROOT = Path(__file__).parent.parent
SETS = ("docsfaq", "hotpotqa", "mtrag_un", "scifact")
NAMES = ("tiers", "looks", "fusion")


def arguments(name: str, data: Path, cache: Path) -> list[str]:
    """Return the arguments of one script."""
    tiers = str(data / "tiers" / "tiers.jsonl")
    more = ["--lookups", str(data / "routing" / "banking77.jsonl"), "--questions"]
    more += [str(data / "multiturn" / f"{one}.jsonl") for one in ("mtrag", "trec_cast")]
    if name == "tiers":
        return [tiers, *more, "--report"]
    if name == "looks":
        return [str(data / "retrieval"), tiers, *more, "--indexes", str(cache / "looks")]
    return [str(data / "retrieval"), "--cache", str(cache / "fusion"), "--sets", *SETS]


def main() -> None:
    """Run and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, required=True, help="keeps indexes and vectors")
    parser.add_argument("--only", choices=NAMES, action="append")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    for name in options.only or NAMES:
        script = str(ROOT / "scripts" / f"fit_{name}.py")
        found = step(script, sys.executable, *arguments(name, options.data, options.cache))
        if "error" in found:
            sys.exit(f"fit_{name}.py: {found['error']}")
        line = f"python benchmarks/fits.py --data DATA --cache CACHE --only {name}"
        print(f"kept in {keep(f'fit-{name}', {**found, 'command': line})}")


if __name__ == "__main__":
    main()
