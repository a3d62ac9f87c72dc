"""The generateContent API of Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url, path_name
from fingerpost.lanes.providers.draft import Draft
from fingerpost.lanes.providers.fields import as_count, as_items, as_logprob, as_mapping, as_text
from fingerpost.lanes.providers.schema_note import schema_note
from fingerpost.lanes.providers.shape import key_of, split_system
from fingerpost.types.chat import ChatRequest, TokenLogprob

__all__ = ["GeminiShape", "api_key"]

_CUT: Final = frozenset({"MAX_TOKENS"})
_REFUSED: Final = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
    }
)
_FAILED: Final = frozenset(
    {
        "OTHER",
        "FINISH_REASON_UNSPECIFIED",
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
    }
)


class GeminiShape:
    """``POST /v1beta/models/NAME:generateContent``; a stream has no end event of its own."""

    has_events = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def url(self, model: str, *, stream: bool) -> str:
        """Return the address, the model's name in its path."""
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        path = f"models/{path_name(model)}:{method}"
        return api_url(self._endpoint.base_url, "v1beta", path)

    def headers(self) -> Mapping[str, str]:
        """Return the key's header, when there is a key; never a query parameter."""
        return api_key(self._endpoint)

    def body(
        self,
        request: ChatRequest,
        model: str,  # noqa: ARG002 - of the protocol
        *,
        stream: bool,  # noqa: ARG002 - of the protocol
        plain: bool,
    ) -> Mapping[str, Any]:
        """Return the request; model and stream stand in the address."""
        schema = request.schema
        note = schema_note(schema) if schema is not None and plain else ""
        system, others = split_system(request, note)
        body: dict[str, Any] = {
            "contents": [
                {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}
                for role, text in others
            ]
        }
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        config: dict[str, Any] = {}
        if request.max_tokens is not None:
            config["maxOutputTokens"] = request.max_tokens
        if request.temperature is not None and not plain:
            config["temperature"] = request.temperature
        if schema is not None and not plain:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
        if request.top_logprobs and not plain:
            config |= {"responseLogprobs": True, "logprobs": request.top_logprobs}
        if config:
            body["generationConfig"] = config
        return body

    def read(self, data: Mapping[str, Any], draft: Draft) -> None:
        """Read a reply or a part of a streamed one: both have the same shape."""
        self._read_usage(as_mapping(data.get("usageMetadata")), draft)
        draft.request_id = draft.request_id or as_text(data.get("responseId"))[:100]
        blocked = as_text(as_mapping(data.get("promptFeedback")).get("blockReason"))
        if blocked:
            draft.is_reply, draft.is_ended, draft.refusal = True, True, blocked
        candidates = data.get("candidates")
        if not isinstance(candidates, list):
            return
        draft.is_reply = True
        candidate = as_mapping(candidates[0]) if candidates else {}
        for part in map(as_mapping, as_items(as_mapping(candidate.get("content")).get("parts"))):
            if part.get("thought") is True:
                draft.think()
            else:
                draft.add(as_text(part.get("text")))
        draft.logprobs.extend(_logprobs(as_mapping(candidate.get("logprobsResult"))))
        reason = as_text(candidate.get("finishReason"))
        draft.end(reason, cut=_CUT, refused=_REFUSED, failed=_FAILED)

    @staticmethod
    def _read_usage(usage: Mapping[str, Any], draft: Draft) -> None:
        """Take the counts, each of which grows from part to part; thoughts count as received."""
        names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        sent, received, thought = (as_count(usage.get(name)) for name in names)
        if sent is not None:
            draft.input_tokens = sent
            draft.cached_tokens = as_count(usage.get("cachedContentTokenCount")) or 0
        if received is not None or thought is not None:
            draft.output_tokens = (received or 0) + (thought or 0)
        draft.has_thought |= bool(thought)


def api_key(endpoint: Endpoint) -> Mapping[str, str]:
    """Return the header that signs a request, none for a keyless server."""
    key = key_of(endpoint)
    return {"x-goog-api-key": key} if key else {}


def _logprobs(told: Mapping[str, Any]) -> Iterator[TokenLogprob]:
    chosen, tops = as_items(told.get("chosenCandidates")), as_items(told.get("topCandidates"))
    for item, top in zip_longest(chosen, tops):
        token = as_mapping(item)
        number = as_logprob(token.get("logProbability"))
        if number is not None:
            others = map(as_mapping, as_items(as_mapping(top).get("candidates")))
            pairs = ((as_text(o.get("token")), as_logprob(o.get("logProbability"))) for o in others)
            alternatives = {name: value for name, value in pairs if value is not None}
            yield TokenLogprob(as_text(token.get("token")), number, alternatives)
