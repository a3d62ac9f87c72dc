"""What is said to a chat model and what it says back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from fingerpost.types.result import Usage


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a model. System messages stand first."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Which model a request is meant for, where one lane serves several.

    Attributes:
        name: The provider's name of the model; empty takes the endpoint's own.
        provider: Route word, ``openai``; empty when unknown.
        api: API shape, ``anthropic``; empty when unknown.
    """

    name: str = ""
    provider: str = ""
    api: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a chat model.

    Attributes:
        messages: At least one; the last is the user's.
        model: For lanes that serve several models; ``None`` takes the lane's own.
        job: What it is for: ``classify``, ``rewrite``, ``hyde``, ``decompose``, ``research``,
            ``generate``, ``judge`` or ``decide``; decides limits and stands in usage and events.
        max_tokens: Most tokens of the reply, >= 1; ``None`` leaves it to the provider.
        temperature: 0 to 2; ``None`` leaves it to the provider.
        schema: JSON schema of the reply, for models with a JSON mode; others get it as text.
        top_logprobs: Alternatives to be reported per token, 0 to 20; 0 reports none.
        deadline: When the call must have ended, by the lane's monotonic clock; ``None`` leaves
            only the job's own limit.
        query_id: The question it belongs to, for events.
    """

    messages: tuple[Message, ...]
    model: ModelRef | None = None
    job: str = "generate"
    max_tokens: int | None = None
    temperature: float | None = None
    schema: Mapping[str, object] | None = field(default=None, hash=False)
    top_logprobs: int = 0
    deadline: float | None = None
    query_id: str = ""


class StopReason(StrEnum):
    """Why a model stopped. A refusal is raised, not returned."""

    COMPLETE = "complete"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply with its natural log-probability and the alternatives' (<= 0)."""

    token: str
    logprob: float
    alternatives: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """A whole reply. Its text is never blank.

    Attributes:
        text: The reply; for a stream, all pieces joined.
        model: Provider and model that gave it, ``openai/gpt-4o-mini``.
        stop: ``length`` when it was cut at ``max_tokens``.
        usage: One item per attempt, failed ones included, the answering one last.
        logprobs: Per token, empty when not asked for or not given.
        request_id: The provider's own id of the call, empty when none.
    """

    text: str
    model: str
    stop: StopReason = StopReason.COMPLETE
    usage: tuple[Usage, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()
    request_id: str = ""
