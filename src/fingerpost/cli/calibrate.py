"""``fingerpost calibrate``: fit what a decision model's numbers mean, on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.eval import (
    FILE,
    SOURCES_HELP,
    backend_options,
    embedder_option,
    measures,
)

if TYPE_CHECKING:
    from fingerpost.cli.eval import Found


@click.group("calibrate")
def calibrate_group() -> None:
    """Fit the thresholds of a decision model on labelled questions."""


@calibrate_group.command("routing")
@click.argument("labels", type=FILE)
@click.option("--sources", type=FILE, required=True, help=SOURCES_HELP)
@backend_options
@embedder_option
@click.option(
    "--waste",
    type=click.FloatRange(min=0, min_open=True),
    default=0.5,
    show_default=True,
    help="What searching a needless source costs, where missing the right one costs 1.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="Ask about at most N questions, drawn at random."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of --limit.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the thresholds, for the setting source_thresholds.",
)
@click.option(
    "--png",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write both plots as PNG files into this folder (extra plots).",
)
@measures
def routing(**options: Any) -> Found:
    """Fit from which probability a source is used.

    LABELS is a JSONL file: id, text, source (null when none fits). Each question is put to the
    backend. The thresholds hold for its model and question template alone; used with others
    they are refused. Where fitted ones would cost more than 0.5, 0.5 is kept for every source.
    """
    from fingerpost.cli import calibration

    return calibration.routing(**options)
