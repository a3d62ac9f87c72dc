"""Source routers from cheap to dear: the first that is sure enough decides."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import anyio

from fingerpost.decide.base import RetrievingRouter
from fingerpost.decide.sources import checked_probability
from fingerpost.errors import ConfigError, LaneError
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import DecisionAnswer, Question
from fingerpost.types.result import Usage
from fingerpost.types.routing import SourceRouter, SourceRouting

_LOG: Final = logging.getLogger("fingerpost.decide")


class CascadeQueryRouter(RetrievingRouter):
    """Asks one router after another until a routing is confident enough.

    The word of the last one stands whatever its confidence, its fallback included. The routings
    before it are in `SourceRouting.passed`, each with the reason why it did not do; a router that
    failed is passed in the same way. Other questions are asked until one router answers them. Each
    router but the last gets an equal share of the time that is left, so that one which hangs
    leaves time for the next; what it does not use goes to those after it.

    Args:
        routers: From cheap to dear, over the same sources; at least one.
        accept_at: Confidence from which a routing is taken, 0 to 1.

    Raises:
        ConfigError: No router, or a confidence outside 0 to 1.
    """

    def __init__(self, routers: Sequence[SourceRouter], *, accept_at: float = 0.8) -> None:
        if not routers:
            raise ConfigError("routers is empty, a cascade needs at least one")
        self._routers = tuple(routers)
        self._accept_at = checked_probability(accept_at, "accept_at")

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
        """
        passed: list[SourceRouting] = []
        answers: dict[str, DecisionAnswer] = {}
        for place, router in enumerate(self._routers[:-1]):
            left = [question for question in also if question.id not in answers]
            due = _share(deadline, len(self._routers) - place)
            try:
                routing = await _asked(router, query, conversation, left, due, query_id)
            except Exception as error:
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
    patience = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
    with anyio.move_on_after(patience):
        routing: object = await router.route(
            query, conversation, also=also, deadline=deadline, query_id=query_id
        )
        if not isinstance(routing, SourceRouting):
            kind = type(routing).__name__
            raise LaneError(f"{type(router).__name__} gave a {kind} instead of a routing")
        return routing
    raise LaneError(f"{type(router).__name__} did not decide in time")


def _share(deadline: float | None, n_left: int) -> float | None:
    """Return when one of ``n_left`` routers must have ended for the others to have as much."""
    if deadline is None:
        return None
    now = time.monotonic()
    return now + (deadline - now) / n_left


def _failed(router: SourceRouter, error: Exception) -> SourceRouting:
    """Return a routing that says why a router gave none."""
    name = type(router).__name__
    _LOG.warning("%s could not choose sources, the next one is asked: %s", name, error)
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
