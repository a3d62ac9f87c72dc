"""The chat completions API of OpenAI and of all that speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.draft import Draft
from fingerpost.lanes.providers.fields import as_count, as_items, as_logprob, as_mapping, as_text
from fingerpost.lanes.providers.schema_note import is_strict, schema_note
from fingerpost.lanes.providers.shape import key_of, split_system
from fingerpost.types.chat import ChatRequest, TokenLogprob

__all__ = ["OpenAiShape", "bearer", "read_logprobs"]

_CUT: Final = frozenset({"length", "max_tokens", "model_length"})
_FAILED: Final = frozenset(
    {"error", "abort", "aborted", "cancelled", "timeout", "insufficient_system_resource"}
)
_REFUSED: Final = frozenset({"content_filter", "refusal"})
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one vendor's API differs from OpenAI's; looked up 2026-11-30."""

    limit: str = "max_completion_tokens"
    has_schema: bool = True
    asks_usage: bool = True
    logprobs: str = "flag"  # or "count" (the number itself), or "none"
    extra: tuple[tuple[str, Any], ...] = ()


_DIALECTS: Final = {
    "openai": _Dialect(),
    "groq": _Dialect(logprobs="none"),
    "together": _Dialect("max_tokens", logprobs="count"),
    "mistral": _Dialect("max_tokens", asks_usage=False, logprobs="none"),
    "xai": _Dialect(),
    "minimax": _Dialect(has_schema=False, logprobs="none", extra=(("reasoning_split", True),)),
    "openrouter": _Dialect("max_tokens"),
}
_OTHER: Final = _Dialect("max_tokens")


class OpenAiShape:
    """``POST /v1/chat/completions``; a stream of server-sent events ends with ``[DONE]``."""

    has_events = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._dialect = _DIALECTS.get(endpoint.provider, _OTHER)

    def url(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - of the protocol
        """Return the address; the model stands in the body."""
        return api_url(self._endpoint.base_url, "v1", "chat/completions")

    def headers(self) -> Mapping[str, str]:
        """Return the bearer token, when there is one."""
        return bearer(self._endpoint)

    def body(
        self, request: ChatRequest, model: str, *, stream: bool, plain: bool
    ) -> Mapping[str, Any]:
        """Return the request in the vendor's dialect. See `ChatShape.body`."""
        dialect = self._dialect
        in_prompt = request.schema is not None and (plain or not dialect.has_schema)
        note = schema_note(request.schema) if in_prompt and request.schema is not None else ""
        system, others = split_system(request, note)
        messages = [("system", system)] if system else []
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in messages + others],
        }
        if request.max_tokens is not None:
            body[dialect.limit] = request.max_tokens
        if stream:
            body["stream"] = True
        body.update(dialect.extra)
        if stream and dialect.asks_usage:
            body["stream_options"] = {"include_usage": True}
        if plain:
            return body
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.schema is not None and dialect.has_schema:
            body["response_format"] = _response_format(request.schema)
        if request.top_logprobs and dialect.logprobs != "none":
            body["logprobs"] = True if dialect.logprobs == "flag" else request.top_logprobs
            if dialect.logprobs == "flag":
                body["top_logprobs"] = request.top_logprobs
        return body

    def read(self, data: Mapping[str, Any], draft: Draft) -> None:
        """Read a completion or a chunk of one. See `ChatShape.read`."""
        usage = as_mapping(data.get("usage")) or as_mapping(
            as_mapping(data.get("x_groq")).get("usage")
        )
        if usage:
            draft.input_tokens = as_count(usage.get("prompt_tokens"))
            draft.output_tokens = as_count(usage.get("completion_tokens"))
            sent = as_mapping(usage.get("prompt_tokens_details"))
            draft.cached_tokens = as_count(sent.get("cached_tokens")) or 0
            details = as_mapping(usage.get("completion_tokens_details"))
            draft.has_thought |= bool(as_count(details.get("reasoning_tokens")))
        draft.request_id = draft.request_id or as_text(data.get("id"))[:100]
        choices = data.get("choices")
        if not isinstance(choices, list):
            return
        draft.is_reply = True
        choice = as_mapping(choices[0]) if choices else {}
        said = as_mapping(choice.get("message") or choice.get("delta"))
        draft.add(_text(said.get("content")))
        if any(said.get(name) for name in _REASONING):
            draft.think()
        draft.logprobs.extend(read_logprobs(as_mapping(choice.get("logprobs"))))
        draft.refusal += as_text(said.get("refusal"))
        reason = as_text(choice.get("finish_reason"))
        draft.end(reason, cut=_CUT, refused=_REFUSED, failed=_FAILED)


def bearer(endpoint: Endpoint) -> Mapping[str, str]:
    """Return the header that signs a request, none for a keyless server."""
    key = key_of(endpoint)
    return {"authorization": f"Bearer {key}"} if key else {}


def read_logprobs(told: Mapping[str, Any]) -> Iterator[TokenLogprob]:
    """Yield the tokens of a ``logprobs`` object; those without a usable number are left out."""
    for item in map(as_mapping, as_items(told.get("content"))):
        number = as_logprob(item.get("logprob"))
        if number is not None:
            others = map(as_mapping, as_items(item.get("top_logprobs")))
            pairs = ((as_text(o.get("token")), as_logprob(o.get("logprob"))) for o in others)
            alternatives = {token: value for token, value in pairs if value is not None}
            yield TokenLogprob(as_text(item.get("token")), number, alternatives)
    tokens, numbers = as_items(told.get("tokens")), as_items(told.get("token_logprobs"))
    for token, value in zip_longest(tokens, numbers):
        number = as_logprob(value)
        if number is not None:
            yield TokenLogprob(as_text(token), number)


def _text(content: object) -> str:
    """Return the text of a message: a string, or the text among its parts."""
    parts = (as_mapping(part) for part in as_items(content))
    return as_text(content) or "".join(
        as_text(part.get("text")) for part in parts if part.get("type") == "text"
    )


def _response_format(schema: Mapping[str, object]) -> Mapping[str, Any]:
    told = {"name": "reply", "schema": schema, "strict": is_strict(schema)}
    return {"type": "json_schema", "json_schema": told}
