"""The described sources that a router chooses among, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fingerpost.errors import ConfigError
from fingerpost.types.source import Retriever, Source

Described = Mapping[Retriever, str] | Sequence[Source]
"""Retrievers with a description each, or sources; in the order in which routings name them."""


def as_sources(retrievers: Described) -> tuple[Source, ...]:
    """Return the sources. Those that came in a mapping are named ``source-1``, ``source-2``.

    Raises:
        ConfigError: None at all, a blank name or description, a name twice, a threshold outside
            0 to 1, or something that cannot retrieve.
    """
    if isinstance(retrievers, Mapping):
        pairs = enumerate(retrievers.items(), 1)
        sources = tuple(Source(f"source-{n}", told, found) for n, (found, told) in pairs)
    else:
        sources = tuple(retrievers)
    if not sources:
        raise ConfigError("retrievers is empty, a source router needs at least one")
    seen: set[str] = set()
    for source in sources:
        _check(source)
        if source.name in seen:
            raise ConfigError(f"source name {source.name!r} is given twice")
        seen.add(source.name)
    return sources


def checked_probability(value: float, setting: str) -> float:
    """Return a probability that a host set.

    Raises:
        ConfigError: It is no number from 0 to 1; the message names the setting.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise ConfigError(f"{setting} is {value!r}, allowed is 0 to 1")
    return float(value)


def _check(source: object) -> None:
    if not isinstance(source, Source):
        raise ConfigError(f"{type(source).__name__} is given where a Source is needed")
    if not isinstance(source.name, str) or not source.name.strip():
        raise ConfigError("a source has a blank name")
    if not isinstance(source.description, str) or not source.description.strip():
        raise ConfigError(
            f"source {source.name!r} has a blank description",
            hint="Say in a sentence what it holds; the router asks about that.",
        )
    if not isinstance(source.retriever, str) and not hasattr(source.retriever, "retrieve"):
        kind = type(source.retriever).__name__
        raise ConfigError(f"source {source.name!r} has a {kind}, which cannot retrieve")
    if source.min_probability is not None:
        checked_probability(source.min_probability, f"min_probability of source {source.name!r}")
