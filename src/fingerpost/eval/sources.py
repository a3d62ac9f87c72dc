"""Described sources, read from rows or from the settings that ship them."""

from __future__ import annotations

from pathlib import Path

from fingerpost.config.load import load_config
from fingerpost.decide import SourceDescription
from fingerpost.errors import EvaluationError
from fingerpost.eval.cases import read_cases, source_option
from fingerpost.wiring.sources import as_asked_about


def read_sources(path: Path) -> list[SourceDescription]:
    """Return the sources of a file of rows, or of settings when its name ends in ``.toml``.

    Those of settings are described as a `QueryRouter` describes them, examples included.

    Raises:
        EvaluationError: A row is not usable, or there is no source.
        ConfigError: The settings are not usable.
    """
    if path.suffix.lower() != ".toml":
        return read_cases(path, source_option)
    sources = load_config(file=path).config.sources
    if not sources:
        raise EvaluationError(f"{path}: no [[sources]]")
    return [SourceDescription(one.name, "", as_asked_about(one).description) for one in sources]
