"""A router that learnt from examples, as a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from fingerpost.decide.local_fit import N_WEIGHTS
from fingerpost.decide.local_router import LocalSourceRouter, SourceHead
from fingerpost.decide.local_source import SourceDescription
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import EmbeddingModel

_KIND: Final = "fingerpost source router"
_FORMAT: Final = 1
_GREATEST: Final = 1e6


def save_router(router: LocalSourceRouter, path: str | Path) -> None:
    """Write a router that `fit_router` made.

    The file is a NumPy archive without pickle: ``about`` is JSON with the format, the embedding
    model and the sources with their examples, which are in it as plain text.

    Raises:
        ConfigError: The router learnt nothing.
        OSError: The file cannot be written.
    """
    if router.head is None or router.embedder is None:
        raise ConfigError("this router learnt nothing from examples: there is nothing to keep")
    about = {
        "kind": _KIND,
        "format": _FORMAT,
        "embedder": router.embedder.name,
        "revision": router.embedder.revision,
        "threshold": router.head.threshold,
        "sources": [asdict(source) for source in router.sources],
    }
    with Path(path).open("wb") as file:
        np.savez_compressed(
            file,
            about=np.array(json.dumps(about, ensure_ascii=False)),
            weights=router.head.weights,
            matrix=router.head.matrix.astype(np.float16),
        )


def load_router(path: str | Path, embedder: EmbeddingModel) -> LocalSourceRouter:
    """Return the router that a file holds; its examples are embedded again.

    Args:
        path: Written by `save_router`.
        embedder: The same model and revision that it learnt with.

    Raises:
        ConfigError: The file is no such file, is of another version, or is of another model.
    """
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            weights, matrix = file["weights"], file["matrix"]
    except (Exception, MemoryError) as error:  # a broken archive fails in many ways
        what = str(error) or type(error).__name__
        raise ConfigError(f"{path} is no saved source router: {what}") from error
    _check(about, path, embedder)
    sources = _sources(about, path)
    if weights.shape != (N_WEIGHTS,) or matrix.shape != (embedder.dimension, len(sources)):
        raise ConfigError(f"{path}: its numbers do not fit its {len(sources)} sources")
    if weights.dtype.kind != "f" or matrix.dtype.kind != "f":
        raise ConfigError(f"{path}: its numbers are no decimal fractions")
    with np.errstate(over="ignore"):
        weights, matrix = weights.astype(np.float64), matrix.astype(np.float32)
    # Not finite fails the comparison as well.
    if not ((np.abs(weights) < _GREATEST).all() and (np.abs(matrix) < _GREATEST).all()):
        raise ConfigError(f"{path}: its numbers are not finite, or beyond {_GREATEST:g}")
    threshold = about.get("threshold")
    if not isinstance(threshold, float) or not 0 < threshold < 1:
        raise ConfigError(f"{path}: threshold is {threshold!r}, allowed is between 0 and 1")
    head = SourceHead(weights, matrix, threshold)
    try:
        return LocalSourceRouter(sources, embedder, head=head)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}", hint=error.hint) from error


def _check(about: Any, path: str | Path, embedder: EmbeddingModel) -> None:
    if not isinstance(about, dict) or about.get("kind") != _KIND:
        raise ConfigError(f"{path} is no saved source router")
    if about.get("format") is True or about.get("format") != _FORMAT:
        raise ConfigError(
            f"{path} has format {about.get('format')!r}, this version reads {_FORMAT}",
            hint="Fit it again with this version.",
        )
    model = (about.get("embedder"), about.get("revision"))
    if model != (embedder.name, embedder.revision):
        raise ConfigError(
            f"{path} learnt with {model[0]} ({model[1]}), not with {embedder.name}"
            f" ({embedder.revision})",
            hint="Use that embedding model, or fit it again.",
        )


def _sources(about: dict[str, Any], path: str | Path) -> list[SourceDescription]:
    try:
        return [
            SourceDescription(
                _text(one["id"]),
                _text(one["name"]),
                _text(one["description"]),
                tuple(map(_text, _list(one["examples"]))),
            )
            for one in _list(about["sources"])
        ]
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{path}: a source is not usable: {error!r}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.60} is no list")
    return value
