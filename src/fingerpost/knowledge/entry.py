"""An entry about fingerpost itself, and the files that hold all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Final

from fingerpost.types.ids import digest
from fingerpost.types.stats import PlatformKnowledgeStats

CATEGORIES: Final = ("api", "faq", "skills", "tools", "troubleshooting")


@dataclass(frozen=True, slots=True)
class Entry:
    """One question about fingerpost, or one thing of a host's catalogue, with its answer.

    Attributes:
        id: ``category:name``, unique; the category is one of `CATEGORIES`.
        question: As a person would ask it.
        answer: Markdown.
        page: Where it was taken from, for who wants to correct it.
        code: Python that runs in a folder with a folder ``docs``; empty when there is none. It
            stands in the answer too.
        error: Name of the error that the code raises and tells of, empty when none.
    """

    id: str
    question: str
    answer: str
    page: str = ""
    code: str = ""
    error: str = ""

    @property
    def category(self) -> str:
        """Return what kind of entry it is."""
        return self.id.partition(":")[0]

    @property
    def path(self) -> str:
        """Return ``category/name``; ``platform:`` and this is the uri of its source."""
        return self.id.replace(":", "/", 1)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All entries, ordered by id. Two are equal when they are the same object."""

    entries: tuple[Entry, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Return the hash of all that is known."""
        return digest(to_json(self), size=16)

    def stats(self) -> PlatformKnowledgeStats:
        """Return how many entries there are by category."""
        counts = Counter(entry.category for entry in self.entries)
        return PlatformKnowledgeStats(len(self.entries), **counts)


def to_json(knowledge: Knowledge) -> str:
    """Return the text of a file of knowledge: the same for the same entries, byte for byte."""
    entries = [
        {
            field.name: value
            for field in fields(Entry)
            if (value := getattr(entry, field.name)) or field.name == "answer"
        }
        for entry in _ordered(knowledge.entries)
    ]
    return json.dumps({"entries": entries}, ensure_ascii=False, indent=1) + "\n"


def _ordered(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.id))


@lru_cache(maxsize=1)
def load_knowledge() -> Knowledge:
    """Return what ships with the package: every JSON file beside this module."""
    entries: list[Entry] = []
    for file in files("fingerpost.knowledge").iterdir():
        if file.name.endswith(".json"):
            found = json.loads(file.read_text("utf-8"))["entries"]
            entries += [Entry(**item) for item in found]
    return Knowledge(_ordered(entries))
