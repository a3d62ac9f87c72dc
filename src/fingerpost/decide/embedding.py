"""Chooses the source whose description or examples are nearest to the question."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence

import anyio
from anyio import to_thread

from fingerpost.decide.base import BaseSourceRouter
from fingerpost.decide.conversation import check_question
from fingerpost.decide.local_router import LocalSourceRouter, SourceDecision
from fingerpost.decide.local_source import SourceDescription
from fingerpost.decide.options import checked_able
from fingerpost.decide.sources import Described
from fingerpost.errors import FingerpostError, LaneError, ProviderTimeoutError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import Question
from fingerpost.types.routing import FallbackStrategy, SourceAssessment, SourceRouting


class EmbeddingQueryRouter(BaseSourceRouter):
    """Routes a query to the one source that it is most like, or to none.

    See `LocalSourceRouter` for what it compares. The best source is used unless the fitted
    probability that none is right is too high, or, for a source with a threshold of its own, when
    its probability reaches that. Without an embedding model shared words decide. The query should
    stand alone: a conversation is not looked at, and other questions stay unanswered.

    The probabilities of an assessment sum to 1 with that of none. The confidence of a routing is
    that of the source that is used, or that of none.

    Args:
        embedder: Compares texts; ``None`` compares their words. It may be called from threads.
        retrievers: Retrievers with a description each, or sources. They are embedded once, at
            the first question.
        fallback_strategy: What to do when the embedding model fails.

    Raises:
        ConfigError: The sources or the embedding model are not usable.
    """

    def __init__(
        self,
        embedder: EmbeddingModel | None,
        retrievers: Described,
        *,
        fallback_strategy: FallbackStrategy = FallbackStrategy.DO_NOT_ROUTE,
    ) -> None:
        if embedder is not None:
            checked_able(embedder, "embed", "embedder")
        kind = "words" if embedder is None else "embedding"
        super().__init__(retrievers, kind=kind, fallback_strategy=fallback_strategy)
        self._embedder = embedder
        # Names are for people and settings; the description is what speaks to a router.
        self._described = [
            SourceDescription(source.name, "", source.description, source.examples)
            for source in self._sources
        ]
        self._engine: LocalSourceRouter | None = None
        self._lock = threading.Lock()

    async def route(
        self,
        query: str,
        conversation: Sequence[ConversationMessage] = (),
        *,
        also: Sequence[Question] = (),  # noqa: ARG002 - no decision model is asked
        deadline: float | None = None,
        query_id: str = "",  # noqa: ARG002 - for events, of which it emits none
    ) -> SourceRouting:
        """Return the source that the query is most like. See `SourceRouter.route`.

        Raises:
            LaneError: The embedding model failed and the fallback strategy is ``FAIL``.
            InvalidQueryError: The question or the conversation is none.
        """
        check_question(query, conversation)
        patience = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            with anyio.move_on_after(patience):
                decision = await to_thread.run_sync(self._decide, query, abandon_on_cancel=True)
                return self._settled(decision)
            raise ProviderTimeoutError(f"{self._name} did not embed the query in time")
        except LaneError as error:
            return self._fallen_back(error)

    @property
    def _name(self) -> str:
        return "" if self._embedder is None else self._embedder.name

    def _decide(self, query: str) -> SourceDecision:
        """Return the nearest source; runs in a thread, as embedding may wait for a network."""
        try:
            with self._lock:
                if self._engine is None:
                    self._engine = LocalSourceRouter(self._described, self._embedder)
            return self._engine.decide(query)
        except FingerpostError:
            raise
        except Exception as error:
            raise LaneError(f"{self._name} failed: {type(error).__name__}: {error}") from error

    def _settled(self, decision: SourceDecision) -> SourceRouting:
        shares = decision.scores
        best = decision.choice or max(shares, key=shares.__getitem__)
        own = next(s.min_probability for s in self._sources if s.name == best)
        used = decision.choice is not None if own is None else shares[best] >= own
        return self._routed(
            [
                SourceAssessment(
                    source.name,
                    probability=shares[source.name],
                    threshold=source.min_probability,
                    chosen=used and source.name == best,
                )
                for source in self._sources
            ],
            model=self._name,
            confidence=shares[best] if used else max(0.0, 1 - sum(shares.values())),
        )
