"""The API shapes by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import ConfigError
from fingerpost.lanes.providers.anthropic import AnthropicShape
from fingerpost.lanes.providers.decision_gemini import GeminiDecisionShape
from fingerpost.lanes.providers.decision_openai import OpenAiDecisionShape
from fingerpost.lanes.providers.decision_shape import DecisionShape
from fingerpost.lanes.providers.decision_systemone import SystemOneShape, dialect_of
from fingerpost.lanes.providers.gemini import GeminiShape
from fingerpost.lanes.providers.ollama import OllamaShape
from fingerpost.lanes.providers.openai import OpenAiShape
from fingerpost.lanes.providers.shape import ChatShape

__all__ = ["chat_shape", "decision_shape"]

_CHAT: Final[Mapping[str, Callable[[Endpoint], ChatShape]]] = {
    "openai": OpenAiShape,
    "anthropic": AnthropicShape,
    "gemini": GeminiShape,
    "ollama": OllamaShape,
}
_DECISIONS: Final[Mapping[str, Callable[[Endpoint], DecisionShape]]] = {
    "systemone": lambda endpoint: SystemOneShape(endpoint, dialect_of(endpoint.provider)),
    "openai": OpenAiDecisionShape,
    "gemini": GeminiDecisionShape,
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


def decision_shape(endpoint: Endpoint) -> DecisionShape:
    """Return how the decision API of ``endpoint`` is spoken; its path does not tell.

    Raises:
        ConfigError: Nobody here speaks it.
    """
    if endpoint.api not in _DECISIONS:
        raise ConfigError(
            f"There is no decision API named {endpoint.api!r}.",
            hint=f"Known: {', '.join(_DECISIONS)}.",
        )
    return _DECISIONS[endpoint.api](endpoint)
