"""The chat models of a router: endpoints behind lanes, or the host's own."""

from __future__ import annotations

import logging
import time

from fingerpost.config.credentials import Credentials, resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.decide.chat import ChatDecisionModel
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import ChatModel, DecisionModel
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.guarded import GuardedChat
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.lanes.observed import ObservedChat
from fingerpost.lanes.prices import price_of
from fingerpost.lanes.providers.load import load_chat
from fingerpost.observe.observer import Observer
from fingerpost.running import Models
from fingerpost.wiring.decision import make_decision_lane
from fingerpost.wiring.rerank import make_rerank_model
from fingerpost.wiring.tape import Tape

_LOG = logging.getLogger("fingerpost.lanes")
_RETRIES = RetryBudget()
"""Shared by the process; circuits belong to a router, whose keys and addresses are its own."""


def make_models(config: QueryRouterConfig, observe: Observer, tape: Tape | None = None) -> Models:
    """Return the model of each job, ``None`` where there is none.

    Args:
        config: The settings.
        observe: Gets an event for each call and each failover.
        tape: Keeps or replays the calls of every lane.

    Raises:
        ConfigError: The settings do not say whose key is meant, or the classifier is to be a
            model and there is none.
    """
    found = resolve_credentials(config)
    endpoints = {
        "classify": found.classifier,
        "generate": found.generator,
        "generate_deep": found.generator_deep,
    }
    _warn_of_unknown_prices(config, found)
    health = Health()
    lanes = [_lane(config, observe, found, job, first, health) for job, first in endpoints.items()]
    if tape is not None:
        lanes = [None if lane is None else tape.around(lane) for lane in lanes]
    decider = make_decision_lane(config, observe, health, _RETRIES, tape)
    if found.decision == "chat":
        decider = _chat_decider(lanes[0])
    reranker = make_rerank_model(config, observe, health, _RETRIES, tape)
    models = Models(lanes[0], lanes[1], lanes[2], decider, reranker)
    remote = (
        *lanes,
        decider,
        isinstance(found.rerank, Endpoint),
        isinstance(found.embedding, Endpoint),
    )
    if config.replay is not None and not any(remote):
        raise ConfigError(
            f"replay = {str(config.replay)!r}: no provider is set, so nothing would be replayed",
            hint="Name the one of the recording, such as generation_provider and "
            "classifier_provider; a replay needs no key.",
        )
    if config.strategy_config.classifier_mode == "llm" and models.classifier is None:
        raise ConfigError(
            "strategy_config.classifier_mode = 'llm': there is no model to ask",
            hint="Set the key of a provider, base_url or chat_model; see docs/providers.md.",
        )
    mode = config.strategy_config.classifier_mode
    if mode == "decision" and models.decider is None and config.source_router is None:
        raise ConfigError(
            "strategy_config.classifier_mode = 'decision': there is no decision model to ask",
            hint="Set decision_provider, decision_base_url or decider; see docs/providers.md. The "
            "local decision model knows no tiers: the mode 'local' does.",
        )
    return models


def _chat_decider(chat: ChatModel | None) -> DecisionModel:
    if chat is None:
        raise ConfigError(
            "decision_provider = 'chat': there is no chat model to ask",
            hint="Set the key of a provider, base_url or chat_model; see docs/providers.md.",
        )
    return ChatDecisionModel(chat)


def _lane(
    config: QueryRouterConfig,
    observe: Observer,
    found: Credentials,
    job: str,
    first: Endpoint | None,
    health: Health,
) -> ChatModel | None:
    own = config.chat_model
    if job == "generate_deep" and config.chat_model_deep is not None:
        own = config.chat_model_deep
    if own is not None:
        return ObservedChat(GuardedChat(own), observe)
    if first is None:
        return None
    endpoints = (first, *found.failover[job])
    return FailoverModel(
        [ObservedChat(load_chat(endpoint), observe) for endpoint in endpoints],
        health=health,
        retries=_RETRIES,
        failover_on_refusal=config.failover_on_refusal,
        on_failover=observe,
        clock=time.monotonic,
    )


def _warn_of_unknown_prices(config: QueryRouterConfig, found: Credentials) -> None:
    """Say which models a budget cannot be held against."""
    if config.budget_usd is None and config.process_budget_usd is None:
        return
    first = (
        found.classifier,
        found.generator,
        found.generator_deep,
        found.decision,
        found.rerank,
        found.embedding,
    )
    asked = [*first, *(endpoint for group in found.failover.values() for endpoint in group)]
    for name in dict.fromkeys(one.name for one in asked if isinstance(one, Endpoint)):
        if price_of(name) is None:
            _LOG.warning("no price of %s is known: its calls are not held to the budget", name)
