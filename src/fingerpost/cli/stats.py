"""``fingerpost stats``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fingerpost.cli.options import Load, corpus_options
from fingerpost.cli.repositories import repository_line
from fingerpost.cli.terminal import plain

if TYPE_CHECKING:
    from fingerpost.config.schema import QueryRouterConfig
    from fingerpost.library import Library

_TOPICS = 12


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@corpus_options
def stats(paths: tuple[str, ...], as_json: bool, load: Load) -> int:
    """Show what the index of each PATH holds, as it is; nothing is read again."""
    from fingerpost.types.wire import to_wire

    with index_as_it_is(load(paths).config) as library:
        found = library.stats()
    if as_json:
        click.echo(json.dumps(to_wire(found), ensure_ascii=False, indent=2))
        return 0
    rows = (
        ("documents", f"{found.document_count:,}"),
        ("chunks", f"{found.chunk_count:,}"),
        ("sources", f"{found.source_count:,}"),
        ("languages", ", ".join(f"{k} {v:,}" for k, v in found.languages.items())),
        ("formats", ", ".join(f"{k} {v:,}" for k, v in found.formats.items())),
        ("retrieval", found.retrieval_mode),
        (
            "vectors",
            f"{found.vector_coverage:.0%} of chunks, {found.embedding_model or 'no model'}",
        ),
        ("embedding", found.embedding_status),
        ("graph", found.graph_runtime_mode),
        ("rerank", found.rerank_runtime_mode),
        ("research", found.deep_research_runtime_mode),
        ("platform knowledge", f"{found.platform_knowledge.total:,} entries"),
        *(("repository", repository_line(one)) for one in found.repositories),
        ("skipped files", f"{len(found.skipped):,}"),
        ("generation", str(found.generation)),
        ("index", found.index_path),
        ("topics", "; ".join(found.topics[:_TOPICS])),
    )
    for name, value in rows:
        click.echo(f"{name:<19} {plain(value)}")
    return 0


@contextmanager
def index_as_it_is(config: QueryRouterConfig) -> Iterator[Library]:
    """Open the index as it is now; no document is read.

    Raises:
        StoreError: There is no index yet, or it cannot be read.
    """
    from fingerpost.library import Library
    from fingerpost.observe.observer import ignore

    library = Library(config, ignore)
    try:
        library.open_as_it_is()
        yield library
    finally:
        library.close()
