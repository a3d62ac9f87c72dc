"""Which models a provider lists."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import BadResponseError
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.failure import error_for
from fingerpost.lanes.providers.fields import as_items, as_mapping, as_text, parse_json
from fingerpost.lanes.providers.http import Http
from fingerpost.lanes.providers.limits import CallLimits
from fingerpost.lanes.providers.ollama import server_root
from fingerpost.lanes.providers.shapes import chat_shape, decision_shape

__all__ = ["is_listed", "list_models"]

_LIMITS: Final = CallLimits(first_byte_s=10.0, idle_s=10.0, total_s=20.0, max_bytes=8 * 2**20)
_ERROR_BYTES: Final = 64 * 1024
# The largest page that each API gives, so that one call is enough.
_PATHS: Final = {
    "openai": ("v1", "models"),
    "anthropic": ("v1", "models?limit=1000"),
    "gemini": ("v1beta", "models?pageSize=1000"),
    "systemone": ("v1", "models"),
}
_OF_DECISIONS: Final = "?output_modalities=decisions"


async def list_models(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the names of the models that the server lists, in its order; one page of them.

    Args:
        endpoint: Whom to ask; its model does not matter.

    Raises:
        ProviderError: There is no list.
        ConfigError: The address or the key cannot be used.
    """
    decides = endpoint.api == "systemone"
    shape = decision_shape(endpoint) if decides else chat_shape(endpoint)
    http = Http(endpoint)
    try:
        reply = await http.send(_url(endpoint), None, shape.headers, _LIMITS)
        try:
            if reply.status != HTTPStatus.OK:
                beginning = await reply.beginning(_ERROR_BYTES)
                raise error_for(reply.status, reply.headers, beginning, endpoint=endpoint)
            return _names(await reply.read(), endpoint)
        finally:
            await reply.close()
    finally:
        await http.close()


def is_listed(model: str, names: tuple[str, ...]) -> bool:
    """Return whether a list holds ``model``, which Ollama lists with a tag."""
    return model in names or f"{model}:latest" in names


def _url(endpoint: Endpoint) -> str:
    if "ollama" in (endpoint.provider, endpoint.api):
        return api_url(server_root(endpoint.base_url), "", "api/tags")
    url = api_url(endpoint.base_url, *_PATHS[endpoint.api])
    is_part = endpoint.api == "systemone" and endpoint.provider == "openrouter"
    return url + _OF_DECISIONS if is_part else url


def _names(body: bytes, endpoint: Endpoint) -> tuple[str, ...]:
    try:
        said: Any = parse_json(body)
    except ValueError:
        said = None
    listed = as_mapping(said)
    items = said if isinstance(said, list) else listed.get("data", listed.get("models"))
    if not isinstance(items, list):
        raise BadResponseError(
            f"{endpoint.provider} gave no list of models.",
            provider=endpoint.provider,
            model=endpoint.model,
        )
    named = (as_mapping(item) for item in as_items(items))
    names = (as_text(item.get("id")) or as_text(item.get("name")) for item in named)
    return tuple(name.removeprefix("models/") for name in names if name)
