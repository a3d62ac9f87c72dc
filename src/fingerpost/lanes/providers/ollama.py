"""The native chat API of Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.address import api_url
from fingerpost.lanes.providers.draft import Draft
from fingerpost.lanes.providers.fields import as_count, as_text
from fingerpost.lanes.providers.openai import bearer, read_logprobs
from fingerpost.lanes.providers.schema_note import schema_note
from fingerpost.lanes.providers.shape import split_system
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.chat import ChatRequest

__all__ = ["OllamaShape", "server_root"]

_CUT: Final = frozenset({"length"})
# Ollama drops the beginning of what does not fit into its window, without a word; the default
# window of many versions is 4,096 tokens.
_WINDOW: Final = 4096
_ANSWER: Final = 1024
_MARGIN: Final = 1.25


class OllamaShape:
    """``POST /api/chat``; a stream has one JSON object to a line, the last with ``done``."""

    has_events = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def url(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - of the protocol
        """Return the address; the model stands in the body."""
        return api_url(server_root(self._endpoint.base_url), "", "api/chat")

    def headers(self) -> Mapping[str, str]:
        """Return the bearer token of a hosted server, none for one's own."""
        return bearer(self._endpoint)

    def body(
        self, request: ChatRequest, model: str, *, stream: bool, plain: bool
    ) -> Mapping[str, Any]:
        """Return the request, with a window that holds all of it."""
        schema = request.schema
        note = schema_note(schema) if schema is not None and plain else ""
        system, others = split_system(request, note)
        messages = [("system", system)] if system else []
        messages += others
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "stream": stream,
        }
        options: dict[str, Any] = {}
        window = _window(request, messages)
        if window > _WINDOW:
            options["num_ctx"] = window
        if request.max_tokens is not None:
            options["num_predict"] = request.max_tokens
        if request.temperature is not None and not plain:
            options["temperature"] = request.temperature
        if options:
            body["options"] = options
        if schema is not None and not plain:
            body["format"] = schema
        if request.top_logprobs and not plain:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        return body

    def read(self, data: Mapping[str, Any], draft: Draft) -> None:
        """Read a reply or a line of a streamed one: both have the same shape."""
        message = data.get("message")
        if isinstance(message, dict):
            draft.is_reply = True
            draft.add(as_text(message.get("content")))
            if message.get("thinking"):
                draft.think()
        draft.logprobs.extend(read_logprobs({"content": data.get("logprobs")}))
        if data.get("done") is True:
            draft.is_over = True
            draft.end(as_text(data.get("done_reason")) or "stop", cut=_CUT)
            draft.input_tokens = as_count(data.get("prompt_eval_count"))
            draft.output_tokens = as_count(data.get("eval_count"))


def server_root(base_url: str) -> str:
    """Return the address of the server itself, for one given with the path of an API."""
    root = base_url.strip().rstrip("/")
    return root.removesuffix("/v1").removesuffix("/api")


def _window(request: ChatRequest, messages: list[tuple[str, str]]) -> int:
    """Return the next power of two of tokens that prompt and answer need.

    Few sizes: the server loads the model anew for each.
    """
    prompt = sum(estimate_tokens(text) for _, text in messages) * _MARGIN
    return 1 << max(0, int(prompt + (request.max_tokens or _ANSWER)) - 1).bit_length()
