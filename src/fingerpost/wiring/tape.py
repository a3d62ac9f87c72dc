"""Model calls kept in a folder or given again from one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from secrets import token_hex

from fingerpost.config.credentials import Credentials, resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.config.secrets import Secret
from fingerpost.lanes.recorded import Recorder, Replayer
from fingerpost.types.ids import digest

Tape = Recorder | Replayer


def make_tape(config: QueryRouterConfig) -> Tape | None:
    """Return what stands around every lane, ``None`` when calls are neither kept nor replayed."""
    if config.replay is not None:
        return Replayer(config.replay)
    if config.record is not None:
        return Recorder(config.record, _secrets(resolve_credentials(config)))
    return None


def make_delimiter(tape: Tape | None) -> Callable[[Sequence[str]], str]:
    """Return what fences documents: random, or the same again where calls are kept."""
    if tape is None:
        return lambda _: token_hex(8)
    return lambda told: digest(*told, size=8)


def _secrets(found: Credentials) -> list[Secret]:
    endpoints = [
        found.classifier,
        found.generator,
        found.generator_deep,
        found.embedding,
        found.decision,
        found.rerank,
        found.web,
        *(one for places in found.failover.values() for one in places),
    ]
    return [one.key for one in endpoints if isinstance(one, Endpoint) and one.key is not None]
