"""Models that tell of each of their calls."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from fingerpost.errors import LaneError
from fingerpost.lanes.asked import ask
from fingerpost.lanes.base import ChatModel, DecisionModel, RerankModel
from fingerpost.lanes.prices import priced
from fingerpost.lanes.wrapped import WrappedChat, WrappedDecision, WrappedReranker
from fingerpost.observe.events import ModelCall
from fingerpost.observe.observer import Observer, fan_out
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage


class ObservedChat(WrappedChat):
    """Wraps a model and emits one `ModelCall` when a call ends. No content leaves with it.

    Put it around each endpoint of a lane, so that every attempt is told.

    Args:
        model: The model.
        observe: Gets the events. Must be quick; what it raises is logged.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        model: ChatModel,
        observe: Observer,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._observe = fan_out([observe])
        self._clock = clock

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the reply and tell of the call. See `ChatModel.complete`."""
        call = _Call(request.job, _name(self._model, request), request.query_id, self._clock)
        try:
            response = await self._model.complete(request)
            call.ended("ok", response.usage)
        except LaneError as error:
            call.ended(type(error).__name__, error.usage)
            raise
        finally:
            self._observe(call.event())
        return response

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the reply and tell of the call. See `ChatModel.stream`."""
        call = _Call(request.job, _name(self._model, request), request.query_id, self._clock)
        try:
            async with aclosing(self._model.stream(request)) as items:
                async for item in items:
                    call.first_piece()
                    if isinstance(item, ChatResponse):
                        call.ended("ok", item.usage)
                    yield item
        except LaneError as error:
            call.ended(type(error).__name__, error.usage)
            raise
        finally:
            self._observe(call.event())


class ObservedDecision(WrappedDecision):
    """Wraps a decision model and emits one `ModelCall` when a call ends.

    Answers that do not fit the questions are told as the error that they are.

    Args:
        model: The model, or the host's own.
        observe: Gets the events. Must be quick; what it raises is logged.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        model: DecisionModel,
        observe: Observer,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._observe = fan_out([observe])
        self._clock = clock

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        """Return the checked answers and tell of the call. See `DecisionModel.decide`."""
        call = _Call("decide", (self.provider, self.model), query_id, self._clock)
        try:
            response = await ask(
                self._model,
                input,
                questions,
                deadline=deadline,
                query_id=query_id,
                clock=self._clock,
            )
            call.ended("ok", response.usage)
        except LaneError as error:
            call.ended(type(error).__name__, error.usage)
            raise
        finally:
            self._observe(call.event())
        return response


class ObservedReranker(WrappedReranker):
    """Wraps a reranker and emits one `ModelCall` when a call ends.

    Args:
        model: The model.
        observe: Gets the events. Must be quick; what it raises is logged.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        model: RerankModel,
        observe: Observer,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._observe = fan_out([observe])
        self._clock = clock

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        """Return the scores and tell of the call. See `RerankModel.rerank`."""
        call = _Call("rerank", (self.provider, self.model), query_id, self._clock)
        try:
            ranking = await super().rerank(query, texts, deadline=deadline, query_id=query_id)
            call.ended("ok", ranking.usage)
        except LaneError as error:
            call.ended(type(error).__name__, error.usage)
            raise
        finally:
            self._observe(call.event())
        return ranking


class _Call:
    def __init__(
        self, job: str, name: tuple[str, str], query_id: str, clock: Callable[[], float]
    ) -> None:
        self._job = job
        self._provider, self._model = name
        self._query_id = query_id
        self._clock = clock
        self._started = clock()
        self._first_ms: float | None = None
        self._outcome = "closed"
        self._usage: Sequence[Usage] = ()

    def first_piece(self) -> None:
        if self._first_ms is None:
            self._first_ms = self._since_start_ms()

    def ended(self, outcome: str, usage: Sequence[Usage]) -> None:
        self._outcome = outcome
        self._usage = [priced(item) for item in usage]

    def event(self) -> ModelCall:
        costs = [item.cost_usd for item in self._usage]
        return ModelCall(
            at=time.time(),
            query_id=self._query_id,
            job=self._job,
            provider=self._provider,
            model=self._model,
            input_tokens=sum(item.input_tokens for item in self._usage),
            output_tokens=sum(item.output_tokens for item in self._usage),
            cost_usd=None if None in costs or not costs else sum(c for c in costs if c),
            duration_ms=self._since_start_ms(),
            first_piece_ms=self._first_ms,
            outcome=self._outcome,
        )

    def _since_start_ms(self) -> float:
        return (self._clock() - self._started) * 1000


def _name(model: ChatModel, request: ChatRequest) -> tuple[str, str]:
    return model.provider, (request.model.name if request.model else "") or model.model
