"""Which embedding model the settings ask for, and whose key goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.config.beside import place_beside
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.keyring import Keyring, Place
from fingerpost.config.providers import BY_NAME, LOCAL_MODELS, PROVIDERS, Provider
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import ConfigError


@dataclass(frozen=True, slots=True)
class LocalEmbedding:
    """An embedding model that runs in this process.

    Attributes:
        model: ``minilm`` or ``use``; ``None`` leaves the choice to the corpus.
    """

    model: str | None = None


def choose_embedding(
    config: QueryRouterConfig, keyring: Keyring, chat: Sequence[Place]
) -> tuple[Endpoint | LocalEmbedding | None, str]:
    """Return where texts are embedded, ``None`` for nowhere, and why.

    Args:
        config: The settings.
        keyring: Keys and addresses of the environment.
        chat: Where the classifier and the generator go; embeddings of the same provider share
            their key and address.

    Raises:
        MissingSecretError: A provider was named and its key is not set.
        ConfigError: The provider publishes no embedding model, or the settings do not say
            whose a key is.
    """
    model = config.embedding_model
    if config.embedding_provider == "none":
        return None, "switched off"
    if config.embedding_provider == "local":
        return LocalEmbedding(model), "embedding_provider names it"
    chosen = _provider(config, keyring)
    if chosen is None:
        return LocalEmbedding(model), _why_local(config)
    provider, why = chosen
    if provider.embedding_model is None and provider.name != "custom":
        raise ConfigError(
            f"embedding_provider = {provider.name!r}: {provider.title} publishes no embedding "
            "model",
            hint=f"Allowed: {', '.join(p.name for p in PROVIDERS if p.embedding_model)}, custom, "
            "local, none.",
        )
    model = model or provider.embedding_model
    if model is None:
        raise ConfigError(
            "embedding_model is required for a server that is no known vendor's",
            hint="Set embedding_model to a model that the server lists.",
        )
    place = place_beside(config, keyring, "embedding", provider, why, chat)
    return place.endpoint(model, "embed"), why


def _provider(config: QueryRouterConfig, keyring: Keyring) -> tuple[Provider, str] | None:
    if config.embedding_provider is not None:
        return BY_NAME[config.embedding_provider], "embedding_provider names it"
    if config.embedding_base_url:
        url = config.embedding_base_url
        return keyring.provider_at(url, "embedding_base_url", embeds=True)
    if _names_a_local_model(config):
        return None
    found = keyring.first_with_key(embeds=True)
    if found:
        return found, f"{found.key_variable} is the first key whose provider publishes embeddings"
    if config.embedding_api_key:
        raise ConfigError(
            "embedding_api_key: the settings do not say whose key it is",
            hint="Set embedding_provider.",
        )
    return None


def _names_a_local_model(config: QueryRouterConfig) -> bool:
    return config.embedding_model in LOCAL_MODELS or config.embedding_folder is not None


def _why_local(config: QueryRouterConfig) -> str:
    if _names_a_local_model(config):
        return "the settings name a local model"
    return "no key is set whose provider publishes embeddings"
