"""Where a job beside chat goes: its own address and key, or those that it shares with chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from fingerpost.config.address import origin_of
from fingerpost.config.keyring import Keyring, Place, require_key
from fingerpost.config.providers import Provider
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.config.secrets import Secret
from fingerpost.errors import ConfigError


def place_beside(
    config: QueryRouterConfig,
    keyring: Keyring,
    role: Literal["embedding", "decision", "rerank"],
    provider: Provider,
    why: str,
    chat: Sequence[Place],
) -> Place:
    """Return where ``provider`` does a job, by the settings ``ROLE_base_url`` and ``ROLE_api_key``.

    Args:
        config: The settings.
        keyring: Keys and addresses of the environment.
        role: Which settings are read.
        provider: Whom the job was given to.
        why: Why it was, for people.
        chat: Where chat goes; a job of the same provider shares key and address with it.

    Raises:
        MissingSecretError: The provider needs a key and there is none.
        ConfigError: The key would leave for another vendor, or there is no address.
    """
    url: str | None = getattr(config, f"{role}_base_url")
    key: Secret | None = getattr(config, f"{role}_api_key")
    decides = role == "decision"
    shared = next((place for place in chat if _is_shared(place, provider, decides=decides)), None)
    if key:
        own = url or keyring.own_url(provider)
        place = Place(provider, own, key, f"{role}_api_key", why)
    elif shared and not url:
        place = replace(shared, why=why)
    elif shared and url and config.api_key and _is_same_server(config, keyring, shared, url):
        place = replace(shared, base_url=url, why=why)
    elif url:
        place = keyring.place_at(provider, url, f"{role}_base_url", why, decides=decides)
    else:
        place = keyring.own_place(provider, why, decides=decides)
    if not place.base_url:
        raise ConfigError(
            f"{role}_provider = {provider.name!r} has no address", hint=f"Set {role}_base_url."
        )
    if config.replay is not None:  # which asks no server
        return place
    return require_key(place, hint=f"Set {{variable}} or {role}_api_key.")


def _is_shared(place: Place, provider: Provider, *, decides: bool) -> bool:
    """Return whether chat goes to the provider, and speaks to it and no aggregator if need be."""
    return place.provider is provider and not (decides and place.model_prefix)


def _is_same_server(config: QueryRouterConfig, keyring: Keyring, chat: Place, url: str) -> bool:
    """Whether ``api_key``, given for ``chat``, belongs to the job's address ``url`` too."""
    if config.base_url:
        return origin_of(url) == origin_of(chat.base_url)
    owners = keyring.owners(url)
    return not owners or chat.provider.name in owners
