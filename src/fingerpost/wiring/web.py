"""What searches the web for the research pass."""

from __future__ import annotations

from typing import cast

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.lanes.web import WebSearch
from fingerpost.retrieve.base import WebSearchHook


def make_web_search(config: QueryRouterConfig) -> WebSearchHook | None:
    """Return the host's own search or the service, ``None`` when the web is left alone.

    Raises:
        ConfigError: The key would leave for another vendor, or ``web_search`` cannot be called.
    """
    service = resolve_credentials(config).web
    own = config.web_search
    if config.web_research == "never":
        return None
    if own is not None:
        return cast("WebSearchHook", getattr(own, "retrieve", own))
    if service is None:
        return None
    return WebSearch(
        service.key,
        base_url=service.base_url,
        n_pages=config.web_pages,
        key_name=service.key_name,
    ).retrieve
