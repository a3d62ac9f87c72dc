"""Models that tell of each of their calls."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Self

from fingerpost.errors import LaneError
from fingerpost.lanes.asked import ask
from fingerpost.lanes.base import ChatModel, DecisionModel, RerankModel
from fingerpost.lanes.prices import priced
from fingerpost.lanes.wrapped import M, Wrapped, WrappedChat
from fingerpost.observe.events import ModelCall
from fingerpost.observe.observer import Observer, fan_out
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage


class Observed(Wrapped[M]):
    """Stands around a model and emits one `ModelCall` when a call ends. No content leaves with it.

    Put it around each endpoint of a lane, so that every attempt is told.

    Args:
        model: The model.
        observe: Gets the events. Must be quick; what it raises is logged.
        clock: Monotonic seconds.
    """

    _operation = "chat"

    def __init__(
        self, model: M, observe: Observer, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(model)
        self._observe = fan_out([observe])
        self._clock = clock

    def _call(self, job: str, query_id: str, model: str = "") -> _Call:
        """Return a call that begins now and is told of when its block ends."""
        name = (self.provider, model or self.model)
        return _Call(job, name, query_id, self._clock, self._observe, self._operation)


class ObservedChat(Observed[ChatModel], WrappedChat):
    """A `ChatModel` that tells of each call. Arguments as `Observed`."""

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the reply and tell of the call. See `ChatModel.complete`."""
        with self._call_of(request) as call:
            response = await self._model.complete(request)
            call.answered(response.usage)
        return response

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the reply and tell of the call. See `ChatModel.stream`."""
        with self._call_of(request) as call:
            async with aclosing(self._model.stream(request)) as items:
                async for item in items:
                    call.first_piece()
                    if isinstance(item, ChatResponse):
                        call.answered(item.usage)
                    yield item

    def _call_of(self, request: ChatRequest) -> _Call:
        named = request.model.name if request.model else ""
        return self._call(request.job, request.query_id, named)


class ObservedDecision(Observed[DecisionModel]):
    """A `DecisionModel` that tells of each call. Arguments as `Observed`.

    Answers that do not fit the questions are told as the error that they are.
    """

    _operation = "decide"

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        """Return the checked answers and tell of the call. See `DecisionModel.decide`."""
        with self._call("decide", query_id) as call:
            response = await ask(
                self._model,
                input,
                questions,
                deadline=deadline,
                query_id=query_id,
                clock=self._clock,
            )
            call.answered(response.usage)
        return response


class ObservedReranker(Observed[RerankModel]):
    """A `RerankModel` that tells of each call. Arguments as `Observed`."""

    _operation = "rerank"

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        """Return the scores and tell of the call. See `RerankModel.rerank`."""
        with self._call("rerank", query_id) as call:
            ranking = await self._model.rerank(query, texts, deadline=deadline, query_id=query_id)
            call.answered(ranking.usage)
        return ranking


class _Call:
    def __init__(
        self,
        job: str,
        name: tuple[str, str],
        query_id: str,
        clock: Callable[[], float],
        observe: Observer,
        operation: str,
    ) -> None:
        self._job = job
        self._operation = operation
        self._provider, self._model = name
        self._query_id = query_id
        self._clock = clock
        self._observe = observe
        self._started = clock()
        self._first_ms: float | None = None
        self._outcome = "closed"
        self._usage: Sequence[Usage] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, LaneError):
            self._outcome, self._usage = type(error).__name__, error.usage
        self._observe(self._event())

    def first_piece(self) -> None:
        if self._first_ms is None:
            self._first_ms = self._since_start_ms()

    def answered(self, usage: Sequence[Usage]) -> None:
        self._outcome, self._usage = "ok", usage

    def _event(self) -> ModelCall:
        usage = [priced(item) for item in self._usage]
        costs = [item.cost_usd for item in usage]
        return ModelCall(
            at=time.time(),
            query_id=self._query_id,
            job=self._job,
            provider=self._provider,
            model=self._model,
            input_tokens=sum(item.input_tokens for item in usage),
            output_tokens=sum(item.output_tokens for item in usage),
            cost_usd=None if None in costs or not costs else sum(c for c in costs if c),
            duration_ms=self._since_start_ms(),
            first_piece_ms=self._first_ms,
            outcome=self._outcome,
            operation=self._operation,
        )

    def _since_start_ms(self) -> float:
        return (self._clock() - self._started) * 1000
