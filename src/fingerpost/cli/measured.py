"""What an evaluation found: for people, for machines, and as files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from fingerpost.cli.terminal import plain
from fingerpost.errors import FingerpostError
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


Files = Mapping[Path, Callable[[Path], None]]
"""What is written beside the tables: where, and what writes it there."""


def require_places(*files: Path | None) -> None:
    """Refuse files that cannot be written, before any work is done for them.

    A pipe or a device is left alone: it says so when it is written.

    Raises:
        click.ClickException: One cannot be made or opened.
    """
    for file in files:
        if file is None or (file.exists() and not file.is_file() and not file.is_dir()):
            continue
        is_new = not os.path.lexists(file)
        try:
            file.open("ab").close()
            if is_new:
                file.unlink()
        except OSError as error:
            raise click.ClickException(f"{file}: cannot be written: {error.strerror}") from error


def show_run(
    run: Run,
    files: Files,
    *,
    as_json: bool,
    report: Path | None,
    per_query: Path | None,
    most_wrong: int,
) -> None:
    """Print the run, then write its page, its cases and further files where they are asked for.

    A file that cannot be written keeps no other from being written.

    Raises:
        click.ClickException: Every case crashed.
        click.exceptions.Exit: A file could not be written, which stderr says.
    """
    _show(run, as_json=as_json, most_wrong=most_wrong)
    wanted = list(files.items())
    if per_query is not None:
        wanted.append((per_query, partial(_write_cases, run)))
    if report is not None:
        wanted.append((report, partial(_write_page, run, most_wrong)))
    # A list, so that all are written: a generator would end at the first fault.
    are_written = [_is_written(path, write) for path, write in wanted]
    if all(len(one.failures) >= int(one.values["n"] or 1) for one in run.measurements):
        raise click.ClickException("every case crashed; see --report for the list")
    if not all(are_written):
        raise click.exceptions.Exit(1)


def _show(run: Run, *, as_json: bool, most_wrong: int) -> None:
    if as_json:
        click.echo(json.dumps(run.to_json(most_wrong=most_wrong), ensure_ascii=False))
    else:
        for grid in all_grids(run, most_wrong=most_wrong):
            _print(grid)
    for name, failures in run.failures().items():
        first = f"first {failures[0].case_id}: {failures[0].error}"
        cases = "case" if len(failures) == 1 else "cases"
        click.echo(plain(f"{name}: {len(failures)} {cases} crashed, {first}"), err=True)


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


def _is_written(path: Path, write: Callable[[Path], None]) -> bool:
    try:
        write(path)
    except OSError as error:
        fault = f"{path}: cannot be written: {error.strerror}"
    except FingerpostError as error:
        fault = str(error)
    else:
        return True
    click.echo(plain(f"error: {fault}"), err=True)
    return False


def _write_cases(run: Run, path: Path) -> None:
    rows = (json.dumps(one, ensure_ascii=False) for one in run.outcomes())
    _write(path, "".join(row + "\n" for row in rows))


def _write_page(run: Run, most_wrong: int, path: Path) -> None:
    _write(path, html(run, headline=_HEADLINES[run.command], most_wrong=most_wrong))


def _write(path: Path, text: str) -> None:
    # A backend may answer with half a surrogate pair; \ud800 is also what JSON has for it.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
