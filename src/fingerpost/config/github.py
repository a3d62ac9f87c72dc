"""Where GitHub's API is, which token goes to it, and where its pages are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.keyring import Keyring, Place
from fingerpost.config.providers import GITHUB
from fingerpost.config.repos import RepoIndexConfig

_ENTERPRISE = "/api/v3"


def github_api(config: RepoIndexConfig, environ: Mapping[str, str] | None = None) -> Endpoint:
    """Return the API with the token that goes with it, without one where none is set.

    Args:
        config: The settings.
        environ: Variables; ``None`` takes the process's. ``GITHUB_TOKEN`` comes before
            ``GH_TOKEN``.

    Raises:
        ConfigError: The address is another vendor's, and the token would leave for it.
    """
    keyring = Keyring(os.environ if environ is None else environ)
    provider = GITHUB if keyring.key(GITHUB) else replace(GITHUB, key_variable="GH_TOKEN")
    if config.token is not None:
        url = config.base_url or keyring.own_url(GITHUB)
        place = Place(GITHUB, url, config.token, "github_repos.token", "")
    elif config.base_url is not None:
        place = keyring.place_at(provider, config.base_url, "github_repos.base_url", "")
    else:
        place = keyring.own_place(provider, "")
    return place.endpoint("", "repositories")


def github_pages(api: Endpoint) -> str:
    """Return where the repositories of an API are shown on the web."""
    parts = urlsplit(api.base_url.rstrip("/"))
    host = parts.netloc.removeprefix("api.")
    return f"{parts.scheme}://{host}{parts.path.removesuffix(_ENTERPRISE)}"
