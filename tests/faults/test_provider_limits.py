"""Bombs and keys: memory stays bounded (R21), and no key is ever shown (R25)."""

import base64
import logging
import pickle
import traceback
import tracemalloc

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import BadResponseError, FingerpostError, ResponseTooLargeError
from fingerpost.lanes.providers import load_chat
from fingerpost.lanes.providers.embeddings import RemoteEmbedder
from fingerpost.testing.provider import ProviderServer, faults
from fingerpost.types.chat import ChatRequest, Message

APIS = ["openai", "anthropic", "gemini", "ollama"]
KEY = "sk-canary-0123456789abcdef"
REQUEST = ChatRequest((Message("user", "?"),))
MIB = 2**20


async def ask(endpoint, *, stream):
    model = load_chat(endpoint)
    try:
        if stream:
            async for _ in model.stream(REQUEST):
                pass
        else:
            await model.complete(REQUEST)
    finally:
        await model.close()


def run(api, fault, *, stream, key=KEY):
    with ProviderServer(fault) as server:
        endpoint = Endpoint(api, api, "scripted", server.url, Secret(key), "THE_KEY")
        anyio.run(lambda: ask(endpoint, stream=stream))


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (faults.huge(), ResponseTooLargeError),
        (faults.endless_line(), ResponseTooLargeError),
        (faults.gzip_bomb(300 * MIB), BadResponseError),
    ],
    ids=str,
)
def test_a_bomb_is_stopped_at_the_cap(fault, expected, stream):
    tracemalloc.start()
    try:
        with pytest.raises(expected, match=r"more than|compressed"):
            run("openai", fault, stream=stream)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The bomb itself is made in this process too.
    assert peak < 64 * MIB + (300 * MIB if "gzip" in fault.name else 0)


def echo(exchange_status):
    """Return a fault that says back all it was told, the key in many forms among it."""
    raw = KEY.encode()
    forms = [KEY, base64.b64encode(raw).decode(), base64.b64encode(b"x:" + raw).decode(), KEY[:8]]
    message = " ".join(forms)
    body = {"error": {"message": message, "code": f"bad {KEY}", "type": KEY}, "detail": message}
    headers = {"x-request-id": f"id-{KEY}", "retry-after": KEY, "location": f"http://h/?key={KEY}"}
    return faults.status(exchange_status, headers=headers, body=body)


LEAKS = [
    *(echo(status) for status in (200, 302, 400, 401, 404, 429, 500)),
    faults.raw(f"<html>{KEY}".encode(), "text/html"),
    faults.raw(f"data: {KEY}\n\n".encode(), "text/event-stream"),
    faults.reset(),
    faults.reset(after=20),
    faults.cut(40, silently=False),
    faults.drip("body"),
    faults.gzip_bomb(1000),
]


def shown(error, caplog):
    """Return all that a program might write of an error: also each frame's variables."""
    told = [caplog.text]
    seen = error
    while seen is not None:
        told += [str(seen), repr(seen), repr(vars(seen)), *map(str, getattr(seen, "__notes__", []))]
        seen = seen.__cause__ or seen.__context__
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    # The test's own frames hold the key in plain text.
    return "\n".join(told) + "".join(frames_of_ours(whole))


def frames_of_ours(whole):
    while whole is not None:
        for frame in whole.stack:
            # The HTTP client's own hold the signed request.
            assert "httpcore2" not in frame.filename
            if "/tests/" not in frame.filename:
                yield f"{frame.name}: {frame.locals}\n"
        whole = whole.__cause__ or whole.__context__


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("fault", LEAKS, ids=str)
@pytest.mark.parametrize("api", APIS)
def test_no_key_in_errors_logs_or_variables_of_a_traceback(api, fault, stream, caplog):
    caplog.set_level(logging.DEBUG)
    with ProviderServer(fault) as server:
        endpoint = Endpoint(api, api, "scripted", server.url, Secret(KEY), "THE_KEY")
        with pytest.raises(FingerpostError) as caught:
            anyio.run(lambda: impatient(endpoint, stream=stream))
    text = shown(caught.value, caplog)
    raw = KEY.encode()
    for form in (
        KEY,
        KEY[:8],
        base64.b64encode(raw).decode()[:-4],
        base64.b64encode(b"x:" + raw).decode()[4:-4],
    ):
        assert form not in text


async def impatient(endpoint, *, stream):
    with anyio.fail_after(5):
        model = load_chat(endpoint)
        request = ChatRequest(REQUEST.messages, deadline=anyio.current_time() + 0.2)
        try:
            if stream:
                async for _ in model.stream(request):
                    pass
            else:
                await model.complete(request)
        finally:
            await model.close()


def test_no_key_in_what_holds_one():
    with ProviderServer() as server:
        endpoint = Endpoint("openai", "openai", "scripted", server.url, Secret(KEY), "THE_KEY")
        model, embedder = load_chat(endpoint), RemoteEmbedder(endpoint)
        for holder in (endpoint, model, embedder, vars(model), vars(embedder)):
            assert KEY[:8] not in repr(holder)
            assert KEY[:8] not in str(holder)
        with pytest.raises((TypeError, pickle.PicklingError)):
            pickle.dumps(endpoint)
        embedder.close()
