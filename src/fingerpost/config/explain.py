"""What every job is sent to, for people, without any secret."""

from __future__ import annotations

from dataclasses import dataclass

from fingerpost.config.address import host_of
from fingerpost.config.credentials import CHAT_JOBS, Credentials
from fingerpost.config.embedding import LocalEmbedding
from fingerpost.config.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """Where one job goes.

    Attributes:
        role: ``classifier``, ``generator``, ``generator deep``, ``embedding`` or ``decision
            model``; failover stands behind it as ``classifier, failover 1``.
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


def explain(credentials: Credentials) -> tuple[CredentialRow, ...]:
    """Return one row for each job, its failover behind it."""
    rows = []
    chat = (credentials.classifier, credentials.generator, credentials.generator_deep)
    names = ("classifier", "generator", "generator_deep")
    for name, job, endpoint in zip(names, CHAT_JOBS, chat, strict=True):
        role = name.replace("_", " ")
        rows.append(_row(role, endpoint, credentials.reasons[name]))
        for number, other in enumerate(credentials.failover[job], 1):
            rows.append(_row(f"{role}, failover {number}", other, "failover_providers names it"))
    rows.append(_embedding_row(credentials))
    rows.append(_row("decision model", None, "this version asks none"))
    return tuple(rows)


def _embedding_row(credentials: Credentials) -> CredentialRow:
    embedding, reason = credentials.embedding, credentials.reasons["embedding"]
    if isinstance(embedding, LocalEmbedding):
        model = embedding.model or "minilm or use, by the corpus"
        return CredentialRow("embedding", "local", model, "", "", reason)
    return _row("embedding", embedding, reason)


def _row(role: str, endpoint: Endpoint | None, reason: str) -> CredentialRow:
    if endpoint is None:
        return CredentialRow(role, "", "", "", "", reason)
    host = host_of(endpoint.base_url)
    return CredentialRow(role, endpoint.provider, endpoint.model, host, endpoint.key_name, reason)
