"""What all source routers share: their sources, and what is done when they cannot decide."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from fingerpost.decide.fetch import RoutedPassages, retrieve_all
from fingerpost.decide.sources import Described, as_sources
from fingerpost.errors import ConfigError, LaneError
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import AnswerStatus, DecisionAnswer
from fingerpost.types.result import Usage
from fingerpost.types.routing import (
    FallbackStrategy,
    SourceAssessment,
    SourceRouter,
    SourceRouting,
)
from fingerpost.types.source import Retriever, Source

_LOG: Final = logging.getLogger("fingerpost.decide")
_DONE: Final = {
    FallbackStrategy.DO_NOT_ROUTE: "none is used",
    FallbackStrategy.ROUTE_TO_ALL: "all are used",
}


class RetrievingRouter(SourceRouter):
    """A `SourceRouter` that can also ask the sources that it chose."""

    async def retrieve(
        self,
        query: str,
        top_k: int = 5,
        conversation: Sequence[ConversationMessage] = (),
        *,
        deadline: float | None = None,
    ) -> RoutedPassages:
        """Return the best passages of the sources that could help with a question.

        Args:
            query: The question.
            top_k: How many passages, of each source and in all; at least 1.
            conversation: What was said before it, oldest first. Only the router sees it.
            deadline: When all must have ended, by ``time.monotonic``.

        Raises:
            LaneError: It could not decide and its fallback strategy is ``FAIL``.
            InvalidQueryError: ``top_k`` is no whole number above 0, or the question or the
                conversation is none.
        """
        routing = await self.route(query, conversation, deadline=deadline)
        return await retrieve_all(routing, query, top_k, deadline=deadline)


class BaseSourceRouter(RetrievingRouter):
    """A `SourceRouter` over described sources.

    Args:
        retrievers: Retrievers with a description each, or sources.
        kind: What its routings call it, see `SourceRouting.router`.
        fallback_strategy: What it does when it cannot decide.

    Raises:
        ConfigError: The sources are not usable (see `as_sources`), or the strategy is unknown.
    """

    def __init__(
        self,
        retrievers: Described,
        *,
        kind: str,
        fallback_strategy: FallbackStrategy = FallbackStrategy.DO_NOT_ROUTE,
    ) -> None:
        self._sources = as_sources(retrievers)
        given: Sequence[Retriever] = self._sources
        if isinstance(retrievers, Mapping):
            given = tuple(retrievers)
        self._retrievers = dict(zip((s.name for s in self._sources), given, strict=True))
        self._kind = kind
        try:
            self._fallback = FallbackStrategy(fallback_strategy)
        except ValueError as error:
            allowed = ", ".join(FallbackStrategy)
            raise ConfigError(
                f"fallback_strategy is {fallback_strategy!r}, allowed are {allowed}"
            ) from error

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return what it chooses among, in the order in which it was given."""
        return self._sources

    def _routed(
        self,
        assessments: Sequence[SourceAssessment],
        *,
        model: str = "",
        confidence: float = 0.0,
        reason: str = "",
        answers: Mapping[str, DecisionAnswer] | None = None,
        usage: tuple[Usage, ...] = (),
    ) -> SourceRouting:
        """Return a decision: the sources that the assessments choose.

        Args:
            assessments: One per source, in their order.
            model: Provider and model that decided.
            confidence: Estimated probability that it is right.
            reason: What to know about it, for people.
            answers: To the other questions of the call, by id.
            usage: One item per model call.
        """
        return SourceRouting(
            retrievers=tuple(self._retrievers[item.name] for item in assessments if item.chosen),
            assessments=tuple(assessments),
            router=self._kind,
            model=model,
            confidence=confidence,
            reason=reason,
            answers=answers or {},
            usage=usage,
        )

    def _fallen_back(
        self,
        error: LaneError,
        assessments: Sequence[SourceAssessment] | None = None,
        *,
        model: str = "",
        answers: Mapping[str, DecisionAnswer] | None = None,
    ) -> SourceRouting:
        """Return what the fallback strategy says instead of a decision, and log a warning.

        Args:
            error: Why there is no decision; its usage was spent all the same.
            assessments: What is known of the sources, ``None`` when nothing is.
            model: Provider and model that was asked, where it answered anything.
            answers: To the other questions of the call, by id.

        Raises:
            LaneError: ``error`` itself, when the strategy is ``FAIL``.
        """
        if self._fallback is FallbackStrategy.FAIL:
            raise error
        _LOG.warning("sources could not be chosen, %s: %s", _DONE[self._fallback], error.advice)
        every = self._fallback is FallbackStrategy.ROUTE_TO_ALL
        known = assessments or [
            SourceAssessment(name, status=AnswerStatus.NOT_ANSWERED) for name in self._retrievers
        ]
        routing = self._routed(
            [replace(item, chosen=every) for item in known],
            model=model,
            reason=str(error),
            answers=answers,
            usage=tuple(error.usage),
        )
        return replace(routing, fallback=self._fallback)
