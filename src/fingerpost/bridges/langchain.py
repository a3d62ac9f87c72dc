"""Decision models of LangChain as ours and ours as LangChain's; its retrievers as ours."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.from_thread import start_blocking_portal
from pydantic import Field

from fingerpost.bridges.langchain_questions import (
    answers_from,
    answers_to,
    input_from,
    questions_from,
    questions_to,
)
from fingerpost.bridges.passages import passage
from fingerpost.errors import MissingExtraError
from fingerpost.lanes.asked import ask
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.result import Usage
from fingerpost.types.source import Passage

if TYPE_CHECKING:
    from fingerpost.lanes.base import DecisionModel

_HINT: Final = "In the repository: pip install '.[langchain]'"


def from_langchain(model: Any) -> DecisionModel:
    """Return a `DecisionModel` that asks a ``BaseDecisionModel`` of LangChain.

    Its provider is ``langchain``. LangChain models raise their own errors for a refusal, which
    fails the whole call.

    Args:
        model: The LangChain model.

    Raises:
        MissingExtraError: langchain-core is not installed.
    """
    return _OfLangChain(model)


def to_langchain(model: DecisionModel) -> Any:
    """Return a ``BaseDecisionModel`` of LangChain that asks ``model``.

    LangChain has no place for a refusal, an abstention, or an answer without probabilities: each
    is raised as the error that it is. Messages in its state become objects with ``role`` and
    ``content``. A blocking call (``invoke``) runs on an event loop of its own.

    Raises:
        MissingExtraError: langchain-core is not installed.
    """
    return _langchain_class()(model=f"{model.provider}/{model.model}", decider=model)


class LangChainRetriever:
    """A `Retriever` over one of LangChain. How many documents come at most is set on it (``k``).

    Args:
        retriever: A ``langchain_core.retrievers.BaseRetriever``.
    """

    def __init__(self, retriever: Any) -> None:
        self._retriever = retriever

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return what it finds as passages, blank documents left out. See `Retriever`."""
        found = await _invoked(self._retriever, query)
        passages = [passage(one.page_content, one.metadata) for one in found]
        return [one for one in passages if one is not None][:top_k]


class _OfLangChain:
    """A `DecisionModel` over a ``BaseDecisionModel`` of LangChain. See `from_langchain`."""

    provider = "langchain"

    def __init__(self, model: Any) -> None:
        self._types = _decisions()
        self._model = model
        self.model = str(model.model)

    async def decide(self, input: DecisionInput, questions: Sequence[Question]) -> DecisionResponse:
        """Return an answer to each question. See `DecisionModel.decide`.

        Raises:
            Exception: Whatever the model raises, as LangChain models do for a refusal.
        """
        request = {"state": input, "questions": questions_to(self._types, questions)}
        told = await _invoked(self._model, request)
        name = f"{self.provider}/{told.model}"
        spent = told.usage or {}
        usage = Usage(
            "decide",
            name,
            int(spent.get("input_tokens", 0)),
            int(spent.get("output_tokens", 0)),
            estimated=not spent,
        )
        return DecisionResponse(answers_from(told.answers), name, (usage,), told.request_id or "")

    async def close(self) -> None:
        """There is nothing to close: LangChain models keep their own connections."""


async def _invoked(runnable: Any, value: object) -> Any:
    """Return what a runnable of LangChain gives; its async half works on asyncio alone."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        call = partial(runnable.invoke, value)
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
    return await runnable.ainvoke(value)


def _decisions() -> Any:
    try:
        return importlib.import_module("langchain_core.decisions")
    except ImportError as error:
        raise MissingExtraError(
            "Decision models of LangChain need langchain-core 1.8 or newer.", hint=_HINT
        ) from error


@cache
def _langchain_class() -> Any:
    """Return the class that `to_langchain` makes; it can only exist with langchain-core."""
    types = _decisions()
    base: Any = types.BaseDecisionModel

    class FingerpostDecisionModel(base):  # type: ignore[misc]  # known only when it is imported
        """A decision model of fingerpost in LangChain."""

        decider: Any = Field(repr=False, exclude=True)

        @property
        def _provider(self) -> str:
            return "fingerpost"

        def _classify(self, state: Any, questions: Mapping[str, Any]) -> Any:
            with start_blocking_portal() as portal:
                return portal.call(self._alone, state, questions)

        async def _alone(self, state: Any, questions: Mapping[str, Any]) -> Any:
            try:
                return await self._aclassify(state, questions)
            finally:
                await self.decider.close()  # its connections end with this event loop

        async def _aclassify(self, state: Any, questions: Mapping[str, Any]) -> Any:
            asked = questions_from(types, questions)
            response = await ask(self.decider, input_from(state), asked)
            return types.ClassifierResponse(
                model=response.model,
                answers=answers_to(types, questions, response),
                usage={
                    "input_tokens": sum(item.input_tokens for item in response.usage),
                    "output_tokens": sum(item.output_tokens for item in response.usage),
                },
                request_id=response.request_id or None,
            )

    return FingerpostDecisionModel
