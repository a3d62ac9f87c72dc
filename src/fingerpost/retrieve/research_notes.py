"""What the research pass knows: hits, what they cover of the question, what stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fingerpost.retrieve.hybrid import searchable_text
from fingerpost.retrieve.question import Question, ask, token_set
from fingerpost.stores.base import Reader
from fingerpost.text.analyse import query_tokens
from fingerpost.types.evidence import Hit, MatchType

COVERED: Final = 0.6
"""Coverage from which a part of the question needs no further search."""
FOUND: Final = 0.35
"""Coverage below which nothing was found for it."""
_MOST_WORDS: Final = 6


@dataclass(slots=True)
class Notes:
    """What is known so far; lives for one question and is used by one thread at a time.

    Attributes:
        reader: Says how rare a word is.
        hits: All hits, those that were there before first.
        asked: Queries of this pass, of the index and of the web.
        written: Those of them that a model wrote.
        new: Hits that this pass added, in the order found.
        n_web: How many of them come from the web.
        translated: Part → itself in the language of the documents, where it is in another one.
    """

    reader: Reader
    hits: list[Hit]
    asked: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    new: list[Hit] = field(default_factory=list)
    n_web: int = 0
    translated: Mapping[str, str] = field(default_factory=dict)
    _questions: dict[str, Question] = field(default_factory=dict)

    def question(self, part: str) -> Question:
        """Return a part analysed, once."""
        if part not in self._questions:
            self._questions[part] = ask(self.reader, self.translated.get(part, part))
        return self._questions[part]

    def coverage(self, part: str, hits: Sequence[Hit] | None = None) -> float:
        """Return how much of a part the hit that covers it best holds, 0 to 1."""
        question = self.question(part)
        among = self.hits if hits is None else hits
        return max((question.coverage([searchable_text(hit)]) for hit in among), default=0.0)

    def open_parts(self, parts: Sequence[str]) -> list[str]:
        """Return the parts that no hit covers well enough."""
        return [part for part in parts if self.coverage(part) < COVERED]

    def missing_words(self, part: str) -> list[str]:
        """Return the words of a part, as written, that stand in none of the hits, at most six."""
        found: set[str] = set().union(*(token_set(searchable_text(hit)) for hit in self.hits))
        missing = set(self.question(part).topic) - found
        words = [word for word in part.split() if missing.intersection(query_tokens(word))]
        return words[:_MOST_WORDS]

    def add(self, hits: Sequence[Hit], query: str) -> int:
        """Keep hits not seen before; return how many."""
        seen = {hit.chunk.id for hit in self.hits}
        fresh = [hit for hit in hits if hit.chunk.id not in seen]
        marked = [_marked(hit, query) for hit in fresh]
        self.n_web += sum(hit.match_type is MatchType.SOURCE for hit in marked)
        self.hits += marked
        self.new += marked
        return len(marked)

    def settle(self, parts: Sequence[str]) -> tuple[Hit, ...]:
        """Forget new hits that fill no gap; return the others, those first that hold most.

        A hit of the index fills a gap when it holds more of a part than every hit that was
        there before. One of the web, or of a query that a model wrote, always stays: what it says
        may be in other words.
        """
        was_new = {hit.chunk.id for hit in self.new}
        before = [hit for hit in self.hits if hit.chunk.id not in was_new]
        held = {part: self.coverage(part, before) for part in parts}

        def fills(hit: Hit) -> bool:
            if hit.match_type is MatchType.SOURCE or hit.sub_query in self.written:
                return True
            return any(self.coverage(part, [hit]) > held[part] for part in parts)

        kept = [hit for hit in self.new if fills(hit)]
        kept.sort(key=lambda hit: -max(self.coverage(part, [hit]) for part in parts))
        self.hits, self.new = [*before, *kept], kept
        return tuple(kept)


def _marked(hit: Hit, query: str) -> Hit:
    leg = hit.match_type if hit.match_type is MatchType.SOURCE else MatchType.RESEARCH
    return replace(hit, match_type=leg, sub_query=query)
