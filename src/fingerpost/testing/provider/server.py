"""The scripted provider: a real HTTP server on a free local port, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Self

from fingerpost.testing.provider import wire
from fingerpost.testing.provider.answer import Answer, Received
from fingerpost.testing.provider.decided import Decided, Said, whole_decision
from fingerpost.testing.provider.exchange import Exchange, read_request
from fingerpost.testing.provider.faults import Fault, hash_vector, status
from fingerpost.testing.provider.ranked import shared_words, whole_ranking

__all__ = ["ProviderServer"]

Step = str | Answer | Fault
Script = Step | Callable[[Received], Step] | Sequence[Step | Callable[[Received], Step]]
Decision = Decided | Fault | tuple[Said, ...]
Decisions = (
    Decision | Callable[[Received], Decision] | list[Decision | Callable[[Received], Decision]]
)
Scores = tuple[float, ...] | Fault
Rankings = Scores | Callable[[Received], Scores] | list[Scores | Callable[[Received], Scores]]
_START_S: Final = 5.0
_OVER: Final = status(500, message="the script is over")


class ProviderServer:
    """Speaks the APIs of OpenAI, Anthropic, Gemini and Ollama, and keeps what it was asked.

    Start it with ``with``; what a function of the script raises is raised again at its end.
    Point ``base_url`` at ``url``: the paths of all APIs are served side by side. Requests for
    embeddings get vectors of hashed words, lists of models get ``models``. A request for decisions
    is known by its body, at any path: System One, OpenAI's and Gemini's.

    Args:
        script: Answers to chat requests. One text, `Answer` or `Fault` is given again and again;
            a function of the request is asked each time; a list is gone through in order of
            arrival, and when it is over the server answers 500.
        embeddings: Faults for requests for embeddings, in order of arrival; ``None`` in the list
            and all after its end get right vectors.
        decisions: Answers to requests for decisions, given like ``script``: a `Decided` or a fault,
            or a tuple with an answer to each question, or with one for all of them. Answers that
            do not fit the questions get status 400, and are an error at the end.
        rankings: Answers to requests at a path that ends in ``/rerank`` (Cohere, Jina, Voyage),
            given like ``script``: a tuple with a score for each document, or a fault; by default
            the share of the query's words that stand in it.
        models: Names that the lists of models tell.
        dimension: Length of the vectors.

    Raises:
        TypeError: A step of ``decisions`` is none.
    """

    def __init__(
        self,
        script: Script = "scripted",
        *,
        embeddings: Sequence[Fault | None] = (),
        decisions: Decisions = (),
        rankings: Rankings = shared_words,
        models: Sequence[str] = ("scripted",),
        dimension: int = 8,
    ) -> None:
        for decision in decisions if isinstance(decisions, list) else [decisions]:
            _require_decision(decision)
        self._script = script
        self._embeddings = list(embeddings)
        self._decisions = decisions
        self._rankings = rankings
        self._models = tuple(models)
        self._dimension = dimension
        self._changed = threading.Condition()
        self._requests: list[Received] = []
        self._broken: Exception | None = None
        self._n_asked = Counter[str]()
        self._n_open = 0
        self._port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Scheme, host and port; nobody listens there before ``with`` and after it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def requests(self) -> tuple[Received, ...]:
        """All requests so far, in order of arrival."""
        with self._changed:
            return tuple(self._requests)

    @property
    def n_open_connections(self) -> int:
        """Connections that clients hold open now, idle ones included."""
        with self._changed:
            return self._n_open

    def wait_for(self, condition: Callable[[Self], bool], timeout_s: float = 5.0) -> bool:
        """Wait until ``condition(server)`` holds and return whether it did in time.

        Asked again after each request and each opened or closed connection.
        """
        with self._changed:
            return self._changed.wait_for(lambda: condition(self), timeout_s)

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(started)), name="scripted-provider", daemon=True
        )
        self._thread.start()
        if not started.wait(_START_S):
            raise RuntimeError("the scripted provider did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._stop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_START_S)
        if self._broken is not None and error is None:
            raise self._broken

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._connection(reader, writer))
            tasks[task] = writer
            task.add_done_callback(tasks.pop)

        server = await asyncio.start_server(connected, "127.0.0.1", self._port, backlog=2048)
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        for task, writer in list(tasks.items()):
            task.cancel()
            writer.transport.abort()  # one that has not begun closes nothing itself
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count(1)
        try:
            while (parts := await read_request(reader)) is not None:
                received = wire.read(*parts)
                with self._changed:
                    self._requests.append(received)
                    self._changed.notify_all()
                exchange = Exchange(received, reader, writer)
                await self._answer(exchange)
                if exchange.is_over:
                    break
        except (ConnectionError, TimeoutError):
            pass  # the client has left, which is its right
        except Exception as error:
            self._broken = self._broken or error
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._changed:
            self._n_open += change
            self._changed.notify_all()

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.kind == "chat":
            step = self._next(self._script, received, str | Answer | Fault)
            if isinstance(step, Fault):
                await step.play(exchange)
            else:
                await _say(exchange, Answer(step) if isinstance(step, str) else step)
        elif received.kind == "decide":
            decision = self._next(self._decisions, received, Decided | Fault | tuple)
            if isinstance(decision, Fault):
                await decision.play(exchange)
            else:
                await _decide(exchange, decision)
        elif received.kind == "rerank":
            scores = self._next(self._rankings, received, Fault | tuple)
            if isinstance(scores, Fault):
                await scores.play(exchange)
            else:
                await exchange.reply(200, whole_ranking(received, scores))
        elif received.kind == "embed":
            await self._embed(exchange)
        elif received.kind == "models":
            await exchange.reply(200, wire.models(received.api, self._models))
        else:
            await exchange.reply(404, {"error": {"message": f"no such path: {received.path}"}})

    def _next(self, script: Any, received: Received, single: Any) -> Any:
        """Return the next step of a script, which is one step when it is a ``single``."""
        with self._changed:
            place = self._n_asked[received.kind]
            self._n_asked[received.kind] += 1
        if isinstance(script, single) or callable(script):
            step = script
        elif place < len(script):
            step = script[place]
        else:
            return _OVER
        return step(received) if callable(step) else step

    async def _embed(self, exchange: Exchange) -> None:
        fault = self._embeddings.pop(0) if self._embeddings else None
        if fault is not None:
            await fault.play(exchange)
            return
        texts = exchange.received.texts
        items = [(i, hash_vector(text, self._dimension)) for i, text in enumerate(texts)]
        await exchange.reply(200, wire.vectors(exchange.received, items))


def _require_decision(step: object) -> None:
    if isinstance(step, tuple):
        Decided(step)
    elif not isinstance(step, Decided | Fault) and not callable(step):
        raise TypeError(
            f"{step!r} is none of: a tuple with an answer to each question, a Decided, "
            "a fault, a function of the request, a list of these"
        )


async def _say(exchange: Exchange, answer: Answer) -> None:
    received = exchange.received
    if answer.delay_s:
        await asyncio.sleep(answer.delay_s)
    if not received.stream:
        await exchange.reply(200, wire.whole(received, answer), {"x-request-id": "scripted-1"})
        return
    await exchange.start_stream(wire.CONTENT_TYPES.get(received.api, "text/event-stream"))
    for event in wire.events(received, answer):
        await exchange.chunk(event)
    await exchange.send(b"0\r\n\r\n")


async def _decide(exchange: Exchange, decision: Decided | tuple[Said, ...]) -> None:
    try:
        _require_decision(decision)
        decided = Decided(decision) if isinstance(decision, tuple) else decision
        body = whole_decision(exchange.received, decided)
    except (TypeError, ValueError) as error:
        said = wire.error_body(exchange.received.api, 400, "wrong_script", f"decisions: {error}")
        await exchange.reply(400, said)
        raise
    if decided.delay_s:
        await asyncio.sleep(decided.delay_s)
    await exchange.reply(200, body, {"x-request-id": "scripted-1"})
