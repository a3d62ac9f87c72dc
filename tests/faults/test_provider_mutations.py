"""Replies cut at each byte or changed at random: a typed error or a whole answer, nothing else (R20)."""

import json
import random

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import ProviderError
from fingerpost.lanes.providers import load_chat
from fingerpost.testing.provider import Answer, Fault, ProviderServer, faults, wire
from fingerpost.types.chat import ChatRequest, ChatResponse, Message

APIS = ["openai", "anthropic", "gemini", "ollama"]
TEXT = "Yes, 日本."
ANSWER = Answer(TEXT, pieces=("Yes,", " 日", "本."))
REQUEST = ChatRequest((Message("user", "?"),))
N_MUTATIONS = 2_500
AT_ONCE = 8


async def outcome(model, *, stream):
    """Return the pieces that came and what it ended in: a response or a typed error."""
    pieces = []
    try:
        if not stream:
            return [], await model.complete(REQUEST)
        async for item in model.stream(REQUEST):
            pieces.append(item)  # noqa: PERF401 - they stay when an error follows
    except ProviderError as error:
        return pieces, error
    return pieces[:-1], pieces[-1]


def outcomes(api, script, *, stream):
    """Return what each fault of the script ends in, in no order."""
    found = []

    async def work(model, places):
        for _ in places:
            found.append(await outcome(model, stream=stream))  # noqa: PERF401 - two loops

    async def run(url):
        model = load_chat(Endpoint(api, api, "scripted", url))
        places = iter(range(len(script)))
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(work, model, places)
        await model.close()

    with ProviderServer(script) as server:
        anyio.run(run, server.url)
    assert len(found) == len(script)
    return found


def good_reply(api, *, stream):
    """Return the bytes of a good reply."""
    bodies = []

    async def play(exchange):
        received = exchange.received
        events = b"".join(wire.events(received, ANSWER))
        bodies.append(
            events if received.stream else json.dumps(wire.whole(received, ANSWER)).encode()
        )
        await exchange.reply(200, bodies[0])

    outcomes(api, [Fault("look", play)], stream=stream)
    return bodies[0]


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("api", APIS)
def test_a_reply_cut_at_any_byte_is_never_an_answer(api, stream):
    n_bytes = len(good_reply(api, stream=stream))
    script = [faults.cut(at, ANSWER) for at in range(n_bytes)]
    for pieces, end in outcomes(api, script, stream=stream):
        assert TEXT.startswith("".join(pieces))
        if isinstance(end, ChatResponse):
            assert end.text == TEXT
        elif pieces:
            assert type(end).__name__ == "StreamTruncatedError"
            assert end.text == "".join(pieces)


HOSTILE = [
    b"NaN",
    b"1e999",
    b"[" * 3000,
    b"null",
    b"{}",
    b'"\\ud800"',
    b"9" * 5000,
    b"\xef\xbb\xbf",
    b"\x00",
    b"-1",
]


def mutated(body, chance):
    """Return ``body`` with a few bits, bytes or values changed."""
    data = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        kind = chance.randrange(5)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[at : at + chance.randint(1, 20)]
        elif kind == 2:
            data[at:at] = data[at : at + chance.randint(1, 200)]
        else:
            start = max(data.find(b":", at), 0) + 1
            data[start : start + chance.randint(0, 8)] = chance.choice(HOSTILE)
        data = data or bytearray(b"{")
    return bytes(data)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("api", APIS)
def test_a_changed_reply_is_an_answer_or_a_typed_error(api, stream):
    body, chance = good_reply(api, stream=stream), random.Random(f"{api}{stream}")
    kind = wire.CONTENT_TYPES.get(api, "text/event-stream") if stream else "application/json"
    script = [faults.raw(mutated(body, chance), kind) for _ in range(N_MUTATIONS)]
    for pieces, end in outcomes(api, script, stream=stream):
        if isinstance(end, ChatResponse):
            assert end.text.strip()
            assert not stream or end.text == "".join(pieces)
            end.text.encode()
        assert all(isinstance(piece, str) and piece for piece in pieces)
