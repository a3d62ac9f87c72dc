"""One retrieval in flight: what it may use, what it has noted so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from anyio import to_thread

from fingerpost.observe.events import Event, RetrieveFallback, RetrieveVector
from fingerpost.observe.hooks import is_for_the_host
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.features import is_foreign
from fingerpost.retrieve.hybrid import HybridResult, search_for
from fingerpost.retrieve.question import Question, ask, with_words_of
from fingerpost.stores.base import Reader, Selection
from fingerpost.types.evidence import Hit

T = TypeVar("T")
_WIDER: Final = 4
"""How many times more hits are looked through where some may be too old."""


@dataclass(slots=True)
class Run:
    """The state of one `retrieve` call; never shared between questions."""

    reader: Reader
    request: RetrieveRequest
    tools: RetrieveTools
    within: Selection | None = None
    fallbacks: list[str] = field(default_factory=list)
    vectors_searched: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    translated: dict[str, str] = field(default_factory=dict)
    overview: bool = False
    is_young: Callable[[Hit], bool] | None = None

    def emit(self, made: type[Event], **fields: object) -> None:
        """Hand an event to the observer; its failure is no one's."""
        event = made(at=time.time(), query_id=self.request.query_id, **fields)
        try:
            self.tools.observe(event)
        except BaseException as error:  # an observer never breaks a question
            if is_for_the_host(error):
                raise

    def fall_back(self, name: str, reason: str) -> None:
        """Note a weaker way, once, and say so."""
        if name not in self.fallbacks:
            self.fallbacks.append(name)
            self.emit(RetrieveFallback, name=name, reason=reason)

    def tell(self, found: HybridResult, started: float) -> None:
        """Say what one hybrid search that began at ``started`` brought, and what failed in it."""
        legs = found.legs
        self.vectors_searched |= legs.n_vector > 0
        if legs.words_error:
            self.fall_back("words-skip", legs.words_error)
        for name in found.fallbacks:
            self.fall_back(name, legs.vectors_error or "no vectors to search")
        spent = (time.perf_counter() - started) * 1000
        self.emit(
            RetrieveVector, n_lexical=legs.n_lexical, n_vector=legs.n_vector, duration_ms=spent
        )

    def took(self, stage: str, started: float) -> float:
        """Add the time since ``started`` to a stage and return it in milliseconds."""
        spent = (time.perf_counter() - started) * 1000
        self.timings[stage] = self.timings.get(stage, 0.0) + spent
        return spent

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Return what blocking work gives, off the event loop.

        It is never abandoned: the reader may be closed only after it.
        """
        return await to_thread.run_sync(work, limiter=self.tools.limiter)

    def question(
        self, text: str, context: Sequence[str] = (), imagined: Sequence[str] = ()
    ) -> Question:
        """Return the analysed question, in the language of the documents where it was translated.

        The words of the question as it was asked that stand in the index take part as well, and
        for an embedding model that knows its language so does its own vector.
        """
        translation = self.translated.get(text)
        if translation is None:
            return ask(self.reader, text, context, imagined)
        embedder = self.tools.embedder
        readable = embedder is not None and not is_foreign(text, embedder.languages)
        own = (text,) if readable else ()
        return with_words_of(
            self.reader, ask(self.reader, translation, context, (*own, *imagined)), text
        )

    def search(self, question: Question, k: int, *, by_meaning: bool = True) -> HybridResult:
        """Run one hybrid search under the filters of the request and its greatest age.

        Args:
            question: Analysed.
            k: Most hits.
            by_meaning: Search by vectors as well.
        """
        found = search_for(
            self.reader,
            question,
            embedder=self.tools.embedder if by_meaning else None,
            within=self.within,
            k=k if self.is_young is None else _WIDER * k,
            explain=self.request.explain,
        )
        return found if self.is_young is None else replace(found, hits=self.young(found.hits)[:k])

    def young(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return the hits that are not known to be older than is wanted; may read file times."""
        return tuple(hits if self.is_young is None else filter(self.is_young, hits))


def merged(*groups: Sequence[Hit]) -> list[Hit]:
    """Return all hits, each chunk once, in the order of first appearance."""
    kept: dict[str, Hit] = {}
    for group in groups:
        for hit in group:
            kept.setdefault(hit.chunk.id, hit)
    return list(kept.values())
