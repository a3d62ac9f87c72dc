"""Medians over rounds, ratios to ours, and both as tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from machine import ratio

OURS = "fingerpost"
Run = dict[str, Any]
Side = dict[str, Run]


def middle(runs: Sequence[Run]) -> Run:
    """Return the median of each number over the runs; the reason when one of them failed."""
    failed = [run["error"] for run in runs if "error" in run]
    if failed:
        return {"skipped": failed[0]}
    return {key: round(statistics.median(run[key] for run in runs), 3) for key in runs[0]}


def ratios(side: Side, build_s: float | None) -> dict[str, Run]:
    """Return each peer's cost by ours; above 1 ours is less."""
    ours = side[OURS]

    def by(run: Run, key: str) -> float | None:
        return ratio(run.get(key), ours.get(key))

    return {
        name: {
            "retrieve": by(run, "p50_ms"),
            "retrieve CPU": by(run, "cpu_p50_ms"),
            "start by our opening": by(run, "start_s"),
            "start by our first build": ratio(run.get("start_s"), build_s),
            "memory": by(run, "memory_mb"),
            "import": by(run, "import_s"),
        }
        for name, run in side.items()
        if name != OURS and "skipped" not in run
    }


def show(out: Run) -> str:
    """Return every table of a result."""
    parts = []
    for tree in out["trees"].values():
        if "error" in tree:
            parts.append(f"skipped: {tree['error']}")
        for side, found in tree.get("sides", {}).items():
            counts = f"{tree['chunks']:,} chunks ({tree['distinct']:,} distinct)"
            title = f"{side}, {tree['tree']}, {counts}"
            parts.append(show_side(title, found, tree["ratios"][side]))
    if "choice" in out:
        parts.append(show_choice(out["choice"]))
    return "\n\n".join(parts)


def show_side(title: str, side: Side, by_ours: dict[str, Run]) -> str:
    """Return one side as a table; in brackets how many times ours."""
    lines = [
        f"{title}: in brackets by fingerpost, above 1 it is the faster or the smaller",
        "",
        "| system | import s | start s | memory MB | peak MB | p50 ms | CPU p50 ms |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, run in side.items():
        if "skipped" in run:
            lines.append(f"| {name} | skipped: {run['skipped']} | | | | | |")
            continue
        found = by_ours.get(name, {})
        cells = [
            _cell(run["import_s"], found.get("import")),
            _cell(run["start_s"], found.get("start by our opening")),
            _cell(run["memory_mb"], found.get("memory")),
            _cell(run["peak_mb"], None),
            _cell(run["p50_ms"], found.get("retrieve")),
            _cell(run["cpu_p50_ms"], found.get("retrieve CPU")),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def show_choice(choice: dict[str, dict[str, Run]]) -> str:
    """Return the choice of a source as a table; in brackets the time by ours."""
    lines = [
        "choice of a source, vectors known: accuracy forced is without abstaining",
        "",
        "| system | set | n | accuracy | accuracy forced | none fits, and says so | p50 ms |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for label, sets in choice.items():
        if "skipped" in sets:
            lines.append(f"| {label} | skipped: {sets['skipped']} | | | | | |")
            continue
        for name, run in sets.items():
            ours = choice[OURS].get(name, {}).get("p50_ms") if label != OURS else None
            cells = [
                str(run["n"]),
                f"{run['accuracy']:.3f}",
                f"{run['accuracy_forced']:.3f}",
                "" if run["oos_recall"] is None else f"{run['oos_recall']:.3f}",
                _cell(run["p50_ms"], ratio(run["p50_ms"], ours)),
            ]
            lines.append(f"| {label} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float, times: float | None) -> str:
    if times is None:
        return f"{value:,g}"
    return f"{value:,g} ({times:,.0f})" if times >= 10 else f"{value:,g} ({times:.2g})"
