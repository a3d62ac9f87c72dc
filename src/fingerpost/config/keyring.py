"""Which key goes with which address: the one place that pairs them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fingerpost.config.address import address_fault, origin_of
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.providers import (
    ADDRESSES,
    BY_NAME,
    OPENROUTER_PREFIX,
    PROVIDERS,
    Provider,
)
from fingerpost.config.secrets import Secret
from fingerpost.errors import ConfigError, MissingSecretError

_OPENROUTER = BY_NAME["openrouter"]


@dataclass(frozen=True, slots=True)
class Place:
    """A provider with the address and the key that calls to it use.

    Attributes:
        provider: Whose API it is.
        base_url: Where it is reached; empty for a custom server that none was given for.
        key: ``None`` when none is sent.
        key_name: Variable or setting that the key came from; empty without one.
        why: Why this provider, for people.
        model_prefix: Stands before names of models that have no ``/``.
    """

    provider: Provider
    base_url: str
    key: Secret | None
    key_name: str
    why: str
    model_prefix: str = ""

    def endpoint(self, model: str, job: str) -> Endpoint:
        """Return where ``model`` is asked for ``job``."""
        if self.model_prefix and "/" not in model:
            model = self.model_prefix + model
        apis = {"decide": self.provider.decision_api, "rerank": self.provider.rerank_api}
        return Endpoint(
            provider=self.provider.name,
            api=apis.get(job, self.provider.api),
            model=model,
            base_url=self.base_url,
            key=self.key,
            key_name=self.key_name,
            job=job,
        )


class Keyring:
    """The keys and addresses of the environment. A blank one counts as absent."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def own_place(self, provider: Provider, why: str, *, decides: bool = False) -> Place:
        """Return the provider's own address with its own key.

        OpenAI without a key of its own takes that of OpenRouter, and then OpenRouter's address,
        unless it ``decides``: OpenRouter does not speak OpenAI's API for that.
        """
        if not decides and self._goes_through_openrouter(provider):
            url, key = self.own_url(_OPENROUTER), self.key(_OPENROUTER)
            name = _OPENROUTER.key_variable
            return Place(provider, url, key, name, why, OPENROUTER_PREFIX)
        key = self.key(provider)
        name = provider.key_variable if key else ""
        return Place(provider, self.own_url(provider), key, name, why)

    def place_at(
        self, provider: Provider, url: str, setting: str, why: str, *, decides: bool = False
    ) -> Place:
        """Return the address that ``setting`` gives, with the provider's own key.

        See `own_place` for OpenAI's at OpenRouter's address.

        Raises:
            ConfigError: The address is another vendor's, and the key would leave for it.
        """
        owners = self.owners(url)
        via = not decides and self._goes_through_openrouter(provider)
        if via and owners == {_OPENROUTER.name}:
            key, name = self.key(_OPENROUTER), _OPENROUTER.key_variable
            return Place(provider, url, key, name, why, OPENROUTER_PREFIX)
        key = self.key(provider)
        if key and owners and provider.name not in owners:
            titles = " and ".join(sorted(p.title for p in ADDRESSES if p.name in owners))
            raise ConfigError(
                f"{setting} is an address of {titles}: {provider.key_variable} belongs to "
                f"{provider.title} and is not sent there",
                hint="Name the provider whose address it is, or leave the address out.",
            )
        return Place(provider, url, key, provider.key_variable if key else "", why)

    def provider_at(self, url: str, setting: str, *, embeds: bool = False) -> tuple[Provider, str]:
        """Return whose address ``url`` is when nothing names a provider, and why.

        A vendor whose own address it is; at an address of nobody known, the provider of the
        first key; without a key, a server of its own.
        """
        owners = self.owners(url)
        found = self.first_with_key(embeds=embeds, among=owners)
        if len(owners) == 1 and owners <= BY_NAME.keys():
            return BY_NAME[owners.pop()], f"{setting} is its address"
        if found:
            return found, f"{setting} is given, and {found.key_variable} is the first key found"
        return BY_NAME["custom"], f"{setting} is given, and no provider and no key"

    def first_with_key(
        self, *, embeds: bool = False, among: Collection[str] = ()
    ) -> Provider | None:
        """Return the first provider whose key is set.

        Args:
            embeds: Only one that publishes an embedding model.
            among: Names to choose from; empty allows all.
        """
        for provider in PROVIDERS:
            fits = (provider.embedding_model or not embeds) and (
                not among or provider.name in among
            )
            if fits and self.key(provider):
                return provider
        return None

    def key(self, provider: Provider) -> Secret | None:
        """Return the provider's own key."""
        value = self._variable(provider.key_variable)
        return Secret(value) if value else None

    def has_url(self, provider: Provider) -> bool:
        """Return whether a variable sets the provider's address."""
        return bool(self._variable(provider.url_variable))

    def own_url(self, provider: Provider) -> str:
        """Return the address of its variable, else the known one.

        Raises:
            ConfigError: The variable holds no usable address.
        """
        value = self._variable(provider.url_variable)
        if value and (fault := address_fault(value)):
            raise ConfigError(f"{provider.url_variable}: {fault}")
        return value or provider.base_url

    def owners(self, url: str) -> set[str]:
        """Return the providers whose own address, known or set by a variable, this is."""
        owners = set()
        for provider in ADDRESSES:
            known = (provider.base_url, self._variable(provider.url_variable))
            usable = [own for own in known if own and not address_fault(own)]
            if origin_of(url) in map(origin_of, usable):
                owners.add(provider.name)
        return owners

    def _goes_through_openrouter(self, provider: Provider) -> bool:
        return provider.name == "openai" and not self.key(provider) and bool(self.key(_OPENROUTER))

    def _variable(self, name: str) -> str:
        return self._environ.get(name, "").strip() if name else ""


def require_key(place: Place, *, hint: str) -> Place:
    """Return the place; refuse a vendor's own address without the key that it needs.

    Raises:
        MissingSecretError: The key is not set.
    """
    provider = place.provider
    if place.key or not provider.key_variable:
        return place
    if origin_of(place.base_url) == origin_of(provider.base_url):
        raise MissingSecretError(
            f"{provider.title} needs a key, and {provider.key_variable} is not set: {place.why}",
            hint=hint.format(variable=provider.key_variable),
        )
    return place
