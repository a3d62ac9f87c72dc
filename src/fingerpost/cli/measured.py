"""What an evaluation found: for people, for machines, and as files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from fingerpost.cli.terminal import plain
from fingerpost.eval.report import html
from fingerpost.eval.run import Run
from fingerpost.eval.table import Grid, all_grids
from fingerpost.eval.table import plain as aligned

_HEADLINES = {
    "eval retrieval": (
        "n",
        "hit@1",
        "hit@5",
        "hit@10",
        "mrr",
        "ndcg@10",
        "recall@5",
        "abstained",
    ),
    "eval tiers": ("n", "accuracy", "macro_f1", "ece"),
    "eval routing": ("n", "accuracy", "oos_recall", "ece"),
    "calibrate routing": ("n", "threshold", "n_own", "cost", "exact", "ece"),
    "eval grounding": ("n", "balanced_accuracy", "auroc", "macro_recall", "spearman"),
}


def show_run(
    run: Run, *, as_json: bool, report: Path | None, per_query: Path | None, most_wrong: int
) -> None:
    """Print the run, and write its page and its cases where they are asked for.

    Raises:
        click.ClickException: A file cannot be written, or every case crashed.
    """
    if per_query is not None:
        rows = (json.dumps(one, ensure_ascii=False) for one in run.outcomes())
        _write(per_query, "".join(row + "\n" for row in rows))
    if report is not None:
        _write(report, html(run, headline=_HEADLINES[run.command], most_wrong=most_wrong))
    if as_json:
        click.echo(json.dumps(run.to_json(most_wrong=most_wrong), ensure_ascii=False))
    else:
        for grid in all_grids(run, most_wrong=most_wrong):
            _print(grid)
    for name, failures in run.failures().items():
        first = f"first {failures[0].case_id}: {failures[0].error}"
        cases = "case" if len(failures) == 1 else "cases"
        click.echo(plain(f"{name}: {len(failures)} {cases} crashed, {first}"), err=True)
    if all(len(one.failures) >= int(one.values["n"] or 1) for one in run.measurements):
        raise click.ClickException("every case crashed; see --report for the list")


def _print(grid: Grid) -> None:
    if not sys.stdout.isatty():
        click.echo(plain(aligned(grid)) + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(plain(grid.title)), title_justify="left", title_style="bold")
    for place, name in enumerate(grid.header):
        right = place and grid.numbers
        table.add_column(name, justify="right" if right else "left", no_wrap=grid.numbers)
    for row in grid.rows:
        table.add_row(*(Text(plain(text)) for text in row))
    Console().print(table)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from error
