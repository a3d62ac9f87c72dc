"""Where a model is served, and with which key."""

from __future__ import annotations

from dataclasses import dataclass

from fingerpost.config.secrets import Secret


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider, one model, one address, one key.

    Attributes:
        provider: ``openai``, ``anthropic``, …; ``custom`` for an address without a known vendor.
        api: API shape: ``openai``, ``anthropic``, ``gemini`` or ``ollama``; of decisions
            ``systemone``, ``openai`` or ``gemini``; of rerankers ``cohere``, ``jina`` or
            ``voyage``.
        model: The provider's name of the model.
        base_url: Scheme, host, port and path up to where the API's own paths begin.
        key: ``None`` for a keyless server.
        key_name: Where the key came from: the name of a variable or setting, empty without one.
        job: ``classify``, ``generate``, ``generate_deep``, ``embed``, ``decide`` or
            ``rerank``.
    """

    provider: str
    api: str
    model: str
    base_url: str
    key: Secret | None = None
    key_name: str = ""
    job: str = "generate"

    @property
    def name(self) -> str:
        """Provider and model for people, the provider alone where no model is meant."""
        return f"{self.provider}/{self.model}" if self.model else self.provider
