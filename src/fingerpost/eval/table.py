"""Measurements as tables of text: for a terminal, for a pipe, for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fingerpost.eval.measurement import Measurement, Outcome
from fingerpost.eval.run import Run

_NONE = "–"
_NARROW, _WIDE = 28, 72


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text. The first column names the row, the others are numbers unless told."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: bool = True


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
            grids.append(_grid(title, "true" if name == "confusion" else _singular(name), table))
        else:
            grids.append(_grid(title, "label", {k: {name: v} for k, v in table.items()}))
    return grids


def wrong_cases(measurement: Measurement, most: int) -> Grid:
    """Return the first ``most`` of the wrong cases, each label with its score where it has one."""
    wrong = measurement.wrong
    few = f"first {most} of {len(wrong):,}" if len(wrong) > most else f"all {len(wrong):,}"
    surest = ", the surest first" if any(one.confidence is not None for one in wrong) else ""
    return Grid(
        title=f"{measurement.name}, wrong cases: {few}{surest}",
        header=("id", "expected", "got", "confidence", "text"),
        rows=tuple(
            (
                one.case_id,
                _labels(one, one.expected),
                _labels(one, one.got) or "(crashed or nothing)",
                cell("confidence", one.confidence),
                _cut(one.text, _WIDE),
            )
            for one in wrong[:most]
        ),
        numbers=False,
    )


def _labels(outcome: Outcome, labels: Sequence[str]) -> str:
    """Return the first of the labels with its score, and how many there are more."""
    if not labels:
        return ""
    score = outcome.scores.get(labels[0])
    shown = _cut(labels[0], _NARROW) + ("" if score is None else f" {score:.2f}")
    return shown + (f" (+{len(labels) - 1})" if len(labels) > 1 else "")


def _cut(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def all_grids(run: Run, *, most_wrong: int = 0) -> list[Grid]:
    """Return the overview and every detail, then the wrong cases of each data set."""
    grids = [overview(run)]
    for measurement in run.measurements:
        grids.extend(details(measurement))
        if most_wrong and measurement.wrong:
            grids.append(wrong_cases(measurement, most_wrong))
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
        placed = str.rjust if grid.numbers else str.ljust
        rest = [placed(text, width) for text, width in zip(row[1:], widths[1:], strict=True)]
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
