"""What ``fingerpost doctor --call`` asks of models."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost.cli.finding import Finding
from fingerpost.cli.terminal import one_line

if TYPE_CHECKING:
    from fingerpost.config.credentials import Credentials
    from fingerpost.config.endpoint import Endpoint
    from fingerpost.lanes.base import RerankModel

_CALL_S = 30.0
_CALL_TOKENS = 256  # a reasoning model thinks before it says one word
_SETTINGS = (
    "classifier_model, generation_model, generation_model_deep, embedding_model, decision_model, "
    "failover_providers or decision_failover_providers."
)


def calls(credentials: Credentials) -> list[Finding]:
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
        what = f"{endpoint.provider} {endpoint.model}: {type(error).__name__}: {error.advice}"
        return Finding(name, "failure", what)
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
    said = answer.status.value
    if answer.label:
        said = f"said {answer.label} with {answer.probabilities[answer.label]:.2f}"
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
        return Finding(name, "failure", error.advice)
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
        return Finding(name, "warning", f"no list: {type(error).__name__}: {error.advice}")
    missing = [model for model in models if not is_listed(model, names)]
    gone = [model for model in missing if not models[model]]
    if gone:
        told = f"not among the {len(names):,} listed: {', '.join(gone)}. Name others in {_SETTINGS}"
        return Finding(name, "warning", told)
    if missing:
        return Finding(name, "note", f"not listed, yet answering: {', '.join(missing)}")
    return Finding(name, "ok", f"listed: {', '.join(models)}")
