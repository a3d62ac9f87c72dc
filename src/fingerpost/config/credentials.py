"""Which provider, model, address and key each job has. Nothing is asked of any server.

Two laws stand above every rule: a key goes only to the vendor it belongs to, and a blank key or
address counts as absent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from fingerpost.config.decision import DecisionTarget, choose_decision, decision_failover
from fingerpost.config.embedding import LocalEmbedding, choose_embedding
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.github import github_api
from fingerpost.config.keyring import Keyring, Place, require_key
from fingerpost.config.providers import BY_NAME, Provider
from fingerpost.config.rerank import RerankTarget, choose_rerank
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.config.web import choose_web_search
from fingerpost.errors import ConfigError

CHAT_JOBS = ("classify", "generate", "generate_deep")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What every job is sent to.

    Attributes:
        classifier: ``None`` when no model classifies.
        generator: Writes T0 and T1 answers; ``None`` when answers are extractive.
        generator_deep: Writes T2 and T3 answers.
        embedding: ``None`` searches by words alone.
        failover: Job (``classify``, ``generate``, ``generate_deep``, ``decide``) → where to go
            next, in order; empty for a job without a model.
        reasons: ``classifier``, ``generator``, ``generator_deep``, ``embedding``, ``decision``,
            ``rerank``, ``web``, ``repositories`` → why, for people.
        decision: Answers typed questions; ``None`` when nobody does, or the host's own model.
        rerank: Orders the hits of T2 and T3; ``None`` is the built-in reranker or the host's own.
        web: Searches the web; ``None`` when nobody does, or the host's own search.
        repositories: GitHub's API; ``None`` when no repository of GitHub is configured.
    """

    classifier: Endpoint | None
    generator: Endpoint | None
    generator_deep: Endpoint | None
    embedding: Endpoint | LocalEmbedding | None
    failover: Mapping[str, tuple[Endpoint, ...]] = field(default_factory=dict, hash=False)
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)
    decision: DecisionTarget = None
    rerank: RerankTarget = None
    web: Endpoint | None = None
    repositories: Endpoint | None = None


@dataclass(frozen=True, slots=True)
class _Choice:
    provider: Provider
    why: str


def resolve_credentials(
    config: QueryRouterConfig, environ: Mapping[str, str] | None = None
) -> Credentials:
    """Return where each job goes; ``docs/providers.md`` says by which rules.

    Args:
        config: The settings.
        environ: Variables; ``None`` takes the process's.

    Raises:
        MissingSecretError: A provider was named and its key is not set.
        ConfigError: The settings do not say whose a key or an address is, a key would leave
            for another vendor, or a provider has no embedding model.
    """
    keyring = Keyring(os.environ if environ is None else environ)
    classifier, generator = _chat_places(config, keyring)
    deep = None if config.chat_model_deep is not None else generator
    models = _models(config, classifier, generator)
    endpoints = {
        job: place.endpoint(models[job], job) if place else None
        for job, place in zip(CHAT_JOBS, (classifier, generator, deep), strict=True)
    }
    chat = [place for place in (classifier, generator) if place]
    embedding, why = choose_embedding(config, keyring, chat)
    decision, why_decided = choose_decision(config, keyring, chat)
    rerank, why_reranked = choose_rerank(config, keyring)
    web, why_web = choose_web_search(config, keyring)
    failover = {job: _failover(config, keyring, job, endpoints[job]) for job in CHAT_JOBS}
    wrote = _why(config, generator, config.generation_provider)
    wrote_deep = wrote if config.chat_model_deep is None else "chat_model_deep is given"
    return Credentials(
        classifier=endpoints["classify"],
        generator=endpoints["generate"],
        generator_deep=endpoints["generate_deep"],
        embedding=embedding,
        failover={**failover, "decide": decision_failover(config, keyring, decision)},
        reasons={
            "classifier": _why(config, classifier, config.classifier_provider),
            "generator": wrote,
            "generator_deep": wrote_deep,
            "embedding": why,
            "decision": why_decided,
            "rerank": why_reranked,
            "web": why_web,
            "repositories": "github_repos names repositories of GitHub",
        },
        decision=decision,
        rerank=rerank,
        web=web,
        repositories=_repositories(config, environ),
    )


def _repositories(config: QueryRouterConfig, environ: Mapping[str, str] | None) -> Endpoint | None:
    settings = config.github_repos
    if settings is None or all(one.kind != "github" for one in settings.addresses):
        return None
    return github_api(settings, environ)


def _chat_places(config: QueryRouterConfig, keyring: Keyring) -> tuple[Place | None, Place | None]:
    if config.chat_model is not None:
        return None, None
    classifier = _named(config.classifier_provider, "classifier_provider")
    generator = _named(config.generation_provider, "generation_provider")
    two = classifier and generator and classifier.provider is not generator.provider
    if two and config.api_key and not config.base_url:
        raise ConfigError(
            "api_key: classifier_provider and generation_provider are two vendors, and a key "
            "belongs to one",
            hint="Leave api_key out and set the variable of each provider.",
        )
    default = None
    if None in (config.classifier_provider, config.generation_provider):
        default = _default_choice(config, keyring, generator or classifier)
    if config.classifier_provider is None:
        classifier = default
    if config.generation_provider is None:
        generator = default
    return _chat_place(config, keyring, classifier), _chat_place(config, keyring, generator)


def _named(name: str | None, setting: str) -> _Choice | None:
    if name in (None, "none"):
        return None
    return _Choice(BY_NAME[name], f"{setting} names it")


def _default_choice(
    config: QueryRouterConfig, keyring: Keyring, named: _Choice | None
) -> _Choice | None:
    """Return the provider of a job that names none; ``named`` is what the other job names."""
    if named and (config.api_key or config.base_url):
        return named
    if config.base_url:
        return _Choice(*keyring.provider_at(config.base_url, "base_url"))
    found = keyring.first_with_key()
    if found:
        return _Choice(found, f"{found.key_variable} is the first key found")
    if config.api_key:
        raise ConfigError(
            "api_key: the settings do not say whose key it is",
            hint="Set generation_provider, and classifier_provider where it is another.",
        )
    if keyring.has_url(BY_NAME["ollama"]):
        return _Choice(BY_NAME["ollama"], "OLLAMA_BASE_URL is set, and no key")
    return named


def _chat_place(
    config: QueryRouterConfig, keyring: Keyring, choice: _Choice | None
) -> Place | None:
    if choice is None:
        return None
    provider, why = choice.provider, choice.why
    if config.api_key:
        url = config.base_url or keyring.own_url(provider)
        place = Place(provider, url, config.api_key, "api_key", why)
    elif config.base_url:
        place = keyring.place_at(provider, config.base_url, "base_url", why)
    else:
        place = keyring.own_place(provider, why)
    if not place.base_url:
        raise ConfigError("provider 'custom' has no address", hint="Set base_url.")
    return _keyed(config, place, "Set {variable} or api_key.")


def _keyed(config: QueryRouterConfig, place: Place, hint: str) -> Place:
    """A replay asks no server, so it needs no key."""
    return place if config.replay is not None else require_key(place, hint=hint)


def _models(
    config: QueryRouterConfig, classifier: Place | None, generator: Place | None
) -> dict[str, str]:
    given = {
        "generate": config.generation_model,
        "generate_deep": config.generation_model_deep,
        "classify": config.strategy_config.classifier_model or config.classifier_model,
    }
    places = {"generate": generator, "generate_deep": generator, "classify": classifier}
    models = {}
    for job, place in places.items():
        if place is None:
            continue
        provider = place.provider
        shared = (
            given[other]
            for other, theirs in places.items()
            if provider.chooses_models and theirs and theirs.provider is provider
        )
        named = given[job] or next((model for model in shared if model), None)
        models[job] = named or provider.model_for(job)
    return models


def _failover(
    config: QueryRouterConfig, keyring: Keyring, job: str, first: Endpoint | None
) -> tuple[Endpoint, ...]:
    found: list[Endpoint] = []
    for entry in config.failover_providers:
        name, _, model = entry.partition("/")
        provider = BY_NAME[name]
        own = keyring.own_place(provider, "failover_providers names it")
        place = _keyed(config, own, "Set {variable}, or take it out of failover_providers.")
        endpoint = place.endpoint(model or provider.model_for(job), job)
        if first is not None and endpoint not in (first, *found):
            found.append(endpoint)
    return tuple(found)


def _why(config: QueryRouterConfig, place: Place | None, named: str | None) -> str:
    if place is not None:
        return place.why
    if config.chat_model is not None:
        return "chat_model is given"
    return "switched off" if named == "none" else "no key is set and no provider is named"
