"""``fingerpost ask``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from fingerpost.cli.failure import ABSTAINED, ANSWERED, UNGROUNDED
from fingerpost.cli.options import corpus_options, parse_filters, settings
from fingerpost.cli.progress import IngestBar


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="[PATH]... QUESTION")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--explain", is_flag=True, help="Show why the tier was chosen and every candidate.")
@click.option("--tier", type=click.IntRange(0, 3), help="Fix the tier instead of classifying.")
@click.option("--max-tier", type=click.IntRange(0, 3), help="Cap the tier.")
@click.option("--top-k", type=click.IntRange(1, 50), help="How many sources to rest on.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only documents with path=GLOB, tag=, source=, language= or a front matter field.",
)
@click.option(
    "--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds it may take."
)
@click.option("--no-verify", is_flag=True, help="Do not check the claims.")
@click.option("--require-grounded", is_flag=True, help="Exit with 4 unless every claim stands.")
@click.option(
    "--embed-wait",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to compute missing vectors before answering.",
)
@corpus_options
def ask(
    arguments: tuple[str, ...],
    as_json: bool,
    explain: bool,
    require_grounded: bool,
    embed_wait: float,
    **options: Any,
) -> int:
    """Answer QUESTION from the documents in each PATH (folders, files or globs).

    Without a PATH the corpus is the one of fingerpost.toml or FINGERPOST_KNOWLEDGE_CORPUS.

    \b
    fingerpost ask docs "How do I install it?"
    fingerpost ask docs runbooks/*.md "What does error E1234 mean?" --explain
    fingerpost ask docs "Which exit codes are there?" --filter path=how-to/** --json
    """  # noqa: D301 - \b is click's own mark for text that is not refilled
    from fingerpost.cli.render import explain_result, result_json, show_result

    result, note = _answer(arguments, embed_wait, explain=explain, **options)
    if as_json:
        click.echo(json.dumps(result_json(result, explain=explain), ensure_ascii=False, indent=2))
    else:
        show_result(result)
        if explain:
            explain_result(result)
    if note:
        click.echo(note, err=True)
    if result.abstention is not None:
        return ABSTAINED
    grounded = result.grounding is not None and result.grounding.overall_grounded
    fully = grounded and result.grounding.supported_count == result.grounding.total_claims
    return UNGROUNDED if require_grounded and not fully else ANSWERED


def _answer(
    arguments: tuple[str, ...],
    embed_wait: float,
    *,
    explain: bool,
    filters: tuple[str, ...],
    tier: int | None,
    max_tier: int | None,
    top_k: int | None,
    deadline: float | None,
    no_verify: bool,
    config_file: Path | None,
    index_dir: Path | None,
    embedder: str,
) -> tuple[Any, str]:
    from fingerpost.config.load import load_config
    from fingerpost.errors import ConfigError
    from fingerpost.router import QueryRouter

    *paths, question = arguments
    chosen = parse_filters(filters)
    given = settings(
        tuple(paths),
        index_dir,
        embedder,
        embed="never",
        verify_citations=False if no_verify else None,
    )
    try:
        router = QueryRouter(load_config(given, file=config_file).config)
    except ConfigError as error:
        if paths or not str(error).startswith("knowledge_corpus is required"):
            raise
        raise click.UsageError(
            f"give a PATH and a QUESTION; {question!r} alone was taken as the question"
        ) from None
    with IngestBar() as bar:
        router.subscribe(bar)
        with router:
            note = fill_vectors(router, embed_wait)
            result = router.route_sync(
                question,
                filters=chosen,
                tier=tier,
                max_tier=max_tier,
                top_k=top_k,
                deadline=deadline,
                explain=explain,
            )
    return result, note


def fill_vectors(router: Any, seconds: float) -> str:
    """Compute missing vectors for at most ``seconds``; return a note when some are left."""
    end = time.monotonic() + seconds
    if seconds > 0:
        router.embed_sync(lambda: time.monotonic() > end)
    stats = router.get_corpus_stats()
    if stats.embedding_status != "active":
        return f"note: searched by words alone. {router.embedding_reason}"
    if stats.vector_coverage < 1:
        ready = round(stats.vector_coverage * stats.chunk_count)
        return (
            f"note: {ready:,} of {stats.chunk_count:,} chunks have a vector; the others were "
            "searched by words alone. 'fingerpost index' computes the rest."
        )
    return ""
