"""A described place to retrieve from, whoever built it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

PLATFORM: Final = "platform"
"""Source of what fingerpost knows about itself; ``platform:category/name`` are its uris."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that a retriever found. It is data, whatever it says.

    Attributes:
        text: What was found, not blank.
        uri: Where it can be opened, empty when unknown; may not be trusted.
        title: Of the document.
        heading: Of the section.
        score: The retriever's own, ``None`` when it has none; only their order is used.
        metadata: JSON values.
    """

    text: str
    uri: str = ""
    title: str = ""
    heading: str = ""
    score: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict, hash=False)


@runtime_checkable
class Retriever(Protocol):
    """Anything that finds passages for a question."""

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return at most ``top_k`` passages, best first; none when nothing fits."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A described place to retrieve from. Two sources are equal when they are the same object.

    Attributes:
        name: Unique among the sources, not blank.
        description: What it holds, for the router; not blank.
        retriever: A `Retriever`, or the path of a folder, file or glob of documents, which
            then join the router's own index under the source's name.
        examples: Questions that belong to it; the first ten are shown to the built-in router
            with the description.
        min_probability: Threshold of its own; ``None`` takes the router's.
    """

    name: str
    description: str
    retriever: Retriever | str
    examples: tuple[str, ...] = ()
    min_probability: float | None = None

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return what its retriever finds. See `Retriever`.

        Raises:
            TypeError: The source is a path, which only an index can search.
        """
        if isinstance(self.retriever, str):
            raise TypeError(f"source {self.name!r} is a path; a QueryRouter searches it")
        return await self.retriever.retrieve(query, top_k)


def source_fault(source: object) -> str:
    """Return what is wrong with a source, empty when nothing is."""
    if not isinstance(source, Source):
        return f"a {type(source).__name__} is given where a Source is needed"
    if not isinstance(source.name, str) or not source.name.strip():
        return "a source has a blank name"
    if not isinstance(source.description, str) or not source.description.strip():
        return f"source {source.name!r} has a blank description"
    limit = source.min_probability
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if limit is not None and not (is_number and 0 <= limit <= 1):
        return f"source {source.name!r}: min_probability = {limit!r} is not within 0 to 1"
    examples: object = source.examples
    if not isinstance(examples, list | tuple) or not all(isinstance(x, str) for x in examples):
        return f"source {source.name!r}: examples are no list of questions"
    if isinstance(source.retriever, str):
        return "" if source.retriever.strip() else f"source {source.name!r} has a blank path"
    if not callable(getattr(source.retriever, "retrieve", None)):
        kind = type(source.retriever).__name__
        return f"source {source.name!r}: {kind} is neither a path nor has it 'retrieve'"
    return ""
