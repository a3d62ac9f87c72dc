"""The described sources that a router chooses among, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fingerpost.decide.options import checked_description
from fingerpost.errors import ConfigError
from fingerpost.types.source import Retriever, Source, source_fault

Described = Mapping[Retriever, str] | Sequence[Source]
"""Retrievers with a description each, or sources; in the order in which routings name them."""


def as_sources(retrievers: Described) -> tuple[Source, ...]:
    """Return the sources. Those that came in a mapping are named ``source-1``, ``source-2``.

    Raises:
        ConfigError: None at all, a blank name or description, a description that is too long, a
            name twice, a threshold outside 0 to 1, or something that cannot retrieve.
    """
    if not isinstance(retrievers, Iterable):
        raise ConfigError(f"retrievers is a {type(retrievers).__name__}, allowed are sources")
    if isinstance(retrievers, Mapping):
        pairs = enumerate(retrievers.items(), 1)
        sources = tuple(Source(f"source-{n}", told, found) for n, (found, told) in pairs)
    else:
        sources = tuple(retrievers)
    if not sources:
        raise ConfigError("retrievers is empty, a source router needs at least one")
    for source in sources:
        if fault := source_fault(source):
            raise ConfigError(fault, hint="Say in a sentence what each source holds.")
        checked_description(source.description, f"the description of source {source.name!r}")
    name, times = Counter(source.name for source in sources).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"source name {name!r} is given twice")
    return sources
