"""What the calibration command runs."""

from __future__ import annotations

from pathlib import Path

import click

from fingerpost.cli.progress import case_bars
from fingerpost.cli.terminal import plain
from fingerpost.decide.calibrate import Fit
from fingerpost.errors import EvaluationError
from fingerpost.eval.cases import dataset_name, read_cases, routing_case, source_option
from fingerpost.eval.measurement import Measurement
from fingerpost.eval.plots import Curve
from fingerpost.eval.plots_png import require_matplotlib, write_png
from fingerpost.eval.routing_calibration import calibrate, sampled
from fingerpost.eval.routing_subjects import Backend
from fingerpost.eval.run import Run, timed_run
from fingerpost.eval.subjects import embedder_named


def routing(
    *,
    labels: Path,
    sources: Path,
    backend: Backend,
    embedder_name: str,
    waste: float,
    limit: int | None,
    seed: int,
    out: Path | None,
    png: Path | None,
) -> Run:
    """Ask, fit, write what was asked for, and return the measures."""
    if png is not None:
        require_matplotlib()
    if out is not None and not out.parent.is_dir():
        raise click.BadParameter(f"{out.parent}: no such folder", param_hint="--out")
    cases = sampled(read_cases(labels, routing_case), limit, seed)
    options = read_cases(sources, source_option)
    fits: list[Fit] = []

    def measure() -> Measurement:
        fit, found = calibrate(
            dataset_name(labels),
            cases,
            options,
            backend=backend,
            embedder=embedder_named(embedder_name),
            waste=waste,
            progress=progress,
        )
        fits.append(fit)
        return found

    with case_bars() as progress:
        run = timed_run("calibrate routing", [measure])
    _write(run, fits[0], out, png)
    return run


def _write(run: Run, fit: Fit, out: Path | None, png: Path | None) -> None:
    """Write the files, and say on stderr what they hold for."""
    whom = f"{fit.thresholds.backend}/{fit.thresholds.model}"
    if out is not None:
        fit.thresholds.save(out)
        click.echo(plain(f"{out}: thresholds of {whom} and this question alone"), err=True)
    else:
        click.echo(plain(f"thresholds of {whom}, not kept: give --out FILE"), err=True)
    if png is not None:
        _draw(run, png)


def _draw(run: Run, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f"{folder}: cannot be made: {error.strerror}") from error
    for one in run.measurements:
        for plot in one.plots:
            if isinstance(plot, Curve):
                write_png(plot, folder / f"{one.name}-{plot.title.lower().replace(' ', '-')}.png")
