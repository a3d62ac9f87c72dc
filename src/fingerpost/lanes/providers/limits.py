"""How long a call may take and how much may come back, by what it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fingerpost.config.endpoint import Endpoint

__all__ = [
    "CONNECT_S",
    "DECIDE_S",
    "CallLimits",
    "chat_limits",
    "decision_limits",
    "embedding_limits",
    "rerank_limits",
]

CONNECT_S: Final = 5.0
DECIDE_S: Final = 6.0
_FIRST_BYTE_S: Final = 20.0
_IDLE_S: Final = 20.0
_CHAT_BYTES: Final = 8 * 2**20
_EMBEDDING_BYTES: Final = 64 * 2**20
_TOTAL_S: Final = {
    "decide": 20.0,  # by a chat model, which may think first
    "classify": 20.0,
    "rewrite": 20.0,
    "hyde": 20.0,
    "decompose": 20.0,
    "judge": 30.0,
    "rerank": 20.0,
    "translate": 20.0,
}
_WRITING_S: Final = 90.0
_EMBED_ONE_S: Final = 10.0
_EMBED_BATCH_S: Final = 60.0
_RERANK_S: Final = 6.0


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one call.

    Attributes:
        first_byte_s: Seconds from the start of the call to the whole head of the reply.
        idle_s: Seconds without any content in the body; comments and pings are none.
        total_s: Seconds for everything.
        max_bytes: Most bytes of the body.
    """

    first_byte_s: float
    idle_s: float
    total_s: float
    max_bytes: int


def chat_limits(endpoint: Endpoint, job: str, *, stream: bool) -> CallLimits:
    """Return the limits of a chat call for ``job``.

    The head of a reply that is not streamed comes when all of it is written, and a server
    without a key is somebody's own, which may have to load its model first: these may take the
    whole time until the first byte.
    """
    total = _TOTAL_S.get(job, _WRITING_S)
    patient = not stream or endpoint.key is None
    return CallLimits(total if patient else _FIRST_BYTE_S, _IDLE_S, total, _CHAT_BYTES)


def decision_limits(total_s: float) -> CallLimits:
    """Return the limits of a call of a decision model, whose answer comes when it is whole."""
    return CallLimits(total_s, total_s, total_s, _CHAT_BYTES)


def embedding_limits(n_texts: int) -> CallLimits:
    """Return the limits of a call that embeds ``n_texts`` texts; one is a question."""
    total = _EMBED_ONE_S if n_texts <= 1 else _EMBED_BATCH_S
    return CallLimits(total, total, total, _EMBEDDING_BYTES)


def rerank_limits() -> CallLimits:
    """Return the limits of a call of a reranker, whose scores come when all are there."""
    return CallLimits(_RERANK_S, _RERANK_S, _RERANK_S, _CHAT_BYTES)
