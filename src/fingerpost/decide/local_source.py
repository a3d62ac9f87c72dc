"""A described source, and what its description says piece by piece."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from fingerpost.errors import ConfigError

# Longer text is no description that lists what a source holds; its pieces would only cost time.
_LONGEST_LIST: Final = 1_500
_MOST_PIECES: Final = 64
_CUT: Final = re.compile(r"[,;:()\n、，；：。（）]|[.!](?=\s|$)|(?<=\?)\s|\band\b")
_TOLD: Final = 4


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """A source as the router sees it.

    Attributes:
        id: What the decision names; unique among the sources.
        name: A few words, may be empty when there is a description.
        description: What it holds, may be empty when there is a name.
        examples: Questions or intents that belong to it. Underscores read as blanks.
    """

    id: str
    name: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Return name and description in one line."""
        parts = (_readable(self.name), self.description.strip())
        return ": ".join(part for part in parts if part)

    @property
    def own_texts(self) -> list[str]:
        """Return its examples and the pieces of a description that lists several things."""
        return [*self.sayings, *self.pieces]

    @property
    def sayings(self) -> list[str]:
        """Return its examples as words."""
        return [_readable(example) for example in self.examples]

    @property
    def pieces(self) -> list[str]:
        """Return the things that its heading lists; none when it is one thing."""
        return _pieces(self.heading)

    @property
    def gloss(self) -> list[str]:
        """Return what its heading usually stands for; nothing when it has examples of its own."""
        if self.examples:
            return []
        heading = self.heading.casefold()
        words = re.findall(r"\w+", heading)
        return [
            piece
            for key, pieces in _glosses().items()
            if (key in words if " " not in key else key in heading)
            for piece in pieces
        ]


def are_told(sources: Sequence[SourceDescription]) -> bool:
    """Return whether the sources say much of themselves: four things or more on average."""
    return sum(len(source.own_texts) for source in sources) >= _TOLD * len(sources)


def check_sources(sources: Sequence[SourceDescription]) -> None:
    """Refuse sources that cannot be told apart.

    Raises:
        ConfigError: No source, an id twice, or a source that says nothing of itself.
    """
    if not sources:
        raise ConfigError("a source router needs at least one source")
    seen: set[str] = set()
    for source in sources:
        if source.id in seen:
            raise ConfigError(f"source id {source.id!r} is given twice")
        seen.add(source.id)
        if not any(text.strip() for text in (source.heading, *source.examples)):
            raise ConfigError(
                f"source {source.id!r} has no name, description or examples",
                hint="Give each source a description of what it holds.",
            )


def _readable(text: str) -> str:
    """Return a name or an intent as words."""
    return text.replace("_", " ").strip()


def _pieces(heading: str) -> list[str]:
    if len(heading) > _LONGEST_LIST:
        return []
    cut = (piece.strip(" \t-*•\"'") for piece in _CUT.split(heading))
    pieces = list(dict.fromkeys(piece for piece in cut if any(map(str.isalpha, piece))))
    return pieces[:_MOST_PIECES] if len(pieces) > 1 else []


@lru_cache(maxsize=1)
def _glosses() -> dict[str, list[str]]:
    """Return what sources of a common name usually hold."""
    text = (files(__package__ or "") / "glosses.json").read_text(encoding="utf-8")
    value: dict[str, list[str]] = json.loads(text)["glosses"]
    return value
