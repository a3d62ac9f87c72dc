"""Measurements as tables of text: for a terminal, for a pipe, for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fingerpost.eval.measurement import Measurement
from fingerpost.eval.run import Run

_NONE = "–"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text. The first column names the row, the others are numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def cell(name: str, value: object) -> str:
    """Return a number as people read it: shares with three decimals, times with one."""
    if value is None:
        return _NONE
    if isinstance(value, float):
        return f"{value:.1f}" if name.endswith("_ms") else f"{value:.3f}"
    return str(value)


def overview(run: Run) -> Grid:
    """Return one row per data set."""
    rows = {
        one.name: {**one.values, **({"n_failed": len(one.failures)} if one.failures else {})}
        for one in run.measurements
    }
    return _grid(run.command, "data set", rows)


def details(measurement: Measurement) -> list[Grid]:
    """Return the tables below the overview: by language or source, confusion, recall."""
    grids = [
        _grid(f"{measurement.name}, by {_singular(kind)}", _singular(kind), members)
        for kind, members in measurement.groups.items()
    ]
    for name, table in measurement.tables.items():
        title = f"{measurement.name}, {name}"
        if all(isinstance(row, Mapping) for row in table.values()):
            grids.append(_grid(title, "true", table))
        else:
            grids.append(_grid(title, "label", {k: {name: v} for k, v in table.items()}))
    return grids


def all_grids(run: Run) -> list[Grid]:
    """Return the overview and every detail."""
    grids = [overview(run)]
    for measurement in run.measurements:
        grids.extend(details(measurement))
    return grids


def plain(grid: Grid) -> str:
    """Return the table with columns aligned by blanks, without colour."""
    widths = [
        max(len(row[column]) for row in (grid.header, *grid.rows))
        for column in range(len(grid.header))
    ]
    lines = [grid.title]
    for row in (grid.header, *grid.rows):
        first = row[0].ljust(widths[0])
        rest = [text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([first, *rest]).rstrip())
    return "\n".join(lines)


def markdown(grid: Grid) -> str:
    """Return the table in Markdown, without its title."""
    rule = ["---", *["---:"] * (len(grid.header) - 1)]
    rows = [grid.header, tuple(rule), *grid.rows]
    return "\n".join("| " + " | ".join(_escaped(row)) + " |" for row in rows)


def _escaped(row: Sequence[str]) -> list[str]:
    return [text.replace("|", "\\|") for text in row]


def _singular(kind: str) -> str:
    return kind.removesuffix("s")


def _grid(title: str, corner: str, rows: Mapping[str, object]) -> Grid:
    columns: dict[str, None] = {}
    for values in rows.values():
        assert isinstance(values, Mapping)
        columns.update(dict.fromkeys(values))
    return Grid(
        title=title,
        header=(corner, *columns),
        rows=tuple(
            (name, *(cell(column, values.get(column)) for column in columns))
            for name, values in rows.items()
            if isinstance(values, Mapping)
        ),
    )
