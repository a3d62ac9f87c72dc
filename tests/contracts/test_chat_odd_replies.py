"""Replies that servers give although no API describes them so, held against a scripted provider."""

import gzip
import json

import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    EmptyCompletionError,
    ModelNotFoundError,
    ProviderOverloadedError,
    ProviderUnavailableError,
    QuotaError,
    RateLimitedError,
    StreamTruncatedError,
)
from fingerpost.lanes.providers import load_chat
from fingerpost.testing.provider import Answer, Fault, ProviderServer, faults, wire
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio

APIS = ["openai", "anthropic", "gemini", "ollama"]
TEXT = "It rotates every ninety days."
REQUEST = ChatRequest((Message("user", "How often?"),))
SCHEMA = {
    "type": "object",
    "properties": {"tier": {"type": "integer"}},
    "required": ["tier"],
    "additionalProperties": False,
}
QUOTA = {"error": {"message": "used up", "code": "insufficient_quota"}}


@pytest.fixture(params=APIS)
def api(request):
    return request.param


async def ask(api, script, request=REQUEST, *, stream=True):
    """Return the reply to one call of the model behind a server that follows the script."""
    with ProviderServer(script) as server:
        model = load_chat(Endpoint(api, api, "scripted", server.url, Secret("sk-canary-01234567")))
        try:
            if not stream:
                return await model.complete(request)
            *_, response = [item async for item in model.stream(request)]
            return response
        finally:
            await model.close()


def events(*chunks):
    return "".join(f"data: {chunk}\n\n" for chunk in chunks).encode()


def piece(text="", reason=None):
    return json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": reason}]})


def event_stream(body, content_type="text/event-stream"):
    return faults.raw(body, content_type)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("encoding", ["gzip", "br"])
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, AuthenticationError),
        (404, ModelNotFoundError),
        (429, RateLimitedError),
        (503, ProviderUnavailableError),
        (529, ProviderOverloadedError),
    ],
)
async def test_an_error_with_a_compressed_body_is_what_its_status_says(
    api, status, error, encoding, stream
):
    headers = {"content-encoding": encoding, "retry-after": "7"}
    fault = faults.status(status, headers=headers, body=gzip.compress(b"{}"))
    with pytest.raises(error) as caught:
        await ask(api, fault, stream=stream)
    assert (caught.value.status, caught.value.retry_after_s) == (status, 7)
    assert str(caught.value) == f"{api}/scripted answered {status}."


async def test_a_body_that_says_it_is_encoded_in_no_way_is_read():
    body = json.dumps({"choices": [{"message": {"content": TEXT}}]}).encode()
    fault = faults.raw(body, headers={"content-encoding": ""})
    assert (await ask("openai", fault, stream=False)).text == TEXT


async def test_an_end_event_ends_a_reply_without_a_reason_to_stop():
    fault = event_stream(events(piece(TEXT), "[DONE]"))
    assert (await ask("openai", fault)).text == TEXT
    said = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": TEXT}},
        {"type": "message_stop"},
    ]
    fault = event_stream(events(*map(json.dumps, said)))
    assert (await ask("anthropic", fault)).text == TEXT


async def test_an_end_event_after_nothing_is_an_empty_reply():
    with pytest.raises(EmptyCompletionError):
        await ask("openai", event_stream(events("[DONE]")))


async def test_neither_a_reason_nor_an_end_event_is_a_cut():
    with pytest.raises(StreamTruncatedError):
        await ask("openai", event_stream(events(piece(TEXT))))


@pytest.mark.parametrize(
    "told",
    [QUOTA, {"object": "error", "message": "used up", "code": "insufficient_quota"}],
    ids=["error", "object"],
)
@pytest.mark.parametrize("is_first", [True, False])
async def test_an_error_before_the_end_event_is_no_answer(told, is_first):
    chunks = [json.dumps(told), "[DONE]"] if is_first else [piece(TEXT), json.dumps(told), "[DONE]"]
    with pytest.raises(QuotaError if is_first else StreamTruncatedError) as caught:
        await ask("openai", event_stream(events(*chunks)))
    assert isinstance(caught.value if is_first else caught.value.__cause__, QuotaError)


async def test_an_event_that_is_named_error_is_one_whatever_its_fields():
    named = b'event: error\ndata: {"message": "no memory", "code": 500}\n\n'
    with pytest.raises(StreamTruncatedError) as caught:
        await ask("openai", event_stream(events(piece(TEXT)) + named + events("[DONE]")))
    assert "no memory" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    "reason", ["error", "abort", "aborted", "cancelled", "timeout", "insufficient_system_resource"]
)
async def test_a_reply_that_was_interrupted_is_no_answer(reason):
    whole = {"choices": [{"message": {"content": "It rot"}, "finish_reason": reason}]}
    with pytest.raises(BadResponseError):
        await ask("openai", faults.raw(whole), stream=False)
    with pytest.raises(StreamTruncatedError) as caught:
        await ask("openai", event_stream(events(piece("It rot"), piece("", reason), "[DONE]")))
    assert caught.value.text == "It rot"


TYPES = ["Application/JSON; charset=UTF-8", "text/plain", "text/event-stream", "", "x/y"]


@pytest.mark.parametrize("content_type", TYPES)
@pytest.mark.parametrize("indent", [None, 2])
async def test_a_whole_reply_to_a_request_for_a_stream_is_read_whatever_its_type(
    api, content_type, indent
):
    if api == "ollama" and indent:
        pytest.skip("Ollama's streams have one JSON object to a line")

    async def play(exchange):
        body = json.dumps(wire.whole(exchange.received, Answer(TEXT)), indent=indent)
        await exchange.reply(200, body.encode(), {"content-type": content_type})

    assert (await ask(api, Fault("whole", play))).text == TEXT


@pytest.mark.parametrize("content_type", TYPES)
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (json.dumps(QUOTA).encode(), QuotaError),
        (b"\xef\xbb\xbf" + json.dumps(QUOTA, indent=1).encode(), QuotaError),
        (b"<!DOCTYPE html>\n\n<title>Please log in</title>\n", BadResponseError),
        (b'{"choices": [{"message": {"conte', StreamTruncatedError),
        (b"[" * 5000, BadResponseError),
    ],
    ids=["error", "error with a mark", "page", "cut", "nested"],
)
async def test_what_is_no_stream_is_named_as_what_it_is_whatever_its_type(
    content_type, body, error
):
    if error is StreamTruncatedError and "JSON" in content_type:
        pytest.skip("the length of a body of JSON tells whether it was cut")
    with pytest.raises(error):
        await ask("openai", event_stream(body, content_type))


@pytest.mark.parametrize("before", [b"{}\n\n", b"<p>\n", b": hello\n\n", b"retry: 3\n\n"])
async def test_lines_before_the_first_event_do_no_harm(before):
    assert (await ask("openai", event_stream(before + events(piece(TEXT, "stop"))))).text == TEXT


@pytest.mark.parametrize("stream", [True, False])
async def test_a_request_that_was_rejected_before_it_was_accepted_stands_in_usage(api, stream):
    request = ChatRequest(REQUEST.messages, schema=SCHEMA)
    script = [faults.status(400, "invalid_request_error"), '{"tier": 1}']
    response = await ask(api, script, request, stream=stream)
    assert response.usage == (
        Usage("generate", f"{api}/scripted", 0, outcome="RequestRejectedError"),
        Usage("generate", f"{api}/scripted", 11, 7),
    )


async def test_a_request_that_was_rejected_and_then_failed_has_both_in_the_usage_of_its_error(api):
    request = ChatRequest(REQUEST.messages, schema=SCHEMA)
    script = [faults.status(400, "invalid_request_error"), faults.status(429, "rate_limit_error")]
    with pytest.raises(RateLimitedError) as caught:
        await ask(api, script, request)
    assert [item.outcome for item in caught.value.usage] == [
        "RequestRejectedError",
        "RateLimitedError",
    ]
