"""Measure what the fitted parts say of data they never saw, and write it into docs/evaluation.md.

    python benchmarks/fits.py --data ../shared/data --cache CACHE [--only tiers]

Each ``scripts/fit_NAME.py`` is run without ``--write``: nothing that ships changes. Its figures
are kept in ``results/fit-NAME.json``, and the tables stand between ``<!-- measured:fit-NAME -->``
and ``<!-- /measured:fit-NAME -->``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from machine import keep, step
from quality import insert

ROOT = Path(__file__).parent.parent
SETS = ("docsfaq", "hotpotqa", "mtrag_un", "scifact")
NAMES = ("tiers", "looks", "fusion", "judge")


def arguments(name: str, data: Path, cache: Path) -> list[str]:
    """Return the arguments of one script."""
    tiers = str(data / "tiers" / "tiers.jsonl")
    more = ["--lookups", str(data / "routing" / "banking77.jsonl"), "--questions"]
    more += [str(data / "multiturn" / f"{one}.jsonl") for one in ("mtrag", "trec_cast")]
    if name == "tiers":
        return [tiers, *more, "--report"]
    if name == "looks":
        return [str(data / "retrieval"), tiers, *more, "--indexes", str(cache / "looks")]
    if name == "fusion":
        return [str(data / "retrieval"), "--cache", str(cache / "fusion"), "--sets", *SETS]
    return [str(data / "grounding"), "--cache", str(cache / "judge.pkl")]


def shown(value: Any) -> str:
    """Return a figure as it stands in the table."""
    if value is None:
        return "–"
    if isinstance(value, list):
        return " / ".join(f"{one:.3f}" for one in value)
    if isinstance(value, dict):
        return " / ".join(f"{value[one]:.3f}" for one in ("hit@1", "hit@5", "recall@5"))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows of equal columns as Markdown."""
    columns = list(rows[0])
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(shown(row.get(one)) for one in columns) + " |" for row in rows]
    return "\n".join(lines)


def tables(name: str, found: dict[str, Any]) -> str:
    """Return what the page shows of one script."""
    if name != "tiers":
        return table([*found["sets"]])
    figures = [
        {"figure": key, "value": value}
        for key, value in found.items()
        if not isinstance(value, list)
    ]
    return f"{table(figures)}\n\n{table(found['by tier'])}"


def main() -> None:
    """Run, keep, write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, required=True, help="keeps indexes and vectors")
    parser.add_argument("--only", choices=NAMES, action="append")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "evaluation.md")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    for name in options.only or NAMES:
        script = str(ROOT / "scripts" / f"fit_{name}.py")
        found = step(script, sys.executable, *arguments(name, options.data, options.cache))
        if "error" in found:
            sys.exit(f"fit_{name}.py: {found['error']}")
        keep(f"fit-{name}", found)
        text = tables(name, found)
        print(f"fit {name}\n{text}\n")
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(insert(page, f"fit-{name}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
