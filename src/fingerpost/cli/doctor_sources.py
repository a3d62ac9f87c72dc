"""What the doctor finds out about described sources, who chooses among them, and from when on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fingerpost.cli.finding import Finding, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fingerpost.config.credentials import Credentials
    from fingerpost.config.schema import QueryRouterConfig
    from fingerpost.library import Library
    from fingerpost.types.source import Source

_LOCAL = "the local decision model"


def source_findings(
    config: QueryRouterConfig, credentials: Credentials | None, library: Library | None
) -> list[Finding]:
    """Return each described source, who routes, and whether the fitted thresholds are theirs.

    Args:
        config: The settings.
        credentials: Who does which job; ``None`` where the settings do not say.
        library: The open index; ``None`` where there is none.
    """
    counts = None if library is None else _counts(library)
    sources = [_source(source, counts) for source in config.sources]
    if not sources or credentials is None:
        return sources
    who, backend, model = _who(credentials, library)
    thresholds = [] if config.source_thresholds is None else [_thresholds(config, backend, model)]
    return [
        *sources,
        Finding("source routing", "ok", who),
        *thresholds,
    ]


def _counts(library: Library) -> Mapping[str, int]:
    from collections import Counter

    with library.store.reader() as reader:
        return Counter(document.source for document in reader.documents())


def _source(source: Source, counts: Mapping[str, int] | None) -> Finding:
    from fingerpost.corpus import locate

    name, path = f"source {source.name}", str(source.retriever)
    _, missing = locate([path])
    if missing:
        return Finding(name, "failure", f"{path}: {missing[0].detail}")
    if counts is None:
        return Finding(name, "note", f"{path}: not indexed")
    n_documents = counts.get(source.name, 0)
    detail = f"{path}: {counted(n_documents, 'document')}"
    return Finding(name, "ok" if n_documents else "warning", f"{detail} in the index")


def _who(credentials: Credentials, library: Library | None) -> tuple[str, str, str]:
    """Return who routes for people, the backend, and its model, empty where it is not known."""
    from fingerpost.config.endpoint import Endpoint
    from fingerpost.decide import LocalDecisionModel

    target = credentials.decision
    if target == "chat":
        target = credentials.classifier
    if isinstance(target, Endpoint):
        return f"the decision model {target.name}", target.provider, target.model
    backend = LocalDecisionModel.provider
    if library is None:
        return _LOCAL, backend, ""
    model = LocalDecisionModel(library.embedding.model).model
    how = "by words alone" if library.embedding.model is None else f"with {model}"
    return f"{_LOCAL}, {how}", backend, model


def _thresholds(config: QueryRouterConfig, backend: str, model: str) -> Finding:
    from fingerpost.decide.query_router import DEFAULT_QUESTION_TEMPLATE
    from fingerpost.decide.thresholds import RoutingThresholds
    from fingerpost.errors import ConfigError

    name, path = "source thresholds", str(config.source_thresholds)
    try:
        fitted = RoutingThresholds.load(path)
        is_local = backend == "local"
        asked = model if is_local and model else fitted.model
        fitted.check(backend, asked, DEFAULT_QUESTION_TEMPLATE)
    except ConfigError as error:
        return Finding(name, "failure", error.advice)
    bound = f"{path}: bound to {fitted.backend}/{fitted.model}"
    if is_local and model:
        return Finding(name, "ok", bound)
    if model and model != fitted.model:
        return Finding(name, "warning", f"{bound}; refused when another than that one answers")
    return Finding(name, "note", f"{bound}; held against the model that answers")
