"""``fingerpost index``."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.failure import ANSWERED, INTERRUPTED, MODEL, OTHER, show
from fingerpost.cli.finding import counted
from fingerpost.cli.options import Load, corpus_options
from fingerpost.cli.progress import IngestBar
from fingerpost.cli.repositories import repository_line
from fingerpost.cli.terminal import plain, unbroken

if TYPE_CHECKING:
    from fingerpost.errors import LaneError

_LISTED = 20


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--no-embed", is_flag=True, help="Words only; vectors can be computed later.")
@click.option(
    "--summaries", is_flag=True, help="Also make the summaries that overview questions follow."
)
@click.option("--rebuild", is_flag=True, help="Read every document again; cures a damaged index.")
@click.option("--watch", "keep_watching", is_flag=True, help="Stay and index what changes.")
@click.option("--all-skipped", is_flag=True, help="List every skipped file, not the first few.")
@corpus_options
def index(
    paths: tuple[str, ...],
    as_json: bool,
    no_embed: bool,
    summaries: bool,
    rebuild: bool,
    keep_watching: bool,
    all_skipped: bool,
    load: Load,
) -> int:
    """Read the documents in each PATH and build their index.

    A PATH is a folder, a file, a glob, or a repository: github:owner/name, or git+ in front of
    what git fetches it by (git+https://host/name.git, git+/srv/name); '@' and a branch, tag or
    commit behind it take that one. Repositories are asked for their newest commit.

    Only what changed since the last run is read again. Words answer at once; vectors are
    computed after that and kept as they come, so an interrupted run goes on where it stopped.
    Exits with 5 when the embedding model failed; words are indexed all the same. Exits with 1
    when a repository could not be fetched; what is there of it stays.
    """
    from fingerpost.library import Library

    bar = IngestBar()
    library = Library(load(paths, embed="never", update="wait").config, bar)
    try:
        with bar:
            library.open(rebuild=rebuild, must_write=True)
            failure = None if no_embed else _embed(library)
            if summaries:
                _summarise(library)
        report = _report(library, bar.n_embedded, failure)
        if as_json:
            indent = None if keep_watching else 2  # a line for each object of a stream
            click.echo(json.dumps(report, ensure_ascii=False, indent=indent))
        else:
            _show(report, library, all_skipped=all_skipped)
        _tell(failure)
        if keep_watching:
            _watch(library, as_json=as_json, embed=not no_embed)
    finally:
        library.close()
    if failure is not None:
        return MODEL
    return OTHER if any(one["error"] for one in report["repositories"]) else ANSWERED


def _embed(library: Any) -> LaneError | None:
    """Compute the vectors that are missing; return why they could not be."""
    from fingerpost.errors import EmbeddingError, LaneError

    if library.embedding.status == "failed-init":
        return EmbeddingError(library.embedding.reason)
    try:
        library.embed()
    except KeyboardInterrupt:
        click.echo("interrupted: the vectors so far are kept; run it again to go on", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except LaneError as error:
        return error
    model, state = library.embedding.model, library.store.info()
    if model is not None and state.n_vectors == 0:
        return EmbeddingError(f"{model.name} gave no vector that can be used")
    return None


def _summarise(library: Any) -> None:
    """Make the tree of summaries anew, unless no document changed since the last one."""
    import anyio

    from fingerpost.corpus.summaries import summarise

    if not library.store.info().summaries_current:
        anyio.run(summarise, library.store)


def _tell(failure: LaneError | None) -> None:
    if failure is not None:
        show(failure, as_json=False)
        click.echo(
            "  Words are indexed all the same, and vectors so far are kept; run it again to go on.",
            err=True,
        )


def _report(library: Any, n_embedded: int, failure: LaneError | None) -> dict[str, Any]:
    from fingerpost.types.wire import to_wire

    summary, stats = library.summary, library.stats()
    wire = to_wire(summary)
    if not isinstance(wire, dict):
        raise TypeError("a summary is an object")
    return {
        **wire,
        "n_embedded": n_embedded,
        "skipped": to_wire(stats.skipped),
        "repositories": to_wire(stats.repositories),
        "n_chunks": stats.chunk_count,
        "n_documents": stats.document_count,
        "formats": stats.formats,
        "vector_coverage": stats.vector_coverage,
        "embedding_model": stats.embedding_model,
        "embedding_status": stats.embedding_status,
        "embedding_error": "" if failure is None else str(failure),
        "index_path": stats.index_path,
        "n_summaries": library.store.info().n_summaries,
        "generation": stats.generation,
    }


def _show(report: dict[str, Any], library: Any, *, all_skipped: bool) -> None:
    click.echo(
        f"{counted(report['n_documents'], 'document')}, {counted(report['n_chunks'], 'chunk')} "
        f"in {report['took_s']:.1f} s: {report['n_added']:,} new, {report['n_changed']:,} changed, "
        f"{report['n_moved']:,} moved, {report['n_removed']:,} removed, "
        f"{report['n_unchanged']:,} unchanged"
    )
    if report["formats"]:
        read = ", ".join(f"{count:,} {name}" for name, count in report["formats"].items())
        click.echo(f"formats: {plain(read)}")
    model = report["embedding_model"]
    if model:
        click.echo(
            f"vectors: {report['vector_coverage']:.0%} of chunks with {model} "
            f"({report['n_embedded']:,} computed now)"
        )
    else:
        click.echo(f"vectors: none, words alone. {plain(library.embedding.reason)}")
    if report["n_summaries"]:
        click.echo(f"summaries: {report['n_summaries']:,}")
    for repository in library.stats().repositories:
        click.echo(f"repository: {plain(repository_line(repository))}")
    _show_skipped(report["skipped"], all_skipped=all_skipped)
    click.echo(f"index: {plain(report['index_path'])}")


def _show_skipped(skipped: list[dict[str, str]], *, all_skipped: bool) -> None:
    if not skipped:
        click.echo("skipped: nothing")
        return
    counts = Counter(item["reason"] for item in skipped)
    listed = ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common())
    click.echo(f"skipped: {len(skipped):,} {'file' if len(skipped) == 1 else 'files'} ({listed})")
    for item in skipped if all_skipped else skipped[:_LISTED]:
        detail = f" ({item['detail']})" if item["detail"] else ""
        click.echo(f"  {unbroken(item['path'])}: {item['reason']}{unbroken(detail)}")
    if not all_skipped and len(skipped) > _LISTED:
        click.echo(f"  … and {len(skipped) - _LISTED:,} more (--all-skipped lists them)")


def _watch(library: Any, *, as_json: bool, embed: bool) -> None:
    from fingerpost.corpus.worker import give_way
    from fingerpost.types.wire import to_wire

    has_begun = False

    def took(summary: Any) -> None:
        nonlocal has_begun
        if not has_begun:
            has_begun = True
            give_way()  # from now on others ask the index that is there
            click.echo("watching for changes; Ctrl-C ends", err=True)
            if not summary.changed_anything:
                return
        if as_json:
            click.echo(json.dumps(to_wire(summary), ensure_ascii=False))
        else:
            click.echo(
                f"{summary.n_added} new, {summary.n_changed} changed, {summary.n_moved} moved, "
                f"{summary.n_removed} removed"
            )
        if embed and summary.changed_anything:
            _tell(_embed(library))

    try:
        library.watch_here(took)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
