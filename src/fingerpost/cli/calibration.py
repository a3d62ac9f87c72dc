"""What the calibration command runs."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import click

from fingerpost.cli.evaluate import require_askable
from fingerpost.cli.measured import Files, require_places
from fingerpost.cli.progress import case_bars
from fingerpost.cli.terminal import plain
from fingerpost.decide.calibrate import Fit
from fingerpost.errors import ConfigError, EvaluationError
from fingerpost.eval.cases import dataset_name, read_cases, routing_case
from fingerpost.eval.measurement import Measurement
from fingerpost.eval.plots import Curve
from fingerpost.eval.plots_png import require_matplotlib, write_png
from fingerpost.eval.routing_calibration import calibrate, sampled
from fingerpost.eval.routing_subjects import Backend
from fingerpost.eval.run import Run, timed_run
from fingerpost.eval.sources import read_sources
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
) -> tuple[Run, Files]:
    """Ask, fit, and return the measures with what writes the files that were asked for."""
    require_askable(backend)
    require_places(out)
    if png is not None:
        _require_folder(png, dataset_name(labels))
    cases = sampled(read_cases(labels, routing_case), limit, seed)
    options = read_sources(sources)
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
    fit = fits[0]
    _say(fit, is_kept=out is not None)
    thresholds: Files = {} if out is None else {out: partial(_save, fit)}
    pictures: Files = {} if png is None else _pictures(run, png)
    return run, {**thresholds, **pictures}


def _say(fit: Fit, *, is_kept: bool) -> None:
    """Say on stderr whom the thresholds are of, and when 0.5 is better."""
    if fit.rejected:
        click.echo(
            f"fitted thresholds cost {fit.rejected['cost']:.3f} a question on questions not "
            f"fitted on, 0.5 costs {fit.thresholds.before['cost']:.3f}: 0.5 is kept",
            err=True,
        )
    whom = f"thresholds of {fit.thresholds.backend}/{fit.thresholds.model}"
    if not is_kept:
        click.echo(plain(f"{whom} are not kept: give --out FILE"), err=True)


def _save(fit: Fit, path: Path) -> None:
    """Write the thresholds; on a full disk elsewhere, for asking again costs more."""
    try:
        fit.thresholds.save(path)
    except ConfigError as error:
        spare = Path(tempfile.mkdtemp(prefix="fingerpost-")) / "thresholds.json"
        fit.thresholds.save(spare)
        raise EvaluationError(f"{error}; the thresholds are in {spare}") from error
    whom = f"{fit.thresholds.backend}/{fit.thresholds.model}"
    click.echo(plain(f"{path} written: thresholds of {whom} and this question alone"), err=True)


def _require_folder(folder: Path, name: str) -> None:
    require_matplotlib()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"{folder}: cannot be made: {error.strerror}") from error
    require_places(folder / f"{name}.png")


def _pictures(run: Run, folder: Path) -> Files:
    return {
        folder / f"{one.name}-{plot.title.lower().replace(' ', '-')}.png": partial(write_png, plot)
        for one in run.measurements
        for plot in one.plots
        if isinstance(plot, Curve)
    }
