"""``fingerpost ask``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.capabilities import (
    Offer,
    capability_options,
    show_recommendations,
    tell_skipped,
)
from fingerpost.cli.failure import ABSTAINED, ANSWERED, UNGROUNDED
from fingerpost.cli.options import (
    Load,
    NoPathError,
    corpus_options,
    parse_filters,
    require_text,
    tier_option,
)
from fingerpost.cli.progress import IngestBar
from fingerpost.cli.repositories import repository_notes
from fingerpost.cli.terminal import plain
from fingerpost.cli.vectors import embed_for, embed_seconds, embed_wait_option, words_alone

if TYPE_CHECKING:
    from fingerpost.types.stats import CorpusStats


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="[PATH]... QUESTION")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--explain", is_flag=True, help="Show why the tier was chosen and every candidate.")
@tier_option("--tier", "Fix the tier, 0 to 3 or T0 to T3, instead of classifying.")
@tier_option("--max-tier", "Cap the tier, 0 to 3 or T0 to T3.")
@click.option("--top-k", type=click.IntRange(1, 50), help="How many sources to rest on.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only documents with path=GLOB, tag=, source=, language= or a front matter field.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Start no stage later than this after the index is ready.",
)
@click.option("--no-verify", is_flag=True, help="Do not check the claims.")
@click.option("--require-grounded", is_flag=True, help="Exit with 4 unless every claim stands.")
@capability_options
@embed_wait_option("answering")
@corpus_options
def ask(
    arguments: tuple[str, ...],
    as_json: bool,
    explain: bool,
    require_grounded: bool,
    embed_wait: float | None,
    **options: Any,
) -> int:
    """Answer QUESTION from the documents in each PATH (folders, files, globs or repositories).

    Without a PATH the corpus is the one of fingerpost.toml or FINGERPOST_KNOWLEDGE_CORPUS.

    \b
    fingerpost ask docs "How do I install it?"
    fingerpost ask docs runbooks/*.md "What does error E1234 mean?" --explain
    fingerpost ask docs "Which exit codes are there?" --filter path=how-to/** --json
    """  # noqa: D301 - \b is click's own mark for text that is not refilled
    from fingerpost.cli.render import explain_result, result_json, show_result
    from fingerpost.verify import is_grounded

    result, note = _answer(arguments, embed_wait, explain=explain, **options)
    if as_json:
        click.echo(json.dumps(result_json(result, explain=explain), ensure_ascii=False, indent=2))
    else:
        show_result(result)
        if result.recommendations:
            click.echo("\n" + click.style("May help", bold=True))
            show_recommendations(result.recommendations)
        if explain:
            explain_result(result)
    if note:
        click.echo(note, err=True)
    if result.abstention is not None:
        return ABSTAINED
    return UNGROUNDED if require_grounded and not is_grounded(result.grounding) else ANSWERED


def _answer(
    arguments: tuple[str, ...],
    embed_wait: float | None,
    *,
    explain: bool,
    filters: tuple[str, ...],
    tier: int | None,
    max_tier: int | None,
    top_k: int | None,
    deadline: float | None,
    no_verify: bool,
    load: Load,
    offer: Offer,
) -> tuple[Any, str]:
    from fingerpost.router import QueryRouter

    *paths, question = arguments
    chosen = parse_filters(filters)
    verify = False if no_verify else None
    try:
        config = load(tuple(paths), verify_citations=verify).config
    except NoPathError:
        raise click.UsageError(
            f"give a PATH and a QUESTION; {question!r} alone was taken as the question"
        ) from None
    seconds = embed_seconds(config, embed_wait)
    router = QueryRouter(config.model_copy(update={"embed": "never"}))
    engine = offer("none" if config.embedding_provider == "none" else "auto")
    if engine is not None:
        router.set_capability_discovery_engine(engine)
        tell_skipped(engine)
    with IngestBar() as bar:
        router.subscribe(bar)
        with router:
            require_text(router)
            failed = embed_for(seconds, router.embed_sync)
            result = router.route_sync(
                question,
                filters=chosen,
                tier=tier,
                max_tier=max_tier,
                top_k=top_k,
                deadline=deadline,
                explain=explain,
            )
            found = router.get_corpus_stats()
    n_vectors = round(result.vector_coverage * found.chunk_count)
    note = failed or words_alone(router.embedding_reason, n_vectors, found.chunk_count)
    return result, plain("\n".join([*_corpus_notes(found, paths), *([note] if note else [])]))


def _corpus_notes(found: CorpusStats, paths: list[str]) -> list[str]:
    """Return a note for each path that gave nothing and each repository that is not up to date."""
    nothing = [
        f"note: {item.path} gave nothing: {item.detail or item.reason}"
        for item in found.skipped
        if item.path in paths
    ]
    return nothing + repository_notes(found.repositories)
