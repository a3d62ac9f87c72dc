"""``fingerpost stats``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fingerpost.cli.options import corpus_options, settings
from fingerpost.cli.terminal import plain

_TOPICS = 12


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@corpus_options
def stats(
    paths: tuple[str, ...],
    as_json: bool,
    config_file: Path | None,
    index_dir: Path | None,
    embedder: str,
) -> int:
    """Show what the index of each PATH holds, as it is; nothing is read again."""
    from fingerpost.config.load import load_config
    from fingerpost.library import Library
    from fingerpost.observe.observer import ignore
    from fingerpost.types.wire import to_wire

    config = load_config(settings(paths, index_dir, embedder), file=config_file).config
    library = Library(config, ignore)
    try:
        library.open_as_it_is()
        found = library.stats()
    finally:
        library.close()
    if as_json:
        click.echo(json.dumps(to_wire(found), ensure_ascii=False, indent=2))
        return 0
    rows = (
        ("documents", f"{found.document_count:,}"),
        ("chunks", f"{found.chunk_count:,}"),
        ("sources", f"{found.source_count:,}"),
        ("languages", ", ".join(f"{k} {v:,}" for k, v in found.languages.items())),
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
        ("skipped files", f"{len(found.skipped):,}"),
        ("generation", str(found.generation)),
        ("index", found.index_path),
        ("topics", "; ".join(found.topics[:_TOPICS])),
    )
    for name, value in rows:
        click.echo(f"{name:<19} {plain(value)}")
    return 0
