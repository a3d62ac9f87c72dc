"""Curves drawn as PNG files, with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost.errors import EvaluationError, MissingExtraError
from fingerpost.eval.plots import Curve, Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0b5cad", "#d1742b", "#5f6b75")
_INCHES, _DPI = (5.4, 5.4), 150
_SMALLEST, _LARGEST = 18.0, 130.0


def require_matplotlib() -> None:
    """Raise before any work is done when no PNG can be drawn.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(
            "PNG files are drawn by matplotlib, which is not installed.",
            hint="In the repository: pip install '.[plots]'",
        ) from error


def write_png(plot: Curve, path: Path) -> None:
    """Draw a curve into a file.

    Raises:
        MissingExtraError: matplotlib is not installed.
        EvaluationError: The file cannot be written.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.grid(alpha=0.3)
    if plot.diagonal:
        axes.plot((0, 1), (0, 1), linestyle="--", color="#98a3ad", linewidth=1)
    for line, colour in zip(plot.lines, _COLOURS, strict=False):
        _draw(axes, line, colour)
    if plot.legend:
        figure.legend(loc="outside lower center", ncols=len(plot.lines), frameon=False)
    try:
        figure.savefig(path, format="png")
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror}") from error


def _draw(axes: Axes, line: Line, colour: str) -> None:
    x, y = [point[0] for point in line.points], [point[1] for point in line.points]
    axes.plot(x, y, color=colour, label=line.name or None)
    if line.weights:
        largest = max(line.weights)
        sizes = [_SMALLEST + _LARGEST * weight / largest for weight in line.weights]
        axes.scatter(x, y, s=sizes, color=colour)
