"""Source routers from cheap to dear: the first that is sure enough decides."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import anyio

from fingerpost.decide.base import BaseSourceRouter, RetrievingRouter
from fingerpost.decide.options import checked_able, checked_probability
from fingerpost.errors import ConfigError, LaneError, MissingRecordingError, UsageError
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import DecisionAnswer, Question
from fingerpost.types.result import Usage
from fingerpost.types.routing import SourceRouter, SourceRouting
from fingerpost.types.source import Source

_LOG: Final = logging.getLogger("fingerpost.decide")
_SPARED: Final = 0.1
_MOST_SPARED_S: Final = 0.1


class CascadeQueryRouter(RetrievingRouter):
    """Asks one router after another until a routing is confident enough.

    The word of the last one stands whatever its confidence, its fallback included, also when it
    runs out of time. The routings before it are in `SourceRouting.passed`, each with the reason
    why it did not do; a router that failed is passed in the same way. Mistakes of the host are
    never passed: wrong settings, a wrong question, a replay without its record. Other questions
    are asked until one router answers them. Each router but the last gets an equal share of the
    time that is left, so that one which hangs leaves time for the next; what it does not use goes
    to those after it. A router of the host is told a deadline a little before its time is over,
    so that its own fallback can come through.

    Args:
        routers: From cheap to dear, over the same sources; at least one.
        accept_at: Confidence from which a routing is taken, 0 to 1.

    Raises:
        ConfigError: No router, something that cannot route, routers over different sources, or a
            confidence outside 0 to 1.
    """

    def __init__(self, routers: Sequence[SourceRouter], *, accept_at: float = 0.8) -> None:
        if not isinstance(routers, Sequence) or not routers:
            raise ConfigError("routers is empty or no list, a cascade needs at least one")
        self._routers = tuple(checked_able(router, "route", "one of routers") for router in routers)
        self._sources = _common_sources(self._routers)
        self._accept_at = checked_probability(accept_at, "accept_at")

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return what its routers choose among, empty when none of ours is one of them."""
        return self._sources

    async def route(
        self,
        query: str,
        conversation: Sequence[ConversationMessage] = (),
        *,
        also: Sequence[Question] = (),
        deadline: float | None = None,
        query_id: str = "",
    ) -> SourceRouting:
        """Return the first routing that is sure enough, or the last. See `SourceRouter.route`.

        Raises:
            LaneError: The last router failed and its fallback strategy is ``FAIL``.
            ConfigError: What a router was built with does not fit, see there.
            InvalidQueryError: The question or the conversation is none.
            MissingRecordingError: A replay has no record of a call.
        """
        passed: list[SourceRouting] = []
        answers: dict[str, DecisionAnswer] = {}
        for place, router in enumerate(self._routers[:-1]):
            left = [question for question in also if question.id not in answers]
            due = _share(deadline, len(self._routers) - place)
            try:
                routing = await _asked(router, query, conversation, left, due, query_id)
            except (ConfigError, MissingRecordingError, UsageError):
                raise
            except Exception as error:  # a host's own router may fail in any way
                passed.append(_failed(router, error))
                continue
            answers |= routing.answers
            if routing.fallback is None and routing.confidence >= self._accept_at:
                return _after(passed, routing, answers)
            passed.append(self._passed(routing))
        left = [question for question in also if question.id not in answers]
        try:
            routing = await _asked(self._routers[-1], query, conversation, left, deadline, query_id)
        except LaneError as error:
            error.usage = (*_usage(passed), *error.usage)
            raise
        return _after(passed, routing, {**answers, **routing.answers})

    def _passed(self, routing: SourceRouting) -> SourceRouting:
        """Return a routing that was not sure enough, with the reason."""
        unsure = f"confidence {routing.confidence:.2f} is below {self._accept_at:.2f}"
        return replace(routing, reason=routing.reason or unsure)


async def _asked(
    router: SourceRouter,
    query: str,
    conversation: Sequence[ConversationMessage],
    also: Sequence[Question],
    deadline: float | None,
    query_id: str,
) -> SourceRouting:
    """Return a router's word.

    Raises:
        LaneError: It gave something else, or nothing in time.
    """
    patience, told = math.inf, deadline
    # Ours hold it themselves: a limit around them would take their fallback from them.
    if deadline is not None and not isinstance(router, RetrievingRouter):
        patience = max(0.0, deadline - time.monotonic())
        told = deadline - min(_MOST_SPARED_S, _SPARED * patience)
    with anyio.move_on_after(patience):
        routing: object = await router.route(
            query, conversation, also=also, deadline=told, query_id=query_id
        )
        if not isinstance(routing, SourceRouting):
            kind = type(routing).__name__
            raise LaneError(f"{type(router).__name__} gave a {kind} instead of a routing")
        return routing
    raise LaneError(f"{type(router).__name__} did not decide in time")


def _common_sources(routers: Sequence[SourceRouter]) -> tuple[Source, ...]:
    """Return the sources of our routers, the same by name; nothing is known of a host's own.

    Raises:
        ConfigError: They are not the same for all.
    """
    ours = [r.sources for r in routers if isinstance(r, BaseSourceRouter | CascadeQueryRouter)]
    told = {frozenset(source.name for source in sources): sources for sources in ours if sources}
    if len(told) > 1:
        lists = " and ".join(", ".join(sorted(names)) for names in told)
        raise ConfigError(f"routers must choose among the same sources, they have {lists}")
    return next(iter(told.values()), ())


def _share(deadline: float | None, n_left: int) -> float | None:
    """Return when one of ``n_left`` routers must have ended for the others to have as much."""
    if deadline is None:
        return None
    now = time.monotonic()
    return now + (deadline - now) / n_left


def _failed(router: SourceRouter, error: Exception) -> SourceRouting:
    """Return a routing that says why a router gave none."""
    name = type(router).__name__
    told = error.advice if isinstance(error, LaneError) else error
    _LOG.warning("%s could not choose sources, the next one is asked: %s", name, told)
    usage = error.usage if isinstance(error, LaneError) else ()
    reason = f"{type(error).__name__}: {error}"
    return SourceRouting((), (), router=name, reason=reason, usage=tuple(usage))


def _after(
    passed: Sequence[SourceRouting], routing: SourceRouting, answers: Mapping[str, DecisionAnswer]
) -> SourceRouting:
    """Return the routing that stands, with those before it and what they all have spent."""
    return replace(
        routing,
        answers=answers,
        usage=(*_usage(passed), *routing.usage),
        passed=tuple(passed),
    )


def _usage(routings: Sequence[SourceRouting]) -> tuple[Usage, ...]:
    return tuple(item for routing in routings for item in routing.usage)
