"""Addresses of API calls, from a base URL that may be written in several ways."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

__all__ = ["api_url", "path_name"]

_VERSION: Final = re.compile(r"/v\d+(?:alpha|beta)?\d*(?:/|$)")


def api_url(base_url: str, version: str, path: str) -> str:
    """Return the address of ``path``.

    The version is put in unless the base URL has one already, anywhere in its path; a slash at
    its end or the path itself, pasted in from an example, does no harm.

    Args:
        base_url: ``https://host``, ``https://host/v1/``, ``https://host/openai/v1``, …
        version: ``v1``; empty for an API without one.
        path: Below the version, ``chat/completions``.
    """
    base = base_url.strip().rstrip("/").removesuffix("/" + path).rstrip("/")
    if not version:
        return f"{base}/{path}"
    host_at = base.find("://") + 3
    if _VERSION.search(base, host_at) is None:
        base = f"{base}/{version}"
    return f"{base}/{path}"


def path_name(model: str) -> str:
    """Return a model's name as one segment of a path; ``models/`` before it is dropped."""
    return quote(model.removeprefix("models/"), safe="-._~")
