"""The tree of summaries, kept up to date beside the questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

import anyio

from fingerpost.config.schema import QueryRouterConfig
from fingerpost.corpus.summaries import SummariesMade, WriteSummary, is_up_to_date, summarise
from fingerpost.decide.chat_fence import fill_fenced, one_line
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.budget import Meter
from fingerpost.observe.observer import Observer
from fingerpost.prompts import load_prompt
from fingerpost.stores.base import Store
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.wiring.models import make_models
from fingerpost.wiring.pipeline import process_budget
from fingerpost.wiring.tape import Tape

_TOKENS: Final = 200
_PATIENCE_S: Final = 60.0
_LONGEST_LINE: Final = 600
_POLL_S: Final = 0.05


def keep_summaries(
    config: QueryRouterConfig,
    store: Store,
    observe: Observer,
    tape: Tape | None,
    *,
    writing: AbstractContextManager[object],
    cancelled: Callable[[], bool],
) -> SummariesMade:
    """Make the tree of summaries where there is none or documents changed since; blocks.

    Args:
        config: ``summaries`` says whether a model writes the texts; what that costs counts
            against ``process_budget_usd``, and where it is spent the openings stay.
        store: The index; readers keep what they have open.
        observe: Gets an event for each call of the model.
        tape: Keeps or replays these calls.
        writing: Held only while the finished tree is written.
        cancelled: Asked many times; once true, nothing is written.

    Raises:
        ConfigError: The settings do not say whose key is meant.
        StoreError: The index cannot be read or written.
    """
    models = make_models(config, observe, tape) if config.summaries == "written" else None
    write = None if models is None else _writer(config, models.classifier)
    if is_up_to_date(store, by_model=write is not None):
        return SummariesMade(0)

    async def made() -> SummariesMade:
        found = SummariesMade(0)
        async with anyio.create_task_group() as group:
            group.start_soon(_watch, cancelled, group.cancel_scope)
            found = await summarise(store, write, writing=writing, cancelled=cancelled)
            group.cancel_scope.cancel()
        if models is not None and config.chat_model is None:  # a host closes its own
            await models.close()
        return found

    return anyio.run(made)


def _writer(config: QueryRouterConfig, chat: ChatModel | None) -> WriteSummary | None:
    if chat is None:
        return None
    metered = Meter(process=process_budget(config.process_budget_usd)).around(chat)

    async def write(title: str, lines: Sequence[str]) -> str:
        shown = "\n".join(one_line(line)[:_LONGEST_LINE] for line in lines)
        prompt = fill_fenced(load_prompt("summarise"), title=one_line(title), lines=shown)
        response = await metered.complete(
            ChatRequest(
                (Message("user", prompt),),
                job="summarise",
                max_tokens=_TOKENS,
                temperature=0.0,
                deadline=time.monotonic() + _PATIENCE_S,
            )
        )
        return response.text

    return write


async def _watch(cancelled: Callable[[], bool], scope: anyio.CancelScope) -> None:
    """End a call that is under way when the router closes."""
    while not cancelled():  # noqa: ASYNC110 - set by another thread, which knows no event loop
        await anyio.sleep(_POLL_S)
    scope.cancel()
