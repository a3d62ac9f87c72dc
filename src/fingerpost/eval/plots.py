"""Plots as values: what is to be drawn, not how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bars:
    """Groups of bars over 0 to 1.

    Attributes:
        title: Heading above.
        series: Names of the bars within a group, in the order of their values.
        rows: (group, one value per series; ``None`` leaves the bar out).
    """

    title: str
    series: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix; each row is shaded by its shares.

    Attributes:
        title: Heading above.
        rows: True labels, top down.
        columns: Chosen labels, left to right.
        counts: One list per row.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a curve.

    Attributes:
        points: (x, y), both 0 to 1, in drawing order.
        weights: Size of a mark per point, > 0; empty draws the line alone.
        name: For the legend.
    """

    points: tuple[tuple[float, float], ...]
    weights: tuple[float, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines over the unit square.

    Attributes:
        title: Heading above.
        x_label: What runs to the right.
        y_label: What runs up.
        lines: One to three; from two on there is a legend.
        diagonal: Draw the line of equality to compare with.
        note: One sentence under the plot.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    diagonal: bool = False
    note: str = ""

    @property
    def legend(self) -> tuple[Line, ...]:
        """Return the lines that a legend names, none where there is one line."""
        return self.lines if len(self.lines) > 1 else ()


Plot = Bars | Matrix | Curve


def matrix_of(title: str, counts: dict[str, dict[str, int]]) -> Matrix:
    """Return the confusion matrix of gold → chosen → count, empty rows and columns left out."""
    rows = tuple(name for name, row in counts.items() if any(row.values()))
    names = dict.fromkeys(name for row in counts.values() for name in row)
    columns = tuple(name for name in names if any(row.get(name, 0) for row in counts.values()))
    return Matrix(
        title=title,
        rows=rows,
        columns=columns,
        counts=tuple(tuple(counts[row].get(column, 0) for column in columns) for row in rows),
    )


def thinned(
    points: Sequence[tuple[float, float]], most: int = 200
) -> tuple[tuple[float, float], ...]:
    """Return at most about ``most`` of the points, the first and the last among them."""
    if len(points) <= most:
        return tuple(points)
    step = (len(points) - 1) / (most - 1)
    return tuple(points[round(place * step)] for place in range(most))
