"""The reranker of a router, and the hook that each question gets of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.decide.rerank import DecisionReranker
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import RerankModel
from fingerpost.lanes.budget import Meter
from fingerpost.lanes.failover_rerank import FailoverReranker
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.lanes.observed import ObservedReranker
from fingerpost.lanes.providers.cross_encoder import CrossEncoder
from fingerpost.lanes.providers.load import load_reranker
from fingerpost.observe.observer import Observer
from fingerpost.retrieve.base import Rerank
from fingerpost.retrieve.by_model import ModelReranker
from fingerpost.retrieve.rerank_chat import ChatReranker
from fingerpost.running import Models
from fingerpost.wiring.tape import Tape

_SHOWN_TO_CHAT: Final = 1_500

RerankMaker = Callable[[Meter, str, Callable[[], float | None]], Rerank]
"""Meter and id of a question, and what returns when a call must end → its ``rerank`` hook."""


def make_rerank_model(
    config: QueryRouterConfig,
    observe: Observer,
    health: Health,
    retries: RetryBudget,
    tape: Tape | None = None,
) -> RerankModel | None:
    """Return the reranker that is asked over the network or runs here.

    ``None`` when the settings name neither.

    Args:
        config: The settings.
        observe: Gets an event for each call and each further attempt.
        health: Which providers may be asked.
        retries: How often the same endpoint is asked again.
        tape: Keeps or replays the calls.

    Raises:
        ConfigError: The settings do not say whose key is meant, or the folder holds no model.
        MissingExtraError: The model in the folder needs packages that are not installed.
    """
    target = resolve_credentials(config).rerank
    if isinstance(target, Endpoint):
        model: RerankModel = FailoverReranker(
            [ObservedReranker(load_reranker(target), observe)],
            health=health,
            retries=retries,
            on_failover=observe,
        )
        return model if tape is None else tape.around_reranker(model)
    if isinstance(target, Path):
        return ObservedReranker(CrossEncoder(target), observe)
    return None


def make_reranker(config: QueryRouterConfig, models: Models) -> RerankMaker | None:
    """Return what makes each question's ``rerank`` hook, ``None`` for the built-in reranker.

    Args:
        config: The settings.
        models: Those of the router.

    Raises:
        ConfigError: The model that is to rerank is not there.
    """
    if (own := config.rerank) is not None:
        return lambda _meter, _query_id, _until: own
    reranker, chat, decider = models.reranker, models.classifier, models.decider
    if reranker is not None:
        return lambda meter, query_id, until: ModelReranker(
            meter.around_reranker(reranker), query_id, deadline=until
        )
    target = resolve_credentials(config).rerank
    if target == "chat":
        if chat is None:
            raise _missing(target, "Set the key of a provider, base_url or chat_model")
        return lambda meter, query_id, until: ModelReranker(
            ChatReranker(meter.around(chat)),
            query_id,
            deadline=until,
            max_passage_length=_SHOWN_TO_CHAT,
        )
    if target == "decision":
        if decider is None:
            raise _missing(target, "Set decision_provider, decision_base_url or decider")
        return lambda meter, query_id, until: DecisionReranker(
            meter.around_decider(decider), query_id=query_id, deadline=until
        )
    return None


def _missing(name: str, hint: str) -> ConfigError:
    return ConfigError(
        f"rerank_provider = {name!r}: there is no {name} model to ask",
        hint=f"{hint}; see docs/how-to/rerank.md.",
    )
