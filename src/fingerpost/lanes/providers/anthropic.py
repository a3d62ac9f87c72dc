"""The Messages API of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.draft import Draft
from fingerpost.lanes.providers.fields import as_count, as_items, as_mapping, as_text
from fingerpost.lanes.providers.schema_note import is_strict, schema_note
from fingerpost.lanes.providers.shape import key_of, split_system
from fingerpost.types.chat import ChatRequest

__all__ = ["AnthropicShape"]

_VERSION: Final = "2023-06-01"
_MAX_TOKENS: Final = 4096  # the API has no default
_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
_REFUSED: Final = frozenset({"refusal"})
_THINKING: Final = frozenset({"thinking_delta", "signature_delta"})
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


class AnthropicShape:
    """``POST /v1/messages``; a stream of server-sent events ends with ``message_stop``."""

    has_events = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def url(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - of the protocol
        """Return the address; the model stands in the body."""
        return api_url(self._endpoint.base_url, "v1", "messages")

    def headers(self) -> Mapping[str, str]:
        """Return the version of the API and the key, when there is one."""
        key = key_of(self._endpoint)
        return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}

    def body(
        self, request: ChatRequest, model: str, *, stream: bool, plain: bool
    ) -> Mapping[str, Any]:
        """Return the request. A schema that cannot constrain decoding goes into the prompt.

        Without a temperature, which the models of today refuse.
        """
        schema = request.schema
        is_constrained = schema is not None and not plain and is_strict(schema)
        note = schema_note(schema) if schema is not None and not is_constrained else ""
        system, others = split_system(request, note)
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": request.max_tokens or _MAX_TOKENS,
            "messages": [{"role": role, "content": text} for role, text in others],
        }
        if system:
            body["system"] = system
        if stream:
            body["stream"] = True
        if is_constrained:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def read(self, data: Mapping[str, Any], draft: Draft) -> None:
        """Read a message or an event of a stream. See `ChatShape.read`."""
        match as_text(data.get("type")):
            case "message":
                self._read_message(data, draft)
            case "message_start":
                self._read_head(as_mapping(data.get("message")), draft)
            case "content_block_delta":
                delta = as_mapping(data.get("delta"))
                draft.add(as_text(delta.get("text")))
                if as_text(delta.get("type")) in _THINKING:
                    draft.think()
            case "message_delta":
                self._read_usage(data, draft)
                self._read_stop(as_mapping(data.get("delta")), draft)
            case "message_stop":
                draft.is_over = draft.is_ended = True

    def _read_message(self, data: Mapping[str, Any], draft: Draft) -> None:
        self._read_head(data, draft)
        for block in map(as_mapping, as_items(data.get("content"))):
            draft.has_thought |= as_text(block.get("type")) in _THOUGHTS
            if block.get("type") == "text":
                draft.add(as_text(block.get("text")))
        self._read_stop(data, draft)

    def _read_head(self, message: Mapping[str, Any], draft: Draft) -> None:
        draft.is_reply |= isinstance(message.get("content"), list)
        draft.request_id = as_text(message.get("id"))[:100]
        self._read_usage(message, draft)

    @staticmethod
    def _read_usage(data: Mapping[str, Any], draft: Draft) -> None:
        """Take the counts that are told; those of a cached prompt count as sent."""
        usage = as_mapping(data.get("usage"))
        sent = as_count(usage.get("input_tokens"))
        if sent is not None:
            kept = as_count(usage.get("cache_creation_input_tokens")) or 0
            draft.cached_tokens = as_count(usage.get("cache_read_input_tokens")) or 0
            draft.input_tokens = sent + kept + draft.cached_tokens
        received = as_count(usage.get("output_tokens"))
        if received is not None:
            draft.output_tokens = received

    @staticmethod
    def _read_stop(data: Mapping[str, Any], draft: Draft) -> None:
        draft.end(as_text(data.get("stop_reason")), cut=_CUT, refused=_REFUSED)
