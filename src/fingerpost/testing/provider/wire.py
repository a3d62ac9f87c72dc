"""The wire shapes of the providers, from the side of the server."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from fingerpost.testing.provider.answer import Answer, Received
from fingerpost.testing.provider.decided import Decided, api_of, questions_of, whole_decision
from fingerpost.testing.provider.ranked import shared_words, whole_ranking

__all__ = [
    "CONTENT_TYPES",
    "end_only",
    "error_body",
    "events",
    "idle_event",
    "models",
    "read",
    "vectors",
    "whole",
]

_PATHS: Final = (
    (re.compile(r"/chat/completions$"), "openai", "chat"),
    (re.compile(r"/v1/embeddings$"), "openai", "embed"),
    (re.compile(r"/v1/messages$"), "anthropic", "chat"),
    (re.compile(r"/models/([^/:]+):(?:generateContent|streamGenerateContent)$"), "gemini", "chat"),
    (re.compile(r"/models/([^/:]+):batchEmbedContents$"), "gemini", "embed"),
    (re.compile(r"/api/chat$"), "ollama", "chat"),
    (re.compile(r"/api/embed$"), "ollama", "embed"),
    (re.compile(r"/v1beta/models$"), "gemini", "models"),
    (re.compile(r"/api/tags$"), "ollama", "models"),
    (re.compile(r"/models$"), "openai", "models"),
    (re.compile(r"/rerank$"), "rerank", "rerank"),
)
CONTENT_TYPES: Final = {"ollama": "application/x-ndjson"}
"""Of a stream; ``text/event-stream`` for all others."""
_OPENAI_HEAD: Final = {"id": "chatcmpl-1", "created": 1_800_000_000}
_SCHEMA_PATHS: Final = {
    "openai": ("response_format", "json_schema", "schema"),
    "anthropic": ("output_config", "format", "schema"),
    "gemini": ("generationConfig", "responseJsonSchema"),
    "ollama": ("format",),
}
_STOPS: Final = {
    "openai": {"complete": "stop", "length": "length", "refused": "content_filter"},
    "anthropic": {"complete": "end_turn", "length": "max_tokens", "refused": "refusal"},
    "gemini": {"complete": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"},
    "ollama": {"complete": "stop", "length": "length", "refused": "stop"},
}


def read(method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Received:
    """Return what a request asks for, by its path and body."""
    bare = path.partition("?")[0]
    found = next(((m, api, kind) for p, api, kind in _PATHS if (m := p.search(bare))), None)
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        body = {}
    if isinstance(body, dict) and (api := api_of(body)):  # at whatever path: it tells nothing
        model, questions = str(body.get("model", "")), questions_of(body)
        return Received(
            api, "decide", method, path, headers, body, raw, model=model, questions=questions
        )
    if found is None or not isinstance(body, dict):
        return Received("", "", method, path, headers, {}, raw)
    match, api, kind = found
    if kind == "models" and "x-goog-api-key" in headers:
        api = "gemini"  # whose path is that of others in version v1
    in_path = match.group(1) if match.re.groups else ""
    return Received(
        api,
        kind,
        method,
        path,
        headers,
        body,
        raw,
        model=in_path or str(body.get("model", "")),
        stream=_wants_stream(api, bare, body),
        messages=_messages(api, body) if kind == "chat" else (),
        texts=_texts(api, body) if kind in {"embed", "rerank"} else (),
        schema=_schema(api, body) if kind == "chat" else None,
    )


def whole(received: Received, answer: Answer) -> Mapping[str, Any]:
    """Return the answer as one JSON object; to any request but for chat, the usual one."""
    if received.kind == "decide":
        return whole_decision(received, Decided())
    if received.kind == "rerank":
        return whole_ranking(received, shared_words(received))
    return _WHOLE[received.api](received, answer)


def events(received: Received, answer: Answer) -> list[bytes]:
    """Return the answer as the events of a stream: a first one, one a piece, and its end."""
    return _EVENTS[received.api](received, answer)


def end_only(received: Received) -> bytes:
    """Return the event that ends a stream, without any text before it."""
    return events(received, Answer())[-1]


def idle_event(api: str) -> bytes:
    """Return an event that says only that the line is open; a blank where there are no streams."""
    return _IDLE.get(api, b" ")


def error_body(api: str, status: int, code: str, message: str) -> Mapping[str, Any]:
    """Return the body of an error."""
    if api == "anthropic":
        return {"type": "error", "error": {"type": code, "message": message}}
    if api == "gemini":
        return {"error": {"code": status, "status": code.upper(), "message": message}}
    if api == "ollama":
        return {"error": message}
    if api == "systemone":
        return {"detail": {"error_type": code, "message": message}}
    return {"error": {"message": message, "type": "scripted", "code": code, "param": None}}


def error_event(api: str, code: str, message: str) -> bytes:
    """Return an error as it stands in a stream that began well."""
    body = error_body(api, 500, code, message)
    if api == "ollama":
        return _line(body)
    return _event(body, "error" if api == "anthropic" else "")


def vectors(received: Received, items: Sequence[tuple[int, Sequence[float]]]) -> Mapping[str, Any]:
    """Return vectors, each with the index of the text it is for."""
    if received.api == "gemini":
        return {"embeddings": [{"values": list(vector)} for _, vector in items]}
    if received.api == "ollama":
        return {"model": received.model, "embeddings": [list(vector) for _, vector in items]}
    data = [
        {"object": "embedding", "index": index, "embedding": list(vector)}
        for index, vector in items
    ]
    n_tokens = sum(len(text.split()) for text in received.texts)
    usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
    head = {"id": "embd-1", "object": "list", "model": received.model}
    return {**head, "data": data, "usage": usage}


def models(api: str, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the list of the models that are served."""
    if api == "gemini":
        return {"models": [{"name": f"models/{name}"} for name in names]}
    if api == "ollama":
        told = ((name, hashlib.sha256(name.encode()).hexdigest()) for name in names)
        return {"models": [{"name": name, "model": name, "digest": sha} for name, sha in told]}
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


def _wants_stream(api: str, path: str, body: Mapping[str, Any]) -> bool:
    if api == "gemini":
        return path.endswith(":streamGenerateContent")
    return bool(body.get("stream", api == "ollama"))


def _messages(api: str, body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    if api == "gemini":
        system = body.get("systemInstruction", {}).get("parts", [])
        turns = [("system", "".join(p["text"] for p in system))] if system else []
        for turn in body.get("contents", []):
            role = "assistant" if turn.get("role") == "model" else "user"
            turns.append((role, "".join(part["text"] for part in turn["parts"])))
        return tuple(turns)
    system_text = body.get("system", "")
    first = (("system", system_text),) if system_text else ()
    return first + tuple((m["role"], m["content"]) for m in body.get("messages", []))


def _schema(api: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    path = _SCHEMA_PATHS[api]
    found: Any = body
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _texts(api: str, body: Mapping[str, Any]) -> tuple[str, ...]:
    if api == "gemini":
        contents = [item["content"]["parts"] for item in body.get("requests", [])]
        return tuple("".join(part["text"] for part in parts) for parts in contents)
    given = body.get("documents" if api == "rerank" else "input", [])
    return (given,) if isinstance(given, str) else tuple(given)


def _event(data: Mapping[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _stop(received: Received, answer: Answer) -> str:
    return _STOPS[received.api][answer.stop]


def _openai_usage(answer: Answer) -> Mapping[str, Any]:
    if answer.usage is None:
        return {}
    n_in, n_out = answer.usage
    told = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
    return {"usage": {**told, "prompt_tokens_details": {"cached_tokens": answer.cached}}}


def _openai_logprobs(received: Received, answer: Answer) -> Mapping[str, Any]:
    if not received.body.get("logprobs") or not answer.logprobs:
        return {}
    told = [
        {"token": t, "logprob": n, "top_logprobs": [{"token": t, "logprob": n}]}
        for t, n in answer.logprobs
    ]
    return {"logprobs": {"content": told}}


def _openai_whole(received: Received, answer: Answer) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": _stop(received, answer),
        **_openai_logprobs(received, answer),
    }
    head = {**_OPENAI_HEAD, "object": "chat.completion", "model": received.model}
    return {**head, "choices": [choice], **_openai_usage(answer)}


def _openai_events(received: Received, answer: Answer) -> list[bytes]:
    head = {**_OPENAI_HEAD, "object": "chat.completion.chunk", "model": received.model}

    def chunk(delta: Mapping[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, **more}
        return _event({**head, "choices": [choice]})

    thought = [chunk({"reasoning_content": answer.reasoning})] if answer.reasoning else []
    ending = chunk({}, _stop(received, answer), **_openai_logprobs(received, answer))
    wants_usage = received.body.get("stream_options", {}).get("include_usage")
    usage = _openai_usage(answer) if wants_usage else {}
    if usage:
        ending += _event({**head, "choices": [], **usage})
    return [
        chunk({"role": "assistant", "content": ""}),
        *thought,
        *(chunk({"content": piece}) for piece in answer.cut_up),
        ending + b"data: [DONE]\n\n",
    ]


def _anthropic_usage(answer: Answer) -> tuple[Mapping[str, int], Mapping[str, int]]:
    n_in, n_out = answer.usage or (0, 0)
    sent = {"input_tokens": n_in - answer.cached, "cache_read_input_tokens": answer.cached}
    return sent, {"output_tokens": n_out}


def _anthropic_whole(received: Received, answer: Answer) -> Mapping[str, Any]:
    content = [{"type": "thinking", "thinking": answer.reasoning}] if answer.reasoning else []
    content.append({"type": "text", "text": answer.text})
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": received.model,
        "content": content,
        "stop_reason": _stop(received, answer),
    }
    if answer.usage is None:
        return message
    counted_in, counted_out = _anthropic_usage(answer)
    return {**message, "usage": {**counted_in, **counted_out}}


def _anthropic_events(received: Received, answer: Answer) -> list[bytes]:
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant"}
    counts = [{"usage": told} if answer.usage else {} for told in _anthropic_usage(answer)]
    message |= {"model": received.model, "content": [], **counts[0]}

    def event(name: str, **data: Any) -> bytes:
        return _event({"type": name, **data}, name)

    def delta(kind: str, field: str, text: str) -> bytes:
        return event("content_block_delta", index=0, delta={"type": kind, field: text})

    block = {"type": "text", "text": ""}
    start = event("message_start", message=message) + event("ping")
    start += event("content_block_start", index=0, content_block=block)
    thought = [delta("thinking_delta", "thinking", answer.reasoning)] if answer.reasoning else []
    ending = event("content_block_stop", index=0) + event(
        "message_delta",
        delta={"stop_reason": _stop(received, answer)},
        **counts[1],
    )
    pieces = (delta("text_delta", "text", piece) for piece in answer.cut_up)
    return [start, *thought, *pieces, ending + event("message_stop")]


def _gemini_part(
    received: Received, answer: Answer, parts: Sequence[Mapping[str, Any]], *, last: bool
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    data: dict[str, Any] = {"candidates": [candidate], "responseId": "gem-1"}
    if last:
        candidate["finishReason"] = _stop(received, answer)
        if answer.usage is not None:
            n_in, n_out = answer.usage
            told_of = {"promptTokenCount": n_in, "candidatesTokenCount": n_out}
            data["usageMetadata"] = {**told_of, "cachedContentTokenCount": answer.cached}
        if answer.logprobs and received.body.get("generationConfig", {}).get("responseLogprobs"):
            told = [{"token": t, "logProbability": n} for t, n in answer.logprobs]
            tops = [{"candidates": [item]} for item in told]
            candidate["logprobsResult"] = {"chosenCandidates": told, "topCandidates": tops}
    return data


def _gemini_thoughts(answer: Answer) -> list[Mapping[str, Any]]:
    return [{"text": answer.reasoning, "thought": True}] if answer.reasoning else []


def _gemini_whole(received: Received, answer: Answer) -> Mapping[str, Any]:
    parts = [*_gemini_thoughts(answer), {"text": answer.text}]
    return _gemini_part(received, answer, parts, last=True)


def _gemini_events(received: Received, answer: Answer) -> list[bytes]:
    def event(parts: Sequence[Mapping[str, Any]], *, last: bool = False) -> bytes:
        return _event(_gemini_part(received, answer, parts, last=last))

    thoughts = _gemini_thoughts(answer)
    pieces = [event([{"text": piece}]) for piece in answer.cut_up]
    return [b"", *([event(thoughts)] if thoughts else []), *pieces, event([], last=True)]


def _ollama_part(received: Received, answer: Answer, text: str, *, last: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    data: dict[str, Any] = {"model": received.model, "message": message, "done": last}
    if last:
        data["done_reason"] = _stop(received, answer)
        if answer.usage is not None:
            data["prompt_eval_count"], data["eval_count"] = answer.usage
        if answer.logprobs and received.body.get("logprobs"):
            told = [{"token": t, "logprob": n} for t, n in answer.logprobs]
            data["logprobs"] = [{**item, "top_logprobs": [item]} for item in told]
    return data


def _ollama_whole(received: Received, answer: Answer) -> Mapping[str, Any]:
    data = _ollama_part(received, answer, answer.text, last=True)
    if answer.reasoning:
        data["message"]["thinking"] = answer.reasoning
    return data


def _ollama_events(received: Received, answer: Answer) -> list[bytes]:
    first = b""
    if answer.reasoning:
        data = _ollama_part(received, answer, "", last=False)
        data["message"]["thinking"] = answer.reasoning
        first = _line(data)
    pieces = (_line(_ollama_part(received, answer, p, last=False)) for p in answer.cut_up)
    return [first, *pieces, _line(_ollama_part(received, answer, "", last=True))]


_IDLE: Final = {
    "openai": _event({"choices": [{"index": 0, "delta": {}, "finish_reason": None}]}),
    "anthropic": _event({"type": "ping"}, "ping"),
    "gemini": _event({"candidates": [{"content": {"parts": []}}]}),
    "ollama": _line({"message": {"role": "assistant", "content": ""}, "done": False}),
}
_WHOLE: Final[Mapping[str, Callable[[Received, Answer], Mapping[str, Any]]]] = {
    "openai": _openai_whole,
    "anthropic": _anthropic_whole,
    "gemini": _gemini_whole,
    "ollama": _ollama_whole,
}
_EVENTS: Final[Mapping[str, Callable[[Received, Answer], list[bytes]]]] = {
    "openai": _openai_events,
    "anthropic": _anthropic_events,
    "gemini": _gemini_events,
    "ollama": _ollama_events,
}
