"""The decision model of a router: endpoints behind a lane, or the host's own."""

from __future__ import annotations

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.lanes.base import DecisionModel
from fingerpost.lanes.failover_decision import FailoverDecisionModel
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.lanes.observed import ObservedDecision
from fingerpost.lanes.providers.load import load_decision
from fingerpost.observe.observer import Observer
from fingerpost.wiring.tape import Tape


def make_decision_lane(
    config: QueryRouterConfig,
    observe: Observer,
    health: Health,
    retries: RetryBudget,
    tape: Tape | None = None,
) -> DecisionModel | None:
    """Return the decision model that is asked over the network or is the host's own.

    ``None`` when the settings name none of these: ``local``, ``chat``, ``none`` or nothing.

    Args:
        config: The settings.
        observe: Gets an event for each call and each failover.
        health: Which providers may be asked.
        retries: How often the same endpoint is asked again.
        tape: Keeps or replays the calls.

    Raises:
        ConfigError: The settings do not say whose key is meant.
    """
    lane: DecisionModel
    found = resolve_credentials(config)
    if config.decider is not None:
        lane = ObservedDecision(config.decider, observe)
    elif isinstance(found.decision, Endpoint):
        endpoints = (found.decision, *found.failover["decide"])
        lane = FailoverDecisionModel(
            [ObservedDecision(load_decision(endpoint), observe) for endpoint in endpoints],
            health=health,
            retries=retries,
            failover_on_refusal=config.failover_on_refusal,
            on_failover=observe,
        )
    else:
        return None
    return lane if tape is None else tape.around_decider(lane)
