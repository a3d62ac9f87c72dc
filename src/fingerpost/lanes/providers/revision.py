"""Which weights a server runs under a model's name."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.background import run_blocking
from fingerpost.lanes.providers.fields import as_items, as_mapping, as_text, parse_json
from fingerpost.lanes.providers.http import Http
from fingerpost.lanes.providers.limits import CallLimits
from fingerpost.lanes.providers.ollama import server_root
from fingerpost.lanes.providers.openai import bearer

__all__ = ["weights_revision"]

_LIMITS: Final = CallLimits(first_byte_s=5.0, idle_s=5.0, total_s=10.0, max_bytes=8 * 2**20)
_SHOWN: Final = 16


def weights_revision(endpoint: Endpoint) -> str:
    """Return the digest of the weights, 16 digits; empty where the server tells none.

    Only Ollama does: there a pull can put other weights under the same name. Blocks.

    Raises:
        LaneError: The server cannot be reached.
    """
    if endpoint.api != "ollama":
        return ""
    http = Http(endpoint)
    return run_blocking(http, lambda: _digest(http))


async def _digest(http: Http) -> str:
    endpoint = http.endpoint
    url = api_url(server_root(endpoint.base_url), "", "api/tags")
    reply = await http.send(url, None, lambda: bearer(endpoint), _LIMITS)
    try:
        body = await reply.read() if reply.status == HTTPStatus.OK else b"{}"
    finally:
        await reply.close()
        await http.close()
    try:
        listed = as_items(as_mapping(parse_json(body)).get("models"))
    except ValueError:
        return ""
    wanted = {endpoint.model, f"{endpoint.model}:latest"}
    found = (m for m in map(as_mapping, listed) if as_text(m.get("name")) in wanted)
    return next((as_text(m.get("digest")).removeprefix("sha256:")[:_SHOWN] for m in found), "")
