"""Settings from defaults, file, environment and arguments; the nearest wins."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from fingerpost.config.repos import RepoIndexConfig
from fingerpost.config.repository import read_repository
from fingerpost.config.schema import QueryRouterConfig, QueryRouterStrategyConfig
from fingerpost.errors import ConfigError, UnknownSettingError

FILE_NAME = "fingerpost.toml"
PREFIX = "FINGERPOST_"
_NOT_SETTINGS = frozenset({"traceback", "venv"})
_LISTS = {
    "knowledge_corpus": os.pathsep,
    "available_tools": os.pathsep,
    "failover_providers": ",",
    "decision_failover_providers": ",",
    "github_repos__repos": ",",
}
_NESTED: dict[str, type[BaseModel]] = {
    "strategy_config": QueryRouterStrategyConfig,
    "github_repos": RepoIndexConfig,
}
_PATHS = (
    "index_dir", "embedding_folder", "record", "replay", "rerank_folder", "source_thresholds",
    "gap_log",
)  # fmt: skip
_NOT_FROM_TEXT = frozenset(
    {
        "graph_expand",
        "rerank",
        "deep_research",
        "web_search",
        "on_classification",
        "on_retrieval",
        "on_event",
        "nli",
        "extract_claims",
        "chat_model",
        "chat_model_deep",
        "decider",
        "sources",
        "source_router",
    }
)


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """Settings and where each of those that were given came from.

    Attributes:
        config: The settings.
        origins: Setting → ``argument``, ``environment NAME`` or ``file PATH``; defaults are
            not listed.
    """

    config: QueryRouterConfig
    origins: dict[str, str] = field(default_factory=dict)


def load_config(
    arguments: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> LoadedConfig:
    """Merge defaults < file < environment < arguments.

    Args:
        arguments: Settings by name; a value of ``None`` counts as not given.
        file: TOML file; ``None`` takes ``fingerpost.toml`` in the working directory when there
            is one. Relative paths in it are relative to its own folder.
        environ: Variables; ``None`` takes the process's. ``FINGERPOST_MAX_TIER`` sets
            ``max_tier``, ``FINGERPOST_STRATEGY_CONFIG__MAX_SUB_QUERIES`` a nested one; lists
            are separated like ``PATH``, ``failover_providers`` by commas. A blank value counts
            as absent.

    Raises:
        UnknownSettingError: A name is not a setting.
        ConfigError: A value is not allowed, or the file is no TOML.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    path = file if file is not None else Path(FILE_NAME)
    if file is not None or path.is_file():
        _merge(values, origins, _from_file(path), f"file {path}")
    for name, value, variable in _from_environment(os.environ if environ is None else environ):
        _merge(values, origins, _nested(name, value), f"environment {variable}")
    given = {key: value for key, value in (arguments or {}).items() if value is not None}
    _merge(values, origins, given, "argument")
    return LoadedConfig(validate(values), origins)


def validate(values: Mapping[str, Any]) -> QueryRouterConfig:
    """Return the settings, or raise the error that names field, value and what is allowed.

    Raises:
        UnknownSettingError: A name is not a setting.
        ConfigError: A value is not allowed.
    """
    try:
        return QueryRouterConfig(**values)
    except ValidationError as error:
        refusal = _translate(error)
    raise refusal  # out here, so that it does not carry the other one, which shows the values


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's cache folder for indexes that have no folder of their own."""
    variables = os.environ if environ is None else environ
    base = variables.get("XDG_CACHE_HOME", "").strip() or variables.get("LOCALAPPDATA", "").strip()
    return (Path(base) if base else Path.home() / ".cache") / "fingerpost"


def _from_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read settings from {path}: {error}") from error
    corpus = values.get("knowledge_corpus")
    if isinstance(corpus, str):
        corpus = [corpus]
    if isinstance(corpus, list):
        values["knowledge_corpus"] = [str(path.parent / str(item)) for item in corpus]
    described = values.get("sources")
    for source in described if isinstance(described, list) else ():
        if isinstance(source, dict) and isinstance(source.get("path"), str):
            source["path"] = str(path.parent / source["path"])
    for name in _PATHS:
        if isinstance(values.get(name), str):
            values[name] = path.parent / values[name]
    repositories = values.get("github_repos")
    if isinstance(repositories, dict) and isinstance(repositories.get("repos"), list):
        repositories["repos"] = [_repository(item, path.parent) for item in repositories["repos"]]
    return values


def _repository(given: object, folder: Path) -> object:
    """Return an entry of ``repos``; the path of a local one is relative to the file's folder."""
    with suppress(ValueError):
        if isinstance(given, str) and read_repository(given).kind == "local" and "://" not in given:
            return str(folder / Path(given).expanduser())
    return given


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, object, str]]:
    found: list[tuple[str, object, str]] = []
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or not environ[variable].strip():
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name in _NOT_SETTINGS:
            continue
        value: object = environ[variable]
        if name in _LISTS:
            parts = environ[variable].split(_LISTS[name])
            value = [part.strip() for part in parts if part.strip()]
        if name in _NOT_FROM_TEXT:
            raise ConfigError(f"{variable}: {name} is no text and can only be an argument")
        found.append((name, value, variable))
    return found


def _nested(name: str, value: object) -> dict[str, Any]:
    outer, separator, inner = name.partition("__")
    return {outer: {inner: value}} if separator else {name: value}


def _merge(
    values: dict[str, Any], origins: dict[str, str], layer: Mapping[str, Any], origin: str
) -> None:
    for key, value in layer.items():
        if isinstance(value, BaseModel):
            value = value.model_dump(exclude_unset=True)  # noqa: PLW2901 - merged as a mapping
        if isinstance(value, Mapping):
            below = values.setdefault(key, {})
            if isinstance(below, dict):
                below.update(value)
                origins.update({f"{key}.{inner}": origin for inner in value})
                continue
        values[key] = value
        origins[key] = origin


def _translate(error: ValidationError) -> ConfigError:
    problems = error.errors(include_url=False, include_context=False)
    problem = next((item for item in problems if item["type"] == "extra_forbidden"), problems[0])
    place = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
    if problem["type"] == "extra_forbidden":
        return _unknown(place)
    said = problem["msg"].removeprefix("Value error, ")
    if not place:
        return ConfigError(said)
    if said == problem["msg"]:
        said = said.lower()
    is_secret = "key" in place or place == "sources" or place.startswith("github_repos")
    shown = "" if is_secret else f" = {problem['input']!r}"
    return ConfigError(f"{place}{shown}: {said}")


def _unknown(place: str) -> UnknownSettingError:
    known = list(QueryRouterConfig.model_fields) + [
        f"{outer}.{name}" for outer, kind in _NESTED.items() for name in kind.model_fields
    ]
    nested = [name for name in known if name.endswith(f".{place}")]
    near = nested or difflib.get_close_matches(place, known, n=1)
    return UnknownSettingError(
        f"there is no setting {place!r}",
        hint=f"Did you mean {near[0]!r}?" if near else "See docs/reference/settings.md.",
    )
