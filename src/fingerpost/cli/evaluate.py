"""What the evaluation commands run: cases from files, their jobs, and a scratch folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from fingerpost.cli.progress import case_bars
from fingerpost.decide import SourceDescription
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.eval.cases import (
    RoutingCase,
    answer_cases,
    claim_case,
    dataset_name,
    is_answer_row,
    passage,
    read_cases,
    read_rows,
    retrieval_case,
    routing_case,
    tier_case,
)
from fingerpost.eval.grounding import measure_answers, measure_claims
from fingerpost.eval.measurement import Measurement
from fingerpost.eval.retrieval import RetrievalOptions, measure_retrieval
from fingerpost.eval.routing import measure_routed, require_known_sources
from fingerpost.eval.routing_subjects import Backend, drawn_examples, routes_of
from fingerpost.eval.run import Progress, Run, timed_run
from fingerpost.eval.sources import read_sources
from fingerpost.eval.subjects import (
    answer_verifier,
    claim_judge,
    embedder_chooser,
    embedder_named,
    tier_classifier,
)
from fingerpost.eval.tiers import measure_tiers
from fingerpost.lanes.base import EmbeddingModel

_DECIDING = frozenset({"decision", "cascade"})
"""Routers that ask a decision model."""


def retrieval(
    *,
    passages: tuple[Path, ...],
    queries: tuple[Path, ...],
    embedder_name: str,
    tier: int | None,
    cache: Path | None,
    limit: int | None,
) -> Run:
    """Index passages, search for every question and score the rankings."""
    _require_pairs("--passages", passages, "--queries", queries)
    with case_bars() as progress, _scratch(cache) as folder:
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
                progress=progress,
            )
            for name, passage_file, query_file in zip(
                _names(queries), passages, queries, strict=True
            )
        ]
        return timed_run("eval retrieval", jobs)


def tiers(
    *,
    files: tuple[Path, ...],
    include_low: bool,
    limit: int | None,
) -> Run:
    """Classify questions and score the tiers."""
    with case_bars() as progress:
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
            for name, file in zip(_names(files), files, strict=True)
        ]
        return timed_run("eval tiers", jobs)


def routing(
    *,
    queries: tuple[Path, ...],
    sources: tuple[Path, ...],
    routers: tuple[str, ...],
    backend: Backend,
    thresholds: Path | None,
    examples: int | None,
    seed: int,
    embedder_name: str,
    limit: int | None,
) -> Run:
    """Route questions to described sources and score the choices."""
    _require_pairs("--queries", queries, "--sources", sources)
    _require_use(routers, backend, thresholds)
    if thresholds is not None:
        backend = replace(backend, thresholds=RoutingThresholds.load(thresholds))
    routers = tuple(dict.fromkeys(routers))
    with case_bars() as progress:
        embedder = embedder_named(embedder_name)
        if examples is not None:
            _tell_who_learns(routers, embedder)
        jobs: list[Callable[[], Measurement]] = []
        for name, *files in zip(_names(queries), queries, sources, strict=True):
            cases, options, shown = _routing_data(name, files, limit, examples, seed)
            jobs.extend(
                partial(
                    measure_routed,
                    name if len(routers) == 1 else f"{name}/{kind}",
                    cases,
                    routes_of(kind, options, embedder=embedder, backend=backend, examples=shown),
                    progress=progress,
                )
                for kind in routers
            )
        return timed_run("eval routing", jobs)


def _routing_data(
    name: str, files: Sequence[Path], limit: int | None, n_examples: int | None, seed: int
) -> tuple[Sequence[RoutingCase], Sequence[SourceDescription], Mapping[str, tuple[str, ...]]]:
    cases: Sequence[RoutingCase] = read_cases(files[0], routing_case)[:limit]
    options = read_sources(files[1])
    require_known_sources(name, cases, options)
    if n_examples is None:
        return cases, options, {}
    examples, cases = drawn_examples(cases, n_examples, seed)
    return cases, options, examples


def _require_use(routers: Sequence[str], backend: Backend, thresholds: Path | None) -> None:
    """Refuse options that no router looks at."""
    if thresholds is not None and not _DECIDING.intersection(routers):
        raise click.UsageError(
            "--thresholds is for the routers decision and cascade; "
            f"{' and '.join(routers)} uses none."
        )
    if "language-model" not in routers and _DECIDING.intersection(routers):
        require_askable(backend)


def require_askable(backend: Backend) -> None:
    """Refuse options that the local decision model would not look at.

    Raises:
        click.UsageError: It is given a model or an address.
    """
    if backend.name == "local" and (backend.model or backend.base_url):
        raise click.UsageError(
            "the local decision model takes no --model and no --base-url: --embedder none "
            "compares words, --embedder minilm or use what they mean."
        )


def _tell_who_learns(routers: Sequence[str], embedder: EmbeddingModel | None) -> None:
    for name in routers:
        if name != "local":
            what = f"{name} learns nothing from examples: it sees them beside the descriptions"
        elif embedder is None:
            what = "local learns nothing without an embedding model: it compares words with them"
        else:
            continue
        click.echo(what, err=True)


def backend_of(
    name: str, model: str | None, base_url: str | None, template: Path | None, at_once: int | None
) -> Backend:
    """Return the decision model that the options name."""
    told = Backend(name, model, base_url, at_once=at_once)
    if template is None:
        return told
    try:
        text = template.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise click.BadParameter(f"{template}: {error}", param_hint="--template") from error
    return replace(told, template=text)


def grounding(
    *,
    files: tuple[Path, ...],
    embedder_name: str,
    limit: int | None,
) -> Run:
    """Hold claims, or whole answers, against their sources and score the verdicts."""
    with case_bars() as progress:
        embedder = embedder_named(embedder_name)
        jobs = [
            _grounding_job(name, file, embedder=embedder, limit=limit, progress=progress)
            for name, file in zip(_names(files), files, strict=True)
        ]
        return timed_run("eval grounding", jobs)


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


def _require_pairs(one: str, these: Sequence[Path], other: str, those: Sequence[Path]) -> None:
    if len(these) != len(those):
        raise click.UsageError(f"{len(these)} {one} need as many {other}, not {len(those)}.")


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
