"""The layer below the adapters: limits by the clock, one origin for a key, few connections."""

import time

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    BadResponseError,
    ConfigError,
    ProviderUnreachableError,
    StreamTruncatedError,
)
from fingerpost.lanes.providers import load_chat
from fingerpost.lanes.providers.http import Http
from fingerpost.lanes.providers.limits import chat_limits, embedding_limits
from fingerpost.testing.provider import Answer, ProviderServer, faults
from fingerpost.types.chat import ChatRequest, Message

pytestmark = pytest.mark.anyio

KEY = Secret("sk-canary-0123456789abcdef")
REQUEST = ChatRequest((Message("user", "?"),))


def endpoint(server, key=KEY):
    return Endpoint("openai", "openai", "scripted", server.url, key)


class Clock:
    """Real time and whatever is added to it."""

    def __init__(self, per_look=0.0):
        self.ahead = 0.0
        self.per_look = per_look

    def __call__(self):
        self.ahead += self.per_look
        return time.monotonic() + self.ahead


async def test_silence_after_a_piece_ends_a_stream_after_twenty_seconds():
    clock = Clock()
    with ProviderServer(faults.hold(1, Answer("one two"))) as server:
        model = load_chat(endpoint(server), clock=clock)
        pieces = model.stream(REQUEST)
        assert await anext(pieces) == "one"
        clock.ahead += 20.5
        with pytest.raises(StreamTruncatedError) as caught:
            await anext(pieces)
        await model.close()
    assert caught.value.__cause__.phase == "idle"
    assert caught.value.text == "one"


@pytest.mark.parametrize("where", ["comments", "events"])
@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini", "ollama"])
async def test_signs_of_life_without_content_do_not_count(api, where):
    with ProviderServer(faults.drip(where, every_s=0.001)) as server:
        place = Endpoint(api, api, "scripted", server.url, KEY)
        model = load_chat(place, clock=Clock(per_look=0.5))
        with pytest.raises(Exception, match="idle"):
            async for _ in model.stream(REQUEST):
                pass
        await model.close()


@pytest.mark.parametrize(
    ("job", "stream", "key", "first_byte_s", "total_s"),
    [
        ("generate", True, KEY, 20, 90),
        ("generate", False, KEY, 90, 90),
        ("generate", True, None, 90, 90),
        ("classify", True, KEY, 20, 20),
        ("decide", False, KEY, 20, 20),
        ("judge", True, KEY, 20, 30),
    ],
)
async def test_limits_depend_on_the_job_and_on_who_is_asked(
    job, stream, key, first_byte_s, total_s
):
    limits = chat_limits(Endpoint("openai", "openai", "m", "http://h", key), job, stream=stream)
    assert (limits.first_byte_s, limits.total_s) == (first_byte_s, total_s)
    assert (limits.idle_s, limits.max_bytes) == (20, 8 * 2**20)


async def test_a_question_is_embedded_in_ten_seconds_and_a_batch_in_sixty():
    assert [embedding_limits(n).total_s for n in (1, 2, 100)] == [10, 60, 60]
    assert embedding_limits(1).max_bytes == 64 * 2**20


@pytest.mark.parametrize(
    "change",
    [
        lambda url: url.replace("http:", "https:"),
        lambda url: url.replace("127.0.0.1", "localhost"),
        lambda url: url.replace("127.0.0.1", "127.0.0.1.evil.example"),
        lambda url: url + "1",
        lambda _: "http://127.0.0.1@evil.example/v1",
    ],
)
async def test_a_key_leaves_for_no_other_scheme_host_or_port(change):
    signed = []
    with ProviderServer() as server:
        http = Http(endpoint(server))
        limits = embedding_limits(1)
        with pytest.raises(ConfigError):
            await http.send(change(server.url), b"{}", lambda: signed.append(1) or {}, limits)
        await http.close()
    assert (signed, server.requests) == ([], ())


async def test_a_rush_leaves_few_connections_behind():
    with ProviderServer(Answer("ok", delay_s=0.1)) as server:
        model = load_chat(endpoint(server))
        async with anyio.create_task_group() as group:
            for _ in range(150):
                group.start_soon(model.complete, REQUEST)
        assert len(server.requests) == 150
        assert server.wait_for(lambda s: s.n_open_connections <= 8)
        await model.close()
        assert server.wait_for(lambda s: s.n_open_connections == 0)


async def test_an_address_where_nobody_answers_is_named():
    model = load_chat(Endpoint("custom", "openai", "m", "http://provider.invalid:8000/v1", KEY))
    with pytest.raises(ProviderUnreachableError) as caught:
        await model.complete(REQUEST)
    await model.close()
    assert "provider.invalid:8000" in caught.value.advice


async def test_a_web_page_where_an_api_should_be_leads_to_the_address():
    with ProviderServer(faults.html()) as server:
        model = load_chat(endpoint(server))
        for ask in (model.complete, lambda request: anext(model.stream(request))):
            with pytest.raises(BadResponseError) as caught:
                await ask(REQUEST)
            assert "Check base_url" in caught.value.advice
        await model.close()


async def test_a_name_that_nobody_has_is_unreachable():
    model = load_chat(Endpoint("openai", "openai", "m", "http://nobody.invalid"))
    with anyio.fail_after(5), pytest.raises(ProviderUnreachableError):
        await model.complete(REQUEST)
    await model.close()


async def test_a_host_that_is_none_is_told_from_one_that_does_not_answer():
    model = load_chat(Endpoint("openai", "openai", "m", "http://provider.invalid", KEY))
    with pytest.raises(ProviderUnreachableError, match=r"no such host \(DNS\)"):
        await model.complete(REQUEST)
    await model.close()
