"""Run the product's own evaluation over public data and write the tables of docs/evaluation.md.

    python benchmarks/quality.py --data ../shared/data [--only retrieval] [--quick]

The tables stand between ``<!-- measured:NAME -->`` and ``<!-- /measured:NAME -->``; text around
them is left alone.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from machine import keep

ROOT = Path(__file__).parent.parent
COMMANDS = ("retrieval", "tiers", "routing", "grounding")
COLUMNS = {
    "retrieval": ("n", "hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@5", "p50_ms"),
    "tiers": ("n", "accuracy", "macro_f1", "ece"),
    "routing": ("n", "accuracy", "oos_recall", "ece"),
    "grounding": ("n", "balanced_accuracy", "auroc", "recall"),
}


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


def shown(value: Any) -> str:
    """Return a value as it stands in the table."""
    if value is None:
        return "–"
    if isinstance(value, dict):
        return ", ".join(f"{name} {share:.2f}" for name, share in value.items())
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table(command: str, found: dict[str, Any]) -> str:
    """Return one Markdown table: a row per data set, and per language where there are many."""
    columns = COLUMNS[command]
    rows = [("data set", *columns), ("---", *["---:"] * len(columns))]
    for name, values in found["datasets"].items():
        rows.append((name, *(shown(values.get(column)) for column in columns)))
        for group in ("languages", "answerability"):
            for member, numbers in values.get(group, {}).items():
                rows.append((f"{name}, {member}", *(shown(numbers.get(c)) for c in columns)))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def insert(page: str, name: str, text: str) -> str:
    """Put text between the markers of ``name``; add them at the end when they are missing."""
    start, end = f"<!-- measured:{name} -->", f"<!-- /measured:{name} -->"
    block = f"{start}\n{text}\n{end}"
    if start not in page:
        return f"{page.rstrip()}\n\n## eval {name}\n\n{block}\n"
    return re.sub(f"{re.escape(start)}.*?{re.escape(end)}", lambda _: block, page, flags=re.DOTALL)


def main() -> None:
    """Measure, keep the JSON, write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=COMMANDS, action="append")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "evaluation.md")
    parser.add_argument("--reports", type=Path, help="folder for one HTML report per command")
    parser.add_argument("--cache", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--quick", action="store_true", help="20 cases each; page and results stay")
    options = parser.parse_args()
    for command in options.only or COMMANDS:
        extra = ["--limit", "20"] if options.quick else []
        if options.cache and command == "retrieval":
            extra += ["--cache", str(options.cache)]
        if options.reports:
            options.reports.mkdir(parents=True, exist_ok=True)
            extra += ["--report", str(options.reports / f"{command}.html")]
        found = evaluate(command, options.data, extra)
        text = table(command, found)
        print(f"eval {command}, {found['took_ms'] / 1000:.0f} s\n{text}\n")
        if options.quick:
            continue
        keep(f"quality-{command}", found)
        page = (
            options.page.read_text(encoding="utf-8") if options.page.exists() else "# Evaluation\n"
        )
        options.page.parent.mkdir(exist_ok=True)
        options.page.write_text(insert(page, command, text), encoding="utf-8")


if __name__ == "__main__":
    main()
