"""The decision models that can be made by hand, one class for each API."""

from __future__ import annotations

from typing import Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.lanes.providers.decision_gemini import GeminiDecisionShape
from fingerpost.lanes.providers.decision_limits import DecisionLimits, limits_of
from fingerpost.lanes.providers.decision_model import RemoteDecisionModel
from fingerpost.lanes.providers.decision_openai import OpenAiDecisionShape
from fingerpost.lanes.providers.decision_systemone import (
    SystemOneDialect,
    SystemOneShape,
    dialect_of,
)
from fingerpost.lanes.providers.limits import DECIDE_S

__all__ = ["GeminiDecisionModel", "OpenAIDecisionModel", "SystemOneDecisionModel"]

_OPENAI_URL: Final = "https://api.openai.com/v1"
_GEMINI_URL: Final = "https://generativelanguage.googleapis.com"


class SystemOneDecisionModel(RemoteDecisionModel):
    """A decision model at any server that speaks ``POST /v1/systemone``.

    Args:
        base_url: ``http://localhost:11434``; the version may stand in it.
        model: The server's name of the model.
        api_key: Sent to this address only; ``None`` or blank for a server without keys.
        provider: The word that routes it, and decides the limits unless they are given:
            ``typesafe``, ``ollama``, ``openrouter``, or any other.
        limits: What one request may hold; ``None`` takes what is known of the provider.
        dialect: Where the server differs: address, header of the key, model, criteria.
        timeout_s: Seconds that a call may take, all its requests included.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | Secret | None = None,
        *,
        provider: str = "systemone",
        limits: DecisionLimits | None = None,
        dialect: SystemOneDialect | None = None,
        timeout_s: float = DECIDE_S,
    ) -> None:
        told = dialect or dialect_of(provider)
        endpoint = _endpoint(provider, "systemone", told.url or base_url, model, api_key)
        shape = SystemOneShape(endpoint, told)
        super().__init__(endpoint, shape, limits or limits_of(provider), timeout_s=timeout_s)


class OpenAIDecisionModel(RemoteDecisionModel):
    """A decision model at OpenAI, or at a server that speaks its ``POST /v1/decisions``.

    Args:
        model: The vendor's name of the model.
        api_key: Sent to this address only.
        base_url: With or without the version.
        limits: What one request may hold.
        timeout_s: Seconds that a call may take, all its requests included.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        model: str,
        api_key: str | Secret | None = None,
        base_url: str = _OPENAI_URL,
        *,
        limits: DecisionLimits | None = None,
        timeout_s: float = DECIDE_S,
    ) -> None:
        endpoint = _endpoint("openai", "openai", base_url, model, api_key)
        shape = OpenAiDecisionShape(endpoint)
        super().__init__(endpoint, shape, limits or limits_of("openai"), timeout_s=timeout_s)


class GeminiDecisionModel(RemoteDecisionModel):
    """A decision model at Gemini.

    Args:
        model: The vendor's name of the model.
        api_key: Sent to this address only.
        base_url: With or without the version.
        limits: What one request may hold.
        timeout_s: Seconds that a call may take, all its requests included.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        model: str,
        api_key: str | Secret | None = None,
        base_url: str = _GEMINI_URL,
        *,
        limits: DecisionLimits | None = None,
        timeout_s: float = DECIDE_S,
    ) -> None:
        endpoint = _endpoint("gemini", "gemini", base_url, model, api_key)
        shape = GeminiDecisionShape(endpoint)
        super().__init__(endpoint, shape, limits or limits_of("gemini"), timeout_s=timeout_s)


def _endpoint(
    provider: str, api: str, base_url: str, model: str, api_key: str | Secret | None
) -> Endpoint:
    key = Secret(api_key) if isinstance(api_key, str) else api_key
    name = "api_key" if key else ""
    return Endpoint(provider, api, model, base_url, key or None, name, "decide")
