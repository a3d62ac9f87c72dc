"""Types of settings: what is made of what the user wrote, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from fingerpost.config.providers import DECISION_NAMES, EMBEDDING_NAMES, LLM_NAMES, RERANK_NAMES
from fingerpost.config.secrets import Secret
from fingerpost.types.source import Source, source_fault


def _as_secret(value: object) -> object:
    if isinstance(value, Secret):
        value = value.reveal()
    if not isinstance(value, str):
        return value
    return Secret(value.strip()) if value.strip() else None


def _as_items(value: object) -> object:
    return (value,) if isinstance(value, str | Path) else value


def _as_sources(value: object) -> object:
    given = (value,) if isinstance(value, Source | Mapping) else value
    if not isinstance(given, list | tuple):
        raise ValueError("a list of Source objects")  # noqa: TRY004 - pydantic wants it so
    sources = tuple(map(_as_source, given))
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"source {name!r} is given twice")
    return sources


def _as_source(given: object) -> Source:
    """Return a `Source`; a table of a file gives its fields, ``path`` in place of a retriever."""
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - _SOURCE_FIELDS)
        if unknown:
            allowed = ", ".join(sorted(_SOURCE_FIELDS))
            raise ValueError(f"{unknown[0]!r} is no field of a source; allowed: {allowed}")
        examples = given.get("examples", ())
        if not isinstance(examples, list | tuple):
            raise ValueError("examples of a source is a list of questions")  # noqa: TRY004
        given = Source(
            name=str(given.get("name", "")),
            description=str(given.get("description", "")),
            retriever=str(given.get("path", "")),
            examples=tuple(map(str, examples)),
            min_probability=given.get("min_probability"),
        )
    if not isinstance(given, Source):
        raise ValueError(f"{given!r:.80} is no Source")  # noqa: TRY004
    if fault := source_fault(given):
        raise ValueError(fault)
    return given


def _blank_as_none(value: object) -> object:
    if not isinstance(value, str):
        return value
    return value.strip() or None


def _on_one_line(value: str | None) -> str | None:
    if value is not None and not value.isprintable():
        raise ValueError("a name on one line, without control characters")
    return value


def _as_provider(value: object) -> object:
    return value.strip().lower() or None if isinstance(value, str) else value


def _as_tier(value: object) -> object:
    """Return the number of a tier that is written as results tell it, ``T0`` to ``T3``."""
    label = value.strip().upper() if isinstance(value, str) else ""
    return int(label[1]) if label in ("T0", "T1", "T2", "T3") else value


def _one_of(names: tuple[str, ...]) -> AfterValidator:
    def check(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise ValueError(f"allowed: {', '.join(names)}")
        return value

    return AfterValidator(check)


SecretField = Annotated[
    Secret | None,
    BeforeValidator(_as_secret),
    PlainSerializer(lambda secret: None if secret is None else str(secret)),
]
Name = Annotated[str | None, BeforeValidator(_blank_as_none)]
ModelName = Annotated[Name, AfterValidator(_on_one_line)]
Paths = Annotated[tuple[str | Path, ...], BeforeValidator(_as_items)]
LlmProvider = Annotated[str | None, BeforeValidator(_as_provider), _one_of(LLM_NAMES)]
EmbeddingProvider = Annotated[str | None, BeforeValidator(_as_provider), _one_of(EMBEDDING_NAMES)]
DecisionProvider = Annotated[str | None, BeforeValidator(_as_provider), _one_of(DECISION_NAMES)]
RerankProvider = Annotated[str | None, BeforeValidator(_as_provider), _one_of(RERANK_NAMES)]
Names = Annotated[tuple[str, ...], BeforeValidator(_as_items)]
Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
Hook = Callable[..., Any] | None
HighestTier = Annotated[int, BeforeValidator(_as_tier), Field(ge=0, le=3)]
Sources = Annotated[tuple[Any, ...], BeforeValidator(_as_sources)]

_SOURCE_FIELDS = frozenset({"name", "description", "path", "examples", "min_probability"})
