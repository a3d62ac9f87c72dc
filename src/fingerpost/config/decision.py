"""Which decision model the settings ask for, and whose key goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from fingerpost.config.beside import place_beside
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.keyring import Keyring, Place, require_key
from fingerpost.config.providers import DECIDERS, SYSTEM_ONE, TYPESAFE, Provider
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import ConfigError

DecisionTarget = Endpoint | Literal["local", "chat"] | None
"""A server; a model that runs here, or the classifier's chat model; or none."""


def choose_decision(
    config: QueryRouterConfig, keyring: Keyring, chat: Sequence[Place]
) -> tuple[DecisionTarget, str]:
    """Return who answers typed questions, and why.

    Args:
        config: The settings.
        keyring: Keys and addresses of the environment.
        chat: Where the classifier and the generator go; a decision model of the same provider
            shares their key and address.

    Raises:
        MissingSecretError: A provider was named and its key is not set.
        ConfigError: The settings do not say whose a key or an address is.
    """
    named = config.decision_provider
    if config.decider is not None:
        return None, "decider is given"
    if named == "none":
        return None, "switched off"
    if named in ("local", "chat"):
        return cast("Literal['local', 'chat']", named), "decision_provider names it"
    chosen = _provider(config, keyring)
    if chosen is None:
        return None, f"no decision_provider is named, and {TYPESAFE.key_variable} is not set"
    provider, why = chosen
    place = place_beside(config, keyring, "decision", provider, why, chat)
    return place.endpoint(config.decision_model or provider.decision_model, "decide"), why


def decision_failover(
    config: QueryRouterConfig, keyring: Keyring, first: DecisionTarget
) -> tuple[Endpoint, ...]:
    """Return whom to ask when the decision model fails, in order, each with its own key.

    Raises:
        MissingSecretError: The key of one is not set.
    """
    found: list[Endpoint] = []
    for entry in config.decision_failover_providers:
        name, _, model = entry.partition("/")
        provider = DECIDERS[name]
        place = keyring.own_place(provider, "decision_failover_providers names it", decides=True)
        if config.replay is None:
            place = require_key(
                place, hint="Set {variable}, or take it out of decision_failover_providers."
            )
        endpoint = place.endpoint(model or provider.decision_model, "decide")
        if isinstance(first, Endpoint) and endpoint not in (first, *found):
            found.append(endpoint)
    return tuple(found)


def _provider(config: QueryRouterConfig, keyring: Keyring) -> tuple[Provider, str] | None:
    if config.decision_provider is not None:
        return DECIDERS[config.decision_provider], "decision_provider names it"
    if config.decision_base_url:
        owners = keyring.owners(config.decision_base_url) & DECIDERS.keys()
        if len(owners) == 1:
            return DECIDERS[owners.pop()], "decision_base_url is its address"
        return SYSTEM_ONE, "decision_base_url is given, and no provider"
    if keyring.key(TYPESAFE):
        return TYPESAFE, f"{TYPESAFE.key_variable} is set"
    if config.decision_api_key:
        raise ConfigError(
            "decision_api_key: the settings do not say whose key it is",
            hint="Set decision_provider.",
        )
    return None
