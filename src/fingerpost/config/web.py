"""Whether the settings have a service that searches the web, and whose key goes with it."""

from __future__ import annotations

from typing import Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.keyring import Keyring, Place
from fingerpost.config.providers import SERPER
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import ConfigError

_JOB: Final = "search"


def choose_web_search(config: QueryRouterConfig, keyring: Keyring) -> tuple[Endpoint | None, str]:
    """Return which service searches the web for the research pass, and why.

    Args:
        config: The settings.
        keyring: Keys and addresses of the environment.

    Raises:
        ConfigError: The key would leave for another vendor, or ``web_search`` cannot be called.
    """
    if config.web_research == "never":
        return None, "switched off"
    if config.web_search is not None:
        if not callable(getattr(config.web_search, "retrieve", config.web_search)):
            raise ConfigError("web_search: must be a Retriever or (question, top_k) -> passages")
        return None, "web_search is given"
    if config.replay is not None:
        return None, "a replay asks nobody"
    url = config.serper_base_url
    if config.serper_api_key is not None:
        why = "serper_api_key is given"
        own = url or keyring.own_url(SERPER)
        place = Place(SERPER, own, config.serper_api_key, "serper_api_key", why)
    elif keyring.key(SERPER) is not None:
        why = f"{SERPER.key_variable} is set"
        setting = "serper_base_url"
        place = (
            keyring.place_at(SERPER, url, setting, why) if url else keyring.own_place(SERPER, why)
        )
    else:
        return None, f"no web_search is given, and {SERPER.key_variable} is not set"
    return place.endpoint(_JOB, _JOB), why
