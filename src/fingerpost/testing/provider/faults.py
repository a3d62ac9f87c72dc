"""What a provider can do wrong, to be put in the place of an answer."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fingerpost.testing.provider import wire
from fingerpost.testing.provider.answer import Answer
from fingerpost.testing.provider.decided import Decided, whole_decision
from fingerpost.testing.provider.exchange import Exchange

__all__ = [
    "Fault",
    "bad_json",
    "cut",
    "drip",
    "endless_line",
    "error_in_stream",
    "gzip_bomb",
    "hold",
    "html",
    "huge",
    "missing_fields",
    "no_text",
    "raw",
    "redirect",
    "reset",
    "stall",
    "status",
    "wrong_answers",
    "wrong_vectors",
]

_BLOCK: Final = b" " * 65536
_ANSWER: Final = Answer("It rotates every ninety days.")


@dataclass(frozen=True, slots=True)
class Fault:
    """A named way to treat a request badly; ``play`` writes what goes out."""

    name: str
    play: Callable[[Exchange], Awaitable[None]]

    def __repr__(self) -> str:
        return f"Fault({self.name})"


def status(
    code: int,
    error: str = "scripted_error",
    message: str = "scripted",
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | Mapping[str, Any] | None = None,
) -> Fault:
    """Answer with an HTTP status.

    Args:
        code: The status.
        error: The provider's code or type of the error, where its API has one.
        message: Its text.
        headers: More headers, ``{"retry-after": "3"}``.
        body: The whole body instead of the API's error.
    """

    async def play(exchange: Exchange) -> None:
        told = wire.error_body(exchange.received.api, code, error, message)
        await exchange.reply(code, told if body is None else body, headers)

    return Fault(f"status {code} {error}", play)


def raw(
    body: bytes | Mapping[str, Any],
    content_type: str = "application/json",
    *,
    headers: Mapping[str, str] | None = None,
) -> Fault:
    """Answer 200 with this body, whatever was asked."""

    async def play(exchange: Exchange) -> None:
        await exchange.reply(200, body, {"content-type": content_type, **(headers or {})})

    return Fault("raw", play)


def redirect(location: str, code: int = 307) -> Fault:
    """Send the client elsewhere."""
    return status(code, headers={"location": location}, body=b"")


def html() -> Fault:
    """Answer 200 with a web page, as proxies do."""
    return raw(b"<!DOCTYPE html><title>Please log in</title>", "text/html")


def bad_json() -> Fault:
    """Answer 200 with half a JSON object; as a stream, with an event that holds one."""

    async def play(exchange: Exchange) -> None:
        half = json.dumps(wire.whole(exchange.received, _ANSWER))[:40]
        kind = wire.CONTENT_TYPES.get(exchange.received.api, "text/event-stream")
        if not exchange.received.stream:
            await exchange.reply(200, half.encode())
        elif kind == "text/event-stream":
            await exchange.reply(200, f"data: {half}\n\n".encode(), {"content-type": kind})
        else:
            await exchange.reply(200, f"{half}\n".encode(), {"content-type": kind})

    return Fault("bad JSON", play)


def missing_fields() -> Fault:
    """Answer 200 with a JSON object that has nothing of a reply."""
    return raw({"object": "nothing"})


def reset(after: int | None = None) -> Fault:
    """Reset the connection: before anything, or after ``after`` bytes of the body."""

    async def play(exchange: Exchange) -> None:
        if after is not None:
            kind, body = _good_body(exchange)
            await exchange.start_stream(kind)
            await exchange.chunk(body[:after])
            await _let_it_arrive()
        exchange.reset()

    return Fault("reset", play)


def stall() -> Fault:
    """Take the request and never say a word."""
    return Fault("stall", lambda exchange: exchange.until_the_client_leaves())


def hold(pieces: int = 1, answer: Answer = _ANSWER) -> Fault:
    """Send the first ``pieces`` pieces of a stream, then nothing more."""

    async def play(exchange: Exchange) -> None:
        events = wire.events(exchange.received, answer)
        await exchange.start_stream(_stream_type(exchange))
        await exchange.chunk(b"".join(events[: pieces + 1]))
        await exchange.until_the_client_leaves()

    return Fault("hold", play)


def drip(where: Literal["head", "body", "comments", "events"], every_s: float = 0.02) -> Fault:
    """Keep the line busy for ever without an answer.

    Args:
        where: A header that never ends, blanks before the JSON, comments between events (empty
            lines where a stream has no comments), or events without content.
        every_s: Seconds between two drops.
    """

    async def play(exchange: Exchange) -> None:
        api = exchange.received.api
        comment = b"\n" if api in wire.CONTENT_TYPES else b": still here\n\n"
        drops = {"head": b"x", "body": b" ", "comments": comment, "events": wire.idle_event(api)}
        if where == "head":
            await exchange.send(b"HTTP/1.1 200 OK\r\nx-drip: ")
        else:
            kind = _stream_type(exchange) if exchange.received.stream else "application/json"
            await exchange.start_stream(kind, chunked=False)
        exchange.hang_up()
        while True:
            await exchange.send(drops[where])
            await asyncio.sleep(every_s)

    return Fault(f"drip in {where}", play)


def cut(at: int, answer: Answer = _ANSWER, *, silently: bool = True) -> Fault:
    """End a good reply after ``at`` bytes of its body.

    Args:
        at: Bytes that get through.
        answer: What would have been answered.
        silently: So that HTTP sees nothing wrong: the end of the line is the end of the body.
    """

    async def play(exchange: Exchange) -> None:
        kind, body = _good_body(exchange, answer)
        await exchange.start_stream(kind, chunked=not silently)
        await (exchange.send if silently else exchange.chunk)(body[:at])
        exchange.hang_up()

    return Fault(f"cut at {at}", play)


def no_text() -> Fault:
    """Answer with an end and nothing before it."""

    async def play(exchange: Exchange) -> None:
        if not exchange.received.stream:
            await exchange.reply(200, wire.whole(exchange.received, Answer()))
            return
        end = wire.end_only(exchange.received)
        await exchange.reply(200, end, {"content-type": _stream_type(exchange)})

    return Fault("no text", play)


def error_in_stream(
    after: int = 0,
    error: str = "overloaded_error",
    message: str = "scripted",
    answer: Answer = _ANSWER,
) -> Fault:
    """Begin a stream with 200 and tell an error in it, after ``after`` pieces of text.

    A request for a whole reply gets 200 with the error as its body.
    """

    async def play(exchange: Exchange) -> None:
        received = exchange.received
        if not received.stream:
            await exchange.reply(200, wire.error_body(received.api, 200, error, message))
            return
        events = wire.events(received, answer)[: after + 1]
        body = b"".join(events) + wire.error_event(received.api, error, message)
        await exchange.reply(200, body, {"content-type": _stream_type(exchange)})

    return Fault(f"error in stream after {after}", play)


def gzip_bomb(n_bytes: int = 64 * 2**20) -> Fault:
    """Answer compressed, unasked, with what unpacks to ``n_bytes``."""

    async def play(exchange: Exchange) -> None:
        packed = gzip.compress(b" " * n_bytes, 1)
        await exchange.reply(200, packed, {"content-encoding": "gzip"})

    return Fault("gzip bomb", play)


def huge(n_bytes: int = 2**30) -> Fault:
    """Answer with a body of ``n_bytes`` blanks."""

    async def play(exchange: Exchange) -> None:
        await exchange.start_stream("application/json", chunked=False)
        for _ in range(n_bytes // len(_BLOCK)):
            await exchange.send(_BLOCK)

    return Fault("huge body", play)


def endless_line(n_bytes: int = 2**30) -> Fault:
    """Answer with a stream whose first line does not end for ``n_bytes``."""

    async def play(exchange: Exchange) -> None:
        await exchange.start_stream(_stream_type(exchange), chunked=False)
        await exchange.send(b"data: ")
        for _ in range(n_bytes // len(_BLOCK)):
            await exchange.send(_BLOCK)

    return Fault("endless line", play)


def wrong_vectors(
    change: Callable[[list[tuple[int, list[float]]]], Sequence[tuple[int, Sequence[float]]]],
) -> Fault:
    """Answer a request for embeddings with changed ones.

    Args:
        change: Takes the right (index, vector) pairs and returns those to send; the index is
            told only by the API shape ``openai``.
    """

    async def play(exchange: Exchange) -> None:
        right = [(i, hash_vector(text)) for i, text in enumerate(exchange.received.texts)]
        await exchange.reply(200, wire.vectors(exchange.received, change(right)))

    return Fault("wrong vectors", play)


def wrong_answers(
    change: Callable[[dict[str, Any]], object], decided: Decided | None = None
) -> Fault:
    """Answer a request for decisions with a changed body.

    Args:
        change: Gets the right body, as JSON values of its own, and changes it.
        decided: What would have been answered.
    """

    async def play(exchange: Exchange) -> None:
        right = whole_decision(exchange.received, decided or Decided())
        body = json.loads(json.dumps(right))
        change(body)
        await exchange.reply(200, body)

    return Fault("wrong answers", play)


def hash_vector(text: str, dimension: int = 8) -> list[float]:
    """Return the vector that the server gives a text: shared words, near vectors."""
    from fingerpost.testing.models import HashEmbedder  # noqa: PLC0415 - numpy only for vectors

    return [float(x) for x in HashEmbedder(dimension).embed([text])[0]]


def _stream_type(exchange: Exchange) -> str:
    return wire.CONTENT_TYPES.get(exchange.received.api, "text/event-stream")


def _good_body(exchange: Exchange, answer: Answer = _ANSWER) -> tuple[str, bytes]:
    if exchange.received.stream:
        return _stream_type(exchange), b"".join(wire.events(exchange.received, answer))
    return "application/json", json.dumps(wire.whole(exchange.received, answer)).encode()


async def _let_it_arrive() -> None:
    """Let the client read what was sent: a reset takes away what it has not read yet."""
    await asyncio.sleep(0.05)
