"""``fingerpost eval``: measure the product on labelled data, with its own path."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from fingerpost.eval.cases import (
    answer_cases,
    claim_case,
    dataset_name,
    is_answer_row,
    passage,
    read_cases,
    read_rows,
    retrieval_case,
    routing_case,
    source_option,
    tier_case,
)
from fingerpost.eval.grounding import measure_answers, measure_claims
from fingerpost.eval.measurement import Measurement
from fingerpost.eval.report import html
from fingerpost.eval.retrieval import RetrievalOptions, measure_retrieval
from fingerpost.eval.routing import measure_routing, require_known_sources
from fingerpost.eval.run import Progress, Run, silent, timed_run
from fingerpost.eval.subjects import (
    answer_verifier,
    claim_judge,
    embedder_chooser,
    embedder_named,
    source_router,
    tier_classifier,
)
from fingerpost.eval.table import Grid, all_grids, plain
from fingerpost.eval.tiers import measure_tiers
from fingerpost.lanes.base import EmbeddingModel

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
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
    "eval grounding": ("n", "balanced_accuracy", "auroc", "macro_recall", "spearman"),
}


@click.group("eval")
def eval_group() -> None:
    """Measure quality on labelled data (JSONL files), one table per data set."""


def _outputs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how results are shown."""
    for option in (
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            help="Only the first N cases of each data set.",
        ),
        click.option(
            "--report",
            type=click.Path(dir_okay=False, writable=True, path_type=Path),
            help="Write one self-contained HTML page with plots.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ):
        command = option(command)
    return command


_embedder_option = click.option(
    "--embedder",
    "embedder_name",
    type=click.Choice(["auto", "none", "minilm", "use"]),
    default="auto",
    show_default=True,
    help="Local embedding model; auto takes what is installed, none measures words alone.",
)


@eval_group.command("retrieval")
@click.option("--passages", type=_FILE, multiple=True, required=True, help="JSONL: id, text.")
@click.option(
    "--queries", type=_FILE, multiple=True, required=True, help="JSONL: id, question, gold."
)
@_embedder_option
@click.option(
    "--tier",
    type=click.IntRange(1, 3),
    help="Run this tier whole; without it one hybrid search.",
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the indexes in this folder, so that the next run embeds nothing again.",
)
@click.option(
    "--per-query",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write one JSON line per question with what was found.",
)
@_outputs
def retrieval(
    *,
    passages: tuple[Path, ...],
    queries: tuple[Path, ...],
    embedder_name: str,
    tier: int | None,
    cache: Path | None,
    per_query: Path | None,
    limit: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Index passages, search for every question and score the rankings.

    Give --passages and --queries as often as there are data sets, in the same order.
    """
    if len(passages) != len(queries):
        raise click.UsageError(
            f"{len(passages)} --passages need as many --queries, not {len(queries)}."
        )
    names = _names(queries)
    lines: list[dict[str, object]] = []
    with _progress() as progress, _scratch(cache) as folder:
        choose = embedder_chooser(embedder_name)
        jobs = [
            partial(
                measure_retrieval,
                name,
                read_cases(passage_file, passage),
                read_cases(query_file, retrieval_case)[:limit],
                folder=folder / f"{name}-{embedder_name}.index",
                choose_embedder=choose,
                options=RetrievalOptions(tier=tier),
                record=lines.append,
                progress=progress,
            )
            for name, passage_file, query_file in zip(names, passages, queries, strict=True)
        ]
        run = timed_run("eval retrieval", jobs)
        if per_query is not None:
            rows = (json.dumps(line, ensure_ascii=False) for line in lines)
            _write(per_query, "".join(row + "\n" for row in rows))
    _show(run, report=report, as_json=as_json)


@eval_group.command("tiers")
@click.argument("files", type=_FILE, nargs=-1, required=True)
@click.option("--include-low", is_flag=True, help="Keep rows of low label_confidence.")
@_outputs
def tiers(
    *,
    files: tuple[Path, ...],
    include_low: bool,
    limit: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Classify questions and score the tiers. Rows: id, text, tier."""
    names = _names(files)
    with _progress() as progress:
        classify = tier_classifier()
        jobs = [
            partial(
                measure_tiers,
                name,
                read_cases(file, tier_case)[:limit],
                classify,
                include_low=include_low,
                progress=progress,
            )
            for name, file in zip(names, files, strict=True)
        ]
        run = timed_run("eval tiers", jobs)
    _show(run, report=report, as_json=as_json)


@eval_group.command("routing")
@click.option(
    "--queries", type=_FILE, multiple=True, required=True, help="JSONL: id, text, source."
)
@click.option(
    "--sources",
    type=_FILE,
    multiple=True,
    required=True,
    help="JSONL: id, description or name.",
)
@_embedder_option
@_outputs
def routing(
    *,
    queries: tuple[Path, ...],
    sources: tuple[Path, ...],
    embedder_name: str,
    limit: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Route questions to described sources and score the choices.

    Give --queries and --sources as often as there are data sets, in the same order.
    """
    if len(queries) != len(sources):
        raise click.UsageError(
            f"{len(queries)} --queries need as many --sources, not {len(sources)}."
        )
    names = _names(queries)
    with _progress() as progress:
        embedder = embedder_named(embedder_name)
        jobs = [
            _routing_job(name, pair, embedder=embedder, limit=limit, progress=progress)
            for name, pair in zip(names, zip(queries, sources, strict=True), strict=True)
        ]
        run = timed_run("eval routing", jobs)
    _show(run, report=report, as_json=as_json)


def _routing_job(
    name: str,
    files: tuple[Path, Path],
    *,
    embedder: EmbeddingModel | None,
    limit: int | None,
    progress: Progress,
) -> Callable[[], Measurement]:
    query_file, source_file = files
    cases = read_cases(query_file, routing_case)[:limit]
    options = read_cases(source_file, source_option)
    require_known_sources(name, cases, options)
    route = source_router(options, embedder)
    return partial(measure_routing, name, cases, route, progress=progress)


@eval_group.command("grounding")
@click.argument("files", type=_FILE, nargs=-1, required=True)
@_embedder_option
@_outputs
def grounding(
    *,
    files: tuple[Path, ...],
    embedder_name: str,
    limit: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Hold claims against their sources and score the verdicts.

    Rows: id, claim, source, label; or whole answers with sources and human marks.
    """
    names = _names(files)
    with _progress() as progress:
        embedder = embedder_named(embedder_name)
        jobs = [
            _grounding_job(name, file, embedder=embedder, limit=limit, progress=progress)
            for name, file in zip(names, files, strict=True)
        ]
        run = timed_run("eval grounding", jobs)
    _show(run, report=report, as_json=as_json)


def _grounding_job(
    name: str,
    file: Path,
    *,
    embedder: EmbeddingModel | None,
    limit: int | None,
    progress: Progress,
) -> Callable[[], Measurement]:
    _, first = next(read_rows(file), (0, {}))
    if is_answer_row(first):
        answers = [case for row in read_cases(file, answer_cases) for case in row][:limit]
        verify = answer_verifier(embedder)
        return partial(measure_answers, name, answers, verify, progress=progress)
    claims = read_cases(file, claim_case)[:limit]
    return partial(measure_claims, name, claims, claim_judge(embedder), progress=progress)


def _names(files: Sequence[Path]) -> list[str]:
    names = [dataset_name(file) for file in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise click.UsageError(f"Two files are named {twice[0]}; each data set needs its own.")
    return names


@contextmanager
def _scratch(cache: Path | None) -> Iterator[Path]:
    """Give the folder for indexes: the cache, else one that is gone afterwards."""
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
        yield cache
        return
    with tempfile.TemporaryDirectory(prefix="fingerpost-eval-") as folder:
        yield Path(folder)


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show a bar for each job on stderr, when that is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, TaskID, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (*Bar.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done, total=total)

        yield show


def _show(run: Run, *, report: Path | None, as_json: bool) -> None:
    if report is not None:
        _write(report, html(run, headline=_HEADLINES[run.command]))
    if as_json:
        click.echo(json.dumps(run.to_json(), ensure_ascii=False))
    else:
        for grid in all_grids(run):
            _print(grid)
    for name, failures in run.failures().items():
        first = failures[0]
        click.echo(
            f"{name}: {len(failures)} cases crashed, first {first.case_id}: {first.error}",
            err=True,
        )
    if all(len(one.failures) >= int(one.values["n"] or 1) for one in run.measurements):
        raise click.ClickException("every case crashed; see --report for the list")


def _print(grid: Grid) -> None:
    if not sys.stdout.isatty():
        click.echo(plain(grid) + "\n")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=grid.title, title_justify="left", title_style="bold")
    for place, name in enumerate(grid.header):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in grid.rows:
        table.add_row(*row)
    Console().print(table)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from error
