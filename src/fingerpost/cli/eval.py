"""``fingerpost eval``: measure the product on labelled data, with its own path."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.options import tier_option
from fingerpost.config.providers import DECISION_NAMES

if TYPE_CHECKING:
    from fingerpost.cli.measured import Files
    from fingerpost.eval.run import Run

    Found = tuple[Run, Files]

ROUTERS = ("local", "words", "embedding", "decision", "language-model", "cascade")
BACKENDS = tuple(name for name in DECISION_NAMES if name != "none")
SOURCES_HELP = "JSONL: id, description or name; or a fingerpost.toml with its [[sources]]."
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("eval")
def eval_group() -> None:
    """Measure quality on labelled data (JSONL files), one table per data set."""


def measures(command: Callable[..., Found]) -> Callable[..., None]:
    """Give a command the options that say how what it found is shown."""

    @wraps(command)
    def run(
        *,
        as_json: bool,
        report: Path | None,
        per_query: Path | None,
        most_wrong: int,
        **options: Any,
    ) -> None:
        from fingerpost.cli.measured import require_places, show_run

        require_places(report, per_query)
        show_run(
            *command(**options),
            as_json=as_json,
            report=report,
            per_query=per_query,
            most_wrong=most_wrong,
        )

    for option in (
        click.option(
            "--wrong",
            "most_wrong",
            type=click.IntRange(min=0),
            default=5,
            show_default=True,
            metavar="N",
            help="Show N wrong cases of each data set, the surest first.",
        ),
        click.option(
            "--per-query",
            type=click.Path(dir_okay=False, writable=True, path_type=Path),
            help="Write one JSON line per case: what was expected, what came, the scores.",
        ),
        click.option(
            "--report",
            type=click.Path(dir_okay=False, writable=True, path_type=Path),
            help="Write one self-contained HTML page with plots.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ):
        run = option(run)
    return run


_limit_option = click.option(
    "--limit", type=click.IntRange(min=1), help="Only the first N cases of each data set."
)
embedder_option = click.option(
    "--embedder",
    "embedder_name",
    type=click.Choice(["auto", "none", "minilm", "use"]),
    default="auto",
    show_default=True,
    help="Local embedding model; auto takes what is installed, none measures words alone.",
)


def backend_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name a decision model; the command gets one argument ``backend``."""

    @wraps(command)
    def run(
        *,
        backend: str,
        model: str | None,
        base_url: str | None,
        template: Path | None,
        at_once: int | None,
        **options: Any,
    ) -> None:
        from fingerpost.cli.evaluate import backend_of

        asked = backend_of(backend, model, base_url, template, at_once)
        command(backend=asked, **options)

    for option in reversed(
        (
            click.option(
                "--backend",
                type=click.Choice(BACKENDS),
                default="local",
                show_default=True,
                help="Decision model; chat makes one of the classifier's chat model.",
            ),
            click.option(
                "--model",
                help="Its model; the settings' or the provider's own else. "
                "The local one takes --embedder instead.",
            ),
            click.option("--base-url", help="Its address, for systemone and the like."),
            click.option(
                "--template",
                type=FILE,
                help="Text file with the question about a source; it holds {{description}}.",
            ),
            click.option(
                "--at-once",
                type=click.IntRange(min=1, max=64),
                help="Questions under way at the same time (8 over the network, else 1).",
            ),
        )
    ):
        run = option(run)
    return run


@eval_group.command("retrieval")
@click.option("--passages", type=FILE, multiple=True, required=True, help="JSONL: id, text.")
@click.option(
    "--queries", type=FILE, multiple=True, required=True, help="JSONL: id, question, gold."
)
@embedder_option
@tier_option(
    "--tier", "Run this tier whole, 1 to 3 or T1 to T3; without it one hybrid search.", lowest=1
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the indexes in this folder, so that the next run embeds nothing again.",
)
@_limit_option
@measures
def retrieval(**options: Any) -> Found:
    """Index passages, search for every question and score the rankings.

    Give --passages and --queries as often as there are data sets, in the same order.
    """
    from fingerpost.cli import evaluate

    return evaluate.retrieval(**options), {}


@eval_group.command("tiers")
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option("--include-low", is_flag=True, help="Keep rows of low label_confidence.")
@_limit_option
@measures
def tiers(**options: Any) -> Found:
    """Classify questions and score the tiers. Rows: id, text, tier."""
    from fingerpost.cli import evaluate

    return evaluate.tiers(**options), {}


@eval_group.command("routing")
@click.option("--queries", type=FILE, multiple=True, required=True, help="JSONL: id, text, source.")
@click.option(
    "--sources",
    type=FILE,
    multiple=True,
    required=True,
    help=SOURCES_HELP,
)
@click.option(
    "--router",
    "routers",
    type=click.Choice(ROUTERS),
    multiple=True,
    default=("local",),
    show_default=True,
    help="What chooses; several are compared on the same cases.",
)
@backend_options
@click.option(
    "--thresholds",
    type=FILE,
    help="Of fingerpost calibrate routing, for the routers decision and cascade alone.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    help="Give the routers N questions of each source, which are then not measured: local "
    "learns from them, the others see them beside the descriptions.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of --examples.")
@embedder_option
@_limit_option
@measures
def routing(**options: Any) -> Found:
    """Route questions to described sources and score the choices.

    Give --queries and --sources as often as there are data sets, in the same order.
    """
    from fingerpost.cli import evaluate

    return evaluate.routing(**options), {}


@eval_group.command("grounding")
@click.argument("files", type=FILE, nargs=-1, required=True)
@embedder_option
@_limit_option
@measures
def grounding(**options: Any) -> Found:
    """Hold claims against their sources and score the verdicts.

    Rows: id, claim, source, label; or whole answers with sources and human marks.
    """
    from fingerpost.cli import evaluate

    return evaluate.grounding(**options), {}
