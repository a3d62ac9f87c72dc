"""``fingerpost doctor``."""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
import time
from typing import TYPE_CHECKING

import click

from fingerpost.cli.doctor_packages import package_findings
from fingerpost.cli.finding import Finding, counted
from fingerpost.cli.options import Load, NoPathError, corpus_options
from fingerpost.cli.terminal import plain

if TYPE_CHECKING:
    from fingerpost.config.credentials import Credentials
    from fingerpost.config.explain import CredentialRow
    from fingerpost.config.schema import QueryRouterConfig
    from fingerpost.types.stats import CorpusStats

_MARK = {
    "ok": ("✓", "green"),
    "note": ("·", "white"),
    "not-called": ("?", "yellow"),
    "warning": ("!", "yellow"),
    "failure": ("✗", "red"),
}


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--call",
    is_flag=True,
    help="Ask each configured model one word, which costs a little, and look for its name in "
    "the provider's list.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@corpus_options
def doctor(paths: tuple[str, ...], call: bool, as_json: bool, load: Load) -> int:
    """Check the installation, settings, models and providers, and the index of each PATH.

    Exits with 1 when something does not work. What was not called is not said to work.
    """
    from fingerpost.config.explain import explain
    from fingerpost.types.wire import to_wire

    found = [*_machine(), *package_findings(), *_models()]
    credentials, told = _providers(load, paths, call=call)
    found += told
    if call and credentials is not None:
        from fingerpost.cli.doctor_calls import calls

        found += calls(credentials)
    found += _settings(load, paths, credentials)
    not_called = [item.name for item in told if item.status == "not-called"]
    failed = any(item.status == "failure" for item in found)
    if as_json:
        rows = () if credentials is None else explain(credentials)
        report = {
            "ok": not failed,
            "not_called": not_called,
            "findings": [to_wire(item) for item in found],
            "credentials": [to_wire(row) for row in rows],
        }
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return int(failed)
    width = max(len(item.name) for item in found)
    for item in found:
        mark, colour = _MARK[item.status]
        click.echo(f"{click.style(mark, fg=colour)} {item.name:<{width}} {plain(item.detail)}")
    warned = [item.name for item in found if item.status == "warning"]
    click.echo(_verdict(not_called, warned, failed=failed))
    return int(failed)


def _verdict(not_called: list[str], warned: list[str], *, failed: bool) -> str:
    if failed:
        return "something does not work"
    kept = [f"Something is left to do, see what is marked !: {', '.join(warned)}."] * bool(warned)
    if not_called:
        names = ", ".join(not_called)
        kept.append(f"Not called, so not known to work: {names} (--call calls them).")
    return " ".join(["Nothing is broken.", *kept]) if kept else "all that is needed works"


def _machine() -> list[Finding]:
    from fingerpost.wiring import cores

    python = platform.python_version()
    old = sys.version_info < (3, 11)
    return [
        Finding("Python", "failure" if old else "ok", f"{python} on {platform.platform()}"),
        Finding("cores", "ok", str(cores())),
        Finding("SQLite", "ok", f"{sqlite3.sqlite_version}, one writer at a time by lock file"),
    ]


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
            found.append(Finding(f"model {name}", "note", error.advice))
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


def _providers(
    load: Load, paths: tuple[str, ...], *, call: bool
) -> tuple[Credentials | None, list[Finding]]:
    """Return who does which job, ``None`` when the settings cannot be read or do not say."""
    from fingerpost.config.credentials import resolve_credentials
    from fingerpost.config.explain import explain
    from fingerpost.errors import ConfigError

    try:
        config = _config(load, paths)
    except ConfigError as error:
        return None, [Finding("settings", "failure", error.advice)]
    try:
        credentials = resolve_credentials(config)
    except ConfigError as error:
        return None, [Finding("providers", "failure", error.advice)]
    routes = bool(config.sources)
    return credentials, [_role(row, call=call, routes=routes) for row in explain(credentials)]


def _config(load: Load, paths: tuple[str, ...]) -> QueryRouterConfig:
    """Return the settings, also without a corpus: who does which job depends on none."""
    try:
        return load(paths).config
    except NoPathError:
        return load((".",)).config


def _role(row: CredentialRow, *, call: bool, routes: bool) -> Finding:
    if not row.provider:
        instead = "; the local one routes" if routes and row.role == "decision model" else ""
        return Finding(row.role, "note", f"no model: {row.reason}{instead}")
    if row.provider == "cross-encoder":
        status = "note" if call else "not-called"
        return Finding(row.role, status, f"{row.provider} {row.model}: {row.reason}")
    if not row.host:
        return Finding(row.role, "ok", f"{row.provider} {row.model}: {row.reason}")
    key = f"key of {row.key}" if row.key else "no key"
    status = "note" if call else "not-called"  # what a call gave is a finding of its own
    detail = f"{row.provider} {row.model} at {row.host}, {key}: {row.reason}"
    return Finding(row.role, status, detail)


def _settings(load: Load, paths: tuple[str, ...], credentials: Credentials | None) -> list[Finding]:
    """Return where each setting came from, the sources and the index."""
    from fingerpost.cli.doctor_sources import source_findings
    from fingerpost.cli.stats import index_as_it_is
    from fingerpost.errors import ConfigError, FingerpostError, StoreError

    try:
        loaded = load(paths)
    except NoPathError:
        return [Finding("settings", "note", "no PATH given: settings and index not checked")]
    except ConfigError:
        return []  # told among the providers
    found = [
        Finding("settings", "ok", f"{name} from {origin}")
        for name, origin in sorted(loaded.origins.items())
        if origin != "argument"
    ]
    config = loaded.config
    try:
        with index_as_it_is(config) as library:
            routed = source_findings(config, credentials, library)
            return [*found, *routed, _index(library.stats())]
    except FingerpostError as error:
        status = "warning" if type(error) is StoreError else "failure"  # no index yet
        routed = source_findings(config, credentials, None)
        return [*found, *routed, Finding("index", status, error.advice)]


def _index(stats: CorpusStats) -> Finding:
    detail = (
        f"{counted(stats.document_count, 'document')}, {counted(stats.chunk_count, 'chunk')}, "
        f"{stats.vector_coverage:.0%} with vectors ({stats.embedding_model or 'no model'}), "
        f"{stats.index_path}"
    )
    if stats.embedding_status == "failed-init":
        return Finding("index", "failure", f"{detail}; the embedding model does not work")
    if not stats.chunk_count:
        return Finding(
            "index",
            "warning",
            f"{stats.index_path} holds no text yet: put documents where you point it, then run "
            "'fingerpost index' with the same paths",
        )
    if stats.embedding_model and stats.vector_coverage < 1:
        until = "the rest is" if stats.vector_coverage else "all is"
        detail = (
            f"{detail}; {until} searched by words alone until 'fingerpost index' with the same "
            "paths has computed its vectors"
        )
        return Finding("index", "note" if stats.vector_coverage else "warning", detail)
    return Finding("index", "ok", detail)
