"""What every job is sent to, for people, without any secret."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fingerpost.config.address import host_of
from fingerpost.config.credentials import CHAT_JOBS, Credentials
from fingerpost.config.decision import DecisionTarget
from fingerpost.config.embedding import LocalEmbedding
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.rerank import RerankTarget


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """Where one job goes.

    Attributes:
        role: ``classifier``, ``generator``, ``generator deep``, ``embedding``, ``decision
            model``, ``reranker``, ``web search`` or ``repositories``; failover stands behind it as
            ``classifier, failover 1``.
        provider: Empty when there is none.
        model: The provider's name of the model; empty when there is none.
        host: Host, with the port where the address names one; empty when nothing is sent.
        key: Name of the variable or setting that the key came from; empty without a key.
        reason: Why, for people.
    """

    role: str
    provider: str
    model: str
    host: str
    key: str
    reason: str


_MODELS = {
    "local": "of the local embedding model",
    "chat": "of the classifier",
    "decision": "the decision model",
}

Target = LocalEmbedding | DecisionTarget | RerankTarget


def roles(credentials: Credentials) -> Iterator[tuple[str, Target, str]]:
    """Yield role, where it goes and why, failover after the role it stands behind."""
    chat = (credentials.classifier, credentials.generator, credentials.generator_deep)
    names = ("classifier", "generator", "generator_deep")
    for name, job, endpoint in zip(names, CHAT_JOBS, chat, strict=True):
        role = name.replace("_", " ")
        yield role, endpoint, credentials.reasons[name]
        for number, other in enumerate(credentials.failover[job], 1):
            yield f"{role}, failover {number}", other, "failover_providers names it"
    yield "embedding", credentials.embedding, credentials.reasons["embedding"]
    yield "decision model", credentials.decision, credentials.reasons["decision"]
    for number, other in enumerate(credentials.failover["decide"], 1):
        yield f"decision model, failover {number}", other, "decision_failover_providers names it"
    yield "reranker", credentials.rerank, credentials.reasons["rerank"]
    yield "web search", credentials.web, credentials.reasons["web"]


def explain(credentials: Credentials) -> tuple[CredentialRow, ...]:
    """Return one row for each role, failover after the role it stands behind.

    The last one is ``repositories``, where some of GitHub are configured.
    """
    rows = tuple(_row(*role) for role in roles(credentials))
    if credentials.repositories is None:
        return rows
    reason = credentials.reasons["repositories"]
    return (*rows, _row("repositories", credentials.repositories, reason))


def _row(role: str, target: Target, reason: str) -> CredentialRow:
    if target is None:
        return CredentialRow(role, "", "", "", "", reason)
    if isinstance(target, LocalEmbedding):
        model = target.model or "minilm or use, by the corpus"
        return CredentialRow(role, "local", model, "", "", reason)
    if isinstance(target, Path):
        return CredentialRow(role, "cross-encoder", target.name, "", "", reason)
    if not isinstance(target, Endpoint):
        return CredentialRow(role, target, _MODELS[target], "", "", reason)
    host = host_of(target.base_url)
    return CredentialRow(role, target.provider, target.model, host, target.key_name, reason)
