"""Which reranker the settings ask for, and whose key goes with it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from fingerpost.config.beside import place_beside
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.keyring import Keyring
from fingerpost.config.providers import RERANK_SERVER, RERANKERS, Provider
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import ConfigError

RerankTarget = Endpoint | Path | Literal["chat", "decision"] | None
"""A server; a folder with a cross-encoder; the classifier's chat model or the decision model; or
none."""


def choose_rerank(config: QueryRouterConfig, keyring: Keyring) -> tuple[RerankTarget, str]:
    """Return who orders the hits, and why. A key alone chooses nobody: texts would leave.

    Raises:
        MissingSecretError: A provider was named and its key is not set.
        ConfigError: The settings do not say whose a key or an address is, or lack a part.
    """
    named = config.rerank_provider
    if config.rerank is not None:
        return None, "the rerank hook is given"
    if named == "none":
        return None, "switched off"
    if named in ("chat", "decision"):
        return cast("Literal['chat', 'decision']", named), "rerank_provider names it"
    if named == "cross-encoder" or (named is None and config.rerank_folder is not None):
        return _folder(config)
    chosen = _provider(config, keyring)
    if chosen is None:
        return None, "the built-in one, as no rerank_provider is named"
    provider, why = chosen
    model = config.rerank_model or provider.rerank_model
    if not model:
        raise ConfigError(
            "rerank_model is required for a server that is no known vendor's",
            hint="Set rerank_model to a model that the server lists.",
        )
    return place_beside(config, keyring, "rerank", provider, why, ()).endpoint(model, "rerank"), why


def _folder(config: QueryRouterConfig) -> tuple[Path, str]:
    if config.rerank_folder is None:
        raise ConfigError(
            "rerank_provider = 'cross-encoder' has no model",
            hint="Set rerank_folder to a folder with model.onnx and tokenizer.json.",
        )
    return config.rerank_folder, "rerank_folder is given"


def _provider(config: QueryRouterConfig, keyring: Keyring) -> tuple[Provider, str] | None:
    if config.rerank_provider is not None:
        return RERANKERS[config.rerank_provider], "rerank_provider names it"
    if config.rerank_base_url:
        owners = keyring.owners(config.rerank_base_url) & RERANKERS.keys()
        if len(owners) == 1:
            return RERANKERS[owners.pop()], "rerank_base_url is its address"
        return RERANK_SERVER, "rerank_base_url is given, and no provider"
    if config.rerank_api_key:
        raise ConfigError(
            "rerank_api_key: the settings do not say whose key it is",
            hint="Set rerank_provider.",
        )
    return None
