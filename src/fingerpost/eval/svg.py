"""Plots drawn as inline SVG. Colours come from the page's style sheet, so they follow its theme."""

from __future__ import annotations

from html import escape

from fingerpost.eval.plots import Bars, Curve, Line, Matrix, Plot

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LONGEST_LABEL = 32
_STRONG = 0.7


def draw(plot: Plot) -> str:
    """Return one ``<svg>`` element with a title for screen readers."""
    if isinstance(plot, Bars):
        return _bars(plot)
    if isinstance(plot, Matrix):
        return _matrix(plot)
    return _curve(plot)


def _frame(width: float, height: float, title: str, body: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(title)}">{"".join(body)}</svg>'
    )


def _text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"


def _label_width(labels: tuple[str, ...]) -> float:
    longest = max((len(_short(label)) for label in labels), default=0)
    return 14 + 7.0 * longest


def _bars(plot: Bars) -> str:
    left, scale, thick = _label_width(tuple(row for row, _ in plot.rows)), 360.0, 11.0
    top = 34.0 if len(plot.series) > 1 else 10.0
    group = thick * len(plot.series) + 12
    height = top + group * len(plot.rows) + 20
    body: list[str] = []
    for place, name in enumerate(plot.series if len(plot.series) > 1 else ()):
        x = left + 88 * place
        body.append(f'<rect x="{x}" y="6" width="10" height="10" rx="2" class="s{place + 1}"/>')
        body.append(_text(x + 15, 15, name, "soft"))
    for tick in _TICKS:
        x = left + scale * tick
        body.append(f'<line x1="{x}" y1="{top - 6}" x2="{x}" y2="{height - 18}" class="grid"/>')
        body.append(_text(x, height - 5, f"{tick:g}", "soft", "middle"))
    for row, (name, values) in enumerate(plot.rows):
        y = top + group * row
        middle = y + thick * len(plot.series) / 2 + 4
        body.append(_text(left - 8, middle, _short(name), "", "end"))
        for place, value in enumerate(values):
            if value is not None:
                body.append(_bar(left, y + thick * place, scale * value, place, value))
    return _frame(left + scale + 52, height, plot.title, body)


def _bar(x: float, y: float, width: float, place: int, value: float) -> str:
    return (
        f'<rect x="{x}" y="{y + 1:.1f}" width="{max(width, 0.5):.1f}" height="9" rx="2" '
        f'class="s{place + 1}"/>'
    ) + _text(x + width + 5, y + 9, f"{value:.3f}", "value")


def _matrix(plot: Matrix) -> str:
    left = _label_width(plot.rows) + 18
    many = len(plot.columns) > 12  # noqa: PLR2004 - beyond it numbers no longer fit
    cell = 13.0 if many else max(62.0, 2 + _label_width(plot.columns))
    tall = 13.0 if many else 38.0
    top = 30.0 if not many else 18 + 6.0 * max(len(_short(name)) for name in plot.columns)
    slant = 3.5 * max(len(_short(name)) for name in plot.columns) if many else 0
    width = max(left + cell * len(plot.columns) + 12 + slant, 260)
    height = top + tall * len(plot.rows) + 26
    body = [_column_label(plot, place, left, top, cell, many) for place in range(len(plot.columns))]
    for row, counts in enumerate(plot.counts):
        y = top + tall * row
        body.append(_text(left - 8, y + tall / 2 + 4, _short(plot.rows[row]), "", "end"))
        total = sum(counts) or 1
        for place, count in enumerate(counts):
            where = f"{plot.rows[row]} → {plot.columns[place]}: {count} of {total}"
            body.append(
                f'<rect x="{left + cell * place}" y="{y}" width="{cell - 1.5}" '
                f'height="{tall - 1.5}" rx="2" class="cell" '
                f'fill-opacity="{0.06 + 0.94 * count / total:.3f}">'
                f"<title>{escape(where)}</title></rect>"
            )
            if not many and count:
                style = "strong" if count / total > _STRONG else "value"
                middle = left + cell * place + cell / 2
                body.append(_text(middle, y + tall / 2 + 4, str(count), style, "middle"))
    body.append(_text(left, height - 6, "columns: chosen · rows: true", "soft"))
    return _frame(width, height, plot.title, body)


def _column_label(
    plot: Matrix,
    place: int,
    left: float,
    top: float,
    cell: float,
    many: bool,  # noqa: FBT001 - private
) -> str:
    x = left + cell * place + cell / 2
    name = _short(plot.columns[place])
    if not many:
        return _text(x, top - 9, name, "soft", "middle")
    return (
        f'<text x="{x}" y="{top - 5}" class="soft" '
        f'transform="rotate(-60 {x} {top - 5})">{escape(name)}</text>'
    )


def _curve(plot: Curve) -> str:
    left, top, side = 60.0, 14.0, 250.0
    body: list[str] = []
    for tick in _TICKS:
        x, y = left + side * tick, top + side * (1 - tick)
        body.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{top + side}" class="grid"/>')
        body.append(f'<line x1="{left}" y1="{y}" x2="{left + side}" y2="{y}" class="grid"/>')
        body.append(_text(x, top + side + 15, f"{tick:g}", "soft", "middle"))
        body.append(_text(left - 7, y + 4, f"{tick:g}", "soft", "end"))
    if plot.diagonal:
        body.append(
            f'<line x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}" class="even"/>'
        )
    for number, line in enumerate(plot.lines, 1):
        body.extend(_line(line, number, left, top, side))
    body.append(_text(left + side / 2, top + side + 33, plot.x_label, "soft", "middle"))
    body.append(
        f'<text x="12" y="{top + side / 2}" class="soft" text-anchor="middle" '
        f'transform="rotate(-90 12 {top + side / 2})">{escape(plot.y_label)}</text>'
    )
    foot = top + side + 42
    for number, line in enumerate(plot.legend, 1):
        foot += 17
        box = f'<rect x="{left}" y="{foot - 14}" width="10" height="10" class="s{number}"/>'
        body.append(box + _text(left + 15, foot - 5, _short(line.name), "soft"))
    return _frame(left + side + 18, foot, plot.title, body)


def _line(line: Line, number: int, left: float, top: float, side: float) -> list[str]:
    places = [(left + side * x, top + side * (1 - y)) for x, y in line.points]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    body = [f'<polyline points="{joined}" class="line l{number}"/>']
    largest = max(line.weights, default=1.0)
    for (x, y), weight, (px, py) in zip(places, line.weights, line.points, strict=False):
        body.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3 + 6 * (weight / largest) ** 0.5:.1f}" '
            f'class="s{number}"><title>{px:.3f}, {py:.3f} (n = {weight:g})</title></circle>'
        )
    return body
