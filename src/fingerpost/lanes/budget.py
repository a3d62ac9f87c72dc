"""What one question, and the whole process, spend on models."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Self

from fingerpost.errors import BadEmbeddingError, BudgetExceededError, LaneError, ProviderError
from fingerpost.lanes.base import ChatModel, DecisionModel, EmbeddingModel, RerankModel
from fingerpost.lanes.faults import rule_for
from fingerpost.lanes.prices import LOCAL, price_of, priced
from fingerpost.lanes.wrapped import M, Wrapped, WrappedChat, WrappedDecision, WrappedEmbedder
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.chat import ChatRequest, ChatResponse, ModelRef
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Budget:
    """US dollars that may be spent, by whoever shares it. Thread-safe.

    Args:
        usd: How many; ``None`` sets no limit.
        whose: Stands in the error: ``question`` or ``process``.
    """

    def __init__(self, usd: float | None, whose: str = "question") -> None:
        self.usd = usd
        self._whose = whose
        self._lock = threading.Lock()
        self._spent = 0.0
        self._held = 0.0

    @property
    def spent_usd(self) -> float:
        """What was spent so far, as far as prices are known."""
        with self._lock:
            return self._spent

    def hold(self, usd: float) -> None:
        """Put money aside for a call that is about to be made.

        Raises:
            BudgetExceededError: With what is spent and put aside it would pass the budget.
        """
        with self._lock:
            if self.usd is not None and usd > 0 and self._spent + self._held + usd > self.usd:
                raise BudgetExceededError(
                    f"the budget of this {self._whose} is {self.usd:g} US dollars; "
                    f"{self._spent + self._held:g} are spent and the next call costs at least "
                    f"{usd:g}",
                    spent_usd=self._spent,
                    allowed_usd=self.usd,
                    hint="raise budget_usd or process_budget_usd, or take a cheaper model",
                )
            self._held += usd

    def settle(self, held_usd: float, spent_usd: float) -> None:
        """Note what a call cost in the place of what was put aside for it."""
        with self._lock:
            self._held -= held_usd
            self._spent += spent_usd


class ProcessBudget(Budget):
    """The budget of all questions together; give one object to all meters."""

    def __init__(self, usd: float | None) -> None:
        super().__init__(usd, "process")


class Meter:
    """Counts the model calls of one question, failed attempts included, and bounds what they cost.

    Before a call its prompt is priced by an estimate of its tokens; the length of the reply is
    not known then, so the last call may pass the budget by its reply. A lane is priced as its
    first model. Models whose price is not known are let through and named by `unchecked`.

    Args:
        budget_usd: US dollars that the question may spend; ``None`` sets no limit.
        process: What all questions may spend together.
    """

    def __init__(
        self, budget_usd: float | None = None, process: ProcessBudget | None = None
    ) -> None:
        self._budgets = (Budget(budget_usd), process or ProcessBudget(None))
        self._lock = threading.Lock()
        self._usage: list[Usage] = []
        self._unchecked: dict[str, None] = {}

    @property
    def usage(self) -> tuple[Usage, ...]:
        """One item per attempt so far, in the order in which the calls ended, with its cost."""
        with self._lock:
            return tuple(self._usage)

    @property
    def spent_usd(self) -> float:
        """What the question has spent, as far as prices are known."""
        return self._budgets[0].spent_usd

    @property
    def is_limited(self) -> bool:
        """Whether the question or the process has a budget."""
        return any(budget.usd is not None for budget in self._budgets)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Models that a budget could not be held against, for want of a price."""
        with self._lock:
            return tuple(self._unchecked)

    def around(self, model: ChatModel) -> ChatModel:
        """Return the model, its calls counted and bounded here."""
        return _MeteredChat(model, self)

    def around_embedder(self, model: EmbeddingModel) -> EmbeddingModel:
        """Return the embedding model, its calls counted and bounded here."""
        return _MeteredEmbedder(model, self)

    def around_decider(self, model: DecisionModel) -> DecisionModel:
        """Return the decision model, its calls counted and bounded here."""
        return _MeteredDecision(model, self)

    def around_reranker(self, model: RerankModel) -> RerankModel:
        """Return the reranker, its calls counted and bounded here."""
        return _MeteredReranker(model, self)

    def hold(self, model: str, input_tokens: int) -> float:
        """Put the price of a prompt aside and return it, 0 when it is not known.

        Raises:
            BudgetExceededError: The question or the process may not spend it.
        """
        price = price_of(model)
        if price is None:
            if self.is_limited:
                with self._lock:
                    self._unchecked[model] = None
            return 0.0
        usd = price.cost(input_tokens, 0)
        question, process = self._budgets
        question.hold(usd)
        try:
            process.hold(usd)
        except BudgetExceededError:
            question.settle(usd, 0.0)
            raise
        return usd

    def settle(self, held_usd: float, usage: Sequence[Usage]) -> None:
        """Note what a call used in the place of what was put aside for it."""
        known = [priced(item) for item in usage]
        spent = sum(item.cost_usd or 0.0 for item in known)
        with self._lock:
            self._usage.extend(known)
            if self.is_limited:
                self._unchecked.update((item.model, None) for item in known if _is_unknown(item))
        for budget in self._budgets:
            budget.settle(held_usd, spent)


def _is_unknown(usage: Usage) -> bool:
    """Return whether a call took something and nobody knows what it cost."""
    has_tokens = usage.input_tokens or usage.output_tokens
    return usage.cost_usd is None and bool(has_tokens) and price_of(usage.model) is None


class _Metered(Wrapped[M]):
    def __init__(self, model: M, meter: Meter) -> None:
        super().__init__(model)
        self._meter = meter

    def _call(self, job: str, told: Iterable[str], name: str = "") -> _Call:
        """Return a call that is settled when its block ends; a lane is named by its first model."""
        own = self.model if self.provider == "lane" else f"{self.provider}/{self.model}"
        return _Call(self._meter, job, name or own, tuple(told))


class _MeteredChat(_Metered[ChatModel], WrappedChat):
    async def complete(self, request: ChatRequest) -> ChatResponse:
        with self._call_of(request) as call:
            response = await self._model.complete(request)
            call.usage = response.usage
        return response

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        with self._call_of(request) as call:
            async with aclosing(self._model.stream(request)) as items:
                async for item in items:
                    if isinstance(item, ChatResponse):
                        call.usage = item.usage
                    else:
                        call.said.append(item)
                    yield item

    def _call_of(self, request: ChatRequest) -> _Call:
        ref = request.model or ModelRef()
        provider = ref.provider if self.provider == "lane" else self.provider
        name = f"{provider}/{ref.name}" if provider and ref.name else ""
        return self._call(request.job, (message.text for message in request.messages), name)


class _MeteredDecision(_Metered[DecisionModel], WrappedDecision):
    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        with self._call("decide", [f"{input}{questions}"]) as call:
            response = await super().decide(input, questions, deadline=deadline, query_id=query_id)
            call.usage = response.usage
        return response


class _MeteredReranker(_Metered[RerankModel]):
    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        with self._call("rerank", (query, *texts)) as call:
            ranking = await self._model.rerank(query, texts, deadline=deadline, query_id=query_id)
            call.usage = ranking.usage
        return ranking


class _Call:
    """One call between what is put aside for it and what it turns out to cost."""

    def __init__(self, meter: Meter, job: str, model: str, told: Sequence[str]) -> None:
        self.usage: Sequence[Usage] | None = None
        self.said: list[str] = []
        self._meter = meter
        self._job = job
        self._model = model
        self._told = told
        # Prompts are long: they are only counted where something hangs on it.
        self._held = meter.hold(model, self._n_told()) if meter.is_limited else 0.0

    def _n_told(self) -> int:
        return sum(map(estimate_tokens, self._told))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Settle; a call that its caller gave up is counted by an estimate."""
        if isinstance(error, LaneError):
            self.usage = error.usage
        if self.usage is None:
            self.usage = (
                Usage(
                    job=self._job,
                    model=self._model,
                    input_tokens=self._n_told(),
                    output_tokens=estimate_tokens("".join(self.said)),
                    outcome="closed",
                    estimated=True,
                ),
            )
        self._meter.settle(self._held, self.usage)


class _MeteredEmbedder(WrappedEmbedder):
    def __init__(self, model: EmbeddingModel, meter: Meter) -> None:
        super().__init__(model)
        self._meter = meter

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        n_tokens = self.overhead_tokens + sum(self.count_tokens(text) for text in texts)
        held = self._meter.hold(self.name, n_tokens)
        outcome, is_own = "ok", self.name.startswith(LOCAL)
        try:
            return self._model.embed(texts)
        except Exception as error:
            outcome = type(error).__name__
            if _was_turned_away(error):
                n_tokens = 0
            raise
        finally:
            usage = Usage(
                job="embed",
                model=self.name,
                input_tokens=n_tokens,
                outcome=outcome,
                estimated=n_tokens > 0 and not is_own,
            )
            self._meter.settle(held, (usage,))


def _was_turned_away(error: Exception) -> bool:
    """Return whether a provider took nothing for a call, as far as is known."""
    is_answer = isinstance(error, BadEmbeddingError)
    return isinstance(error, ProviderError) and not is_answer and not rule_for(error).billed
