"""``fingerpost check``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.failure import ANSWERED, OTHER
from fingerpost.cli.page import html_option, write_page
from fingerpost.cli.progress import case_bars
from fingerpost.cli.terminal import shown_json, unbroken

if TYPE_CHECKING:
    from fingerpost.lint import CheckReport, Finding

_SHOWN = 10
_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


def _explain(context: click.Context, _parameter: click.Parameter, rule: str | None) -> None:
    if rule is None:
        return
    from fingerpost.lint import RULES

    if rule not in RULES:
        raise click.BadParameter(f"no rule is called {rule}; they are {', '.join(RULES)}")
    told = RULES[rule]
    click.echo(f"{told.id} ({told.severity}): {told.finds}\n  why: {told.why}\n  do: {told.remedy}")
    context.exit()


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
@html_option("Write the findings as a page.")
@click.option("--only", multiple=True, metavar="RULE", help="Apply only this rule; repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave this rule out; repeatable.")
@click.option("--all", "show_all", is_flag=True, help=f"Print all, not {_SHOWN} of each rule.")
@click.option(
    "--max-file-mb",
    type=click.FloatRange(min=0, min_open=True, max=1024),
    default=10.0,
    show_default=True,
    help="A larger file is one that cannot be read.",
)
@click.option(
    "--explain",
    metavar="RULE",
    callback=_explain,
    expose_value=False,
    is_eager=True,
    help="Say what a rule finds, why it matters and what to do, and end.",
)
def check(
    paths: tuple[str, ...],
    as_json: bool,
    html: Path | None,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    show_all: bool,
    max_file_mb: float,
) -> int:
    """Find what keeps the documents in each PATH from being found, followed and cited well.

    Reads the files and nothing else; no index is made. A page switches a rule off for itself
    with <!-- fingerpost-check: ignore RULE -->. Exits with 1 when a finding is an error.

    \b
    fingerpost check docs
    fingerpost check docs --only broken-link --only broken-anchor
    fingerpost check --explain vague-title
    """  # noqa: D301 - \b is click's own mark for text that is not refilled
    from fingerpost.lint import check_corpus

    with case_bars() as draw:
        report = check_corpus(
            paths,
            only=only,
            ignore=ignore,
            max_file_bytes=int(max_file_mb * 1024 * 1024),
            progress=draw,
        )
    if html is not None:
        write_page(html, title=f"Check of {', '.join(paths)}", body=_html(report))
    if as_json:
        click.echo(shown_json(_wire(report)))
    else:
        _show(report, limit=len(report.findings) if show_all else _SHOWN)
    return OTHER if report.has_errors else ANSWERED


def _wire(report: CheckReport) -> dict[str, Any]:
    return {
        "n_pages": report.n_pages,
        "n_ignored": report.n_ignored,
        "took_s": round(report.took_s, 3),
        "counts": report.counts(),
        "findings": [
            {
                "rule": one.rule,
                "severity": one.severity.value,
                "path": one.path,
                "line": one.line or None,
                "what": one.what,
                "todo": one.todo or one.described.remedy,
            }
            for one in report.findings
        ],
    }


def _by_rule(report: CheckReport) -> Iterator[tuple[str, list[Finding]]]:
    for rule, found in groupby(report.findings, key=lambda one: one.rule):
        yield rule, list(found)


def _show(report: CheckReport, *, limit: int) -> None:
    for rule, found in _by_rule(report):
        told = found[0].described
        click.echo(click.style(f"{told.severity} {rule}", fg=_COLOURS[told.severity], bold=True))
        click.echo(f"  {told.remedy}")
        for one in found[:limit]:
            todo = f" ({one.todo})" if one.todo else ""
            click.echo(f"  {unbroken(one.place)}: {unbroken(one.what + todo)}")
        if len(found) > limit:
            click.echo(f"  … and {len(found) - limit:,} more (--all prints them)")
        click.echo()
    click.echo(_summary(report))
    for rule, found in _by_rule(report):
        click.echo(f"  {len(found):>6,} {found[0].severity:<8} {rule}")


def _summary(report: CheckReport) -> str:
    n_found = len(report.findings)
    found = _count(n_found, "finding") if n_found else "nothing found"
    ignored = f", {report.n_ignored:,} ignored by remarks" if report.n_ignored else ""
    return f"{_count(report.n_pages, 'page')} in {report.took_s:.1f} s: {found}{ignored}"


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}{'s' * (number != 1)}"


def _html(report: CheckReport) -> Iterator[str]:
    from fingerpost.cli.page import shown

    yield f"<p>{shown(_summary(report))}</p>"
    for rule, found in _by_rule(report):
        told = found[0].described
        yield (
            f'<section><h2 id="{rule}">{rule} <small class="{told.severity}">{told.severity}, '
            f"{len(found):,}</small></h2><p>{shown(told.why)} {shown(told.remedy)}</p><ul>"
        )
        for one in found:
            todo = f" <em>{shown(one.todo)}</em>" if one.todo else ""
            yield f"<li><code>{shown(one.place)}</code> {shown(one.what)}{todo}</li>"
        yield "</ul></section>"
