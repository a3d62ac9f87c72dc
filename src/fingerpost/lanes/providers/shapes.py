"""The API shapes by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import ConfigError
from fingerpost.lanes.providers.anthropic import AnthropicShape
from fingerpost.lanes.providers.gemini import GeminiShape
from fingerpost.lanes.providers.ollama import OllamaShape
from fingerpost.lanes.providers.openai import OpenAiShape
from fingerpost.lanes.providers.shape import ChatShape

__all__ = ["chat_shape"]

_CHAT: Final[Mapping[str, Callable[[Endpoint], ChatShape]]] = {
    "openai": OpenAiShape,
    "anthropic": AnthropicShape,
    "gemini": GeminiShape,
    "ollama": OllamaShape,
}


def chat_shape(endpoint: Endpoint) -> ChatShape:
    """Return how the API of ``endpoint`` is spoken.

    Raises:
        ConfigError: Nobody here speaks it.
    """
    if endpoint.api not in _CHAT:
        raise ConfigError(
            f"There is no API shape named {endpoint.api!r}.", hint=f"Known: {', '.join(_CHAT)}."
        )
    return _CHAT[endpoint.api](endpoint)
