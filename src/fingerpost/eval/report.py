"""One HTML page with plots and tables, needing nothing from outside."""

from __future__ import annotations

from html import escape

from fingerpost.eval.measurement import Measurement
from fingerpost.eval.run import Run
from fingerpost.eval.svg import draw
from fingerpost.eval.table import Grid, details, overview, wrong_cases

_MOST_FAILURES = 20

_STYLE = """
:root { color-scheme: light dark;
  --page: #fbfbfa; --card: #ffffff; --ink: #1c2024; --soft: #667079; --rule: #e3e6e8;
  --s1: #0b5cad; --s2: #5b9bd5; --s3: #b3d2ef; --on: #ffffff; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171a; --card: #1c2126; --ink: #e6e9ec; --soft: #98a3ad; --rule: #30373d;
  --s1: #7db8f5; --s2: #4380bd; --s3: #2b4d70; --on: #0e1114; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 12px; }
h3 { font-size: 14px; font-weight: 600; margin: 0 0 10px; }
p { margin: 0 0 12px; } .lead, .note { color: var(--soft); } .note { font-size: 13px; }
nav a { color: var(--s1); margin-right: 14px; text-decoration: none; }
nav a:hover { text-decoration: underline; }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; margin-bottom: 16px; }
.tile { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
  padding: 8px 14px; min-width: 92px; }
.tile b { display: block; font-size: 19px; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 12px; }
.plots { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start;
  margin-bottom: 16px; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
  padding: 16px; margin: 0 0 16px; overflow-x: auto; max-width: 100%; }
.plots .card { margin: 0; } .table { width: fit-content; padding: 8px 16px; }
svg { max-width: 100%; height: auto; display: block; }
svg text { font: 12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  fill: var(--ink); }
svg .soft { fill: var(--soft); } svg .value { font-size: 11px; }
svg .strong { fill: var(--on); font-weight: 600; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .even { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 4 4; }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .l1 { stroke: var(--s1); } svg .l2 { stroke: var(--s2); } svg .l3 { stroke: var(--s3); }
svg .cell, svg .s1 { fill: var(--s1); } svg .s2 { fill: var(--s2); }
svg .s3 { fill: var(--s3); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 5px 12px 5px 0; text-align: right; border-bottom: 1px solid var(--rule);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
table.words th, table.words td { text-align: left; }
details { margin: 0 0 12px; } summary { cursor: pointer; color: var(--soft); }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; }
@media print { .card { break-inside: avoid; } }
"""


def html(run: Run, *, headline: tuple[str, ...], most_wrong: int = 0) -> str:
    """Return the page.

    Args:
        run: What was measured.
        headline: Measures to show large for each data set; those without a value are left
            out.
        most_wrong: How many wrong cases of each data set are listed.
    """
    many = len(run.measurements) > 1
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>fingerpost {escape(run.command)}</title><style>{_STYLE}</style></head>",
        f"<body><main><h1>fingerpost {escape(run.command)}</h1>",
        f'<p class="lead">{_counted(run)}</p>',
    ]
    if many:
        links = "".join(
            f'<a href="#{escape(one.name)}">{escape(one.name)}</a>' for one in run.measurements
        )
        parts.append(f"<nav>{links}</nav><h2>All data sets</h2>{_table(overview(run))}")
    parts.extend(_section(one, headline, most_wrong) for one in run.measurements)
    parts.append("</main></body></html>\n")
    return "\n".join(parts)


def _counted(run: Run) -> str:
    n_sets = len(run.measurements)
    n_cases = sum(int(one.values.get("n") or 0) for one in run.measurements)
    sets = "data set" if n_sets == 1 else "data sets"
    return f"{n_cases:,} cases in {n_sets} {sets}, {run.took_ms / 1000:.1f} s."


def _section(one: Measurement, headline: tuple[str, ...], most_wrong: int) -> str:
    tiles = "".join(
        f'<div class="tile"><b>{_figure(one.values[name])}</b><span>{escape(name)}</span></div>'
        for name in headline
        if one.values.get(name) is not None
    )
    plots = "".join(
        f'<div class="card"><h3>{escape(plot.title)}</h3>{draw(plot)}'
        f"{_note(getattr(plot, 'note', ''))}</div>"
        for plot in one.plots
    )
    values = Grid(
        f"{one.name}, every number",
        ("measure", "value"),
        tuple((name, _figure(value)) for name, value in one.values.items()),
    )
    wrong = [wrong_cases(one, most_wrong)] if most_wrong and one.wrong else []
    tables = "".join(_folded(grid) for grid in (*details(one), values, *wrong))
    return (
        f'<section id="{escape(one.name)}"><h2>{escape(one.name)}</h2>'
        f'<div class="tiles">{tiles}</div><div class="plots">{plots}</div>'
        f"{tables}{_failures(one)}</section>"
    )


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _note(note: str) -> str:
    return f'<p class="note">{escape(note)}</p>' if note else ""


def _folded(grid: Grid) -> str:
    few = 12
    state = " open" if len(grid.rows) <= few and len(grid.header) <= few else ""
    return f"<details{state}><summary>{escape(grid.title)}</summary>{_table(grid)}</details>"


def _table(grid: Grid) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in grid.header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in grid.rows
    )
    kind = "" if grid.numbers else ' class="words"'
    return f'<div class="card table"><table{kind}><tr>{head}</tr>{body}</table></div>'


def _failures(one: Measurement) -> str:
    if not one.failures:
        return ""
    items = "".join(
        f"<li><code>{escape(failure.case_id)}</code> {escape(failure.error)}</li>"
        for failure in one.failures[:_MOST_FAILURES]
    )
    return (
        f"<h3>{len(one.failures)} cases crashed (each counts as wrong)</h3>"
        f'<ul class="note">{items}</ul>'
    )
