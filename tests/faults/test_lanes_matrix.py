"""Every row of the fault matrix, in each API shape, over HTTP, at a clock of its own.

The clock is trio's: it jumps on when everything waits, so that limits of minutes pass in moments,
in the adapter and in the lane alike. Waits of the lane jump at once.
"""

import os
import resource
import socket
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
import trio
import trio.testing
from anyio import to_thread

from fingerpost import errors as e
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.health import Health
from fingerpost.lanes.providers.load import load_chat
from fingerpost.testing.provider import Answer, ProviderServer, faults
from fingerpost.types.chat import ChatRequest, ChatResponse, Message, StopReason

NOW = 1_800_000_000.0
STATUS = faults.status
APIS = ("openai", "anthropic", "gemini", "ollama")


@contextmanager
def refused():
    """Give an address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def no_such_host():
    """Give an address under a name that stands for no host, by RFC 6761."""
    yield "http://provider.invalid"


@contextmanager
def never_connected():
    """Give an address whose connections are never made: the queue for them is full."""
    with ExitStack() as opened:
        listener = opened.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def none_free():
    """Take away all files that could be opened."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_open = max(int(file.name) for file in Path("/proc/self/fd").iterdir()) + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open, limits[1]))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        yield
    finally:
        for one in taken:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


UNREACHABLE = {"refused": refused, "no host": no_such_host, "not connected": never_connected}


def date_in(seconds):
    return formatdate(NOW + seconds, usegmt=True)


@dataclass(frozen=True)
class Row:
    """What one fault of provider A leads to.

    Attributes:
        fault: What A does, again and again; a word of `UNREACHABLE`, or ``tls``, is its address.
        error: What a lane of A alone surfaces, or holds as its attempts.
        asked: How often A is asked before B is, and how often alone.
        waits: The waits of the lane before B is asked, and alone.
        rest_s: How long A rests when there is a B, ``None`` when it may be asked.
        moves: B is asked.
        streamed: The request wants a stream.
    """

    fault: object
    error: type
    asked: tuple[int, int] = (1, 1)
    waits: tuple[list, list] = ((), ())
    rest_s: float | None = None
    moves: bool = True
    streamed: bool = False


def once(fault, error, wait_s=0.5, **more):
    return Row(fault, error, (2, 2), ([wait_s], [wait_s]), **more)


def stays(fault, error, **more):
    return Row(fault, error, moves=False, **more)


ROWS = {
    "refused": Row("refused", e.ProviderUnreachableError),
    "no such host": Row("no host", e.ProviderUnreachableError),
    "connect timeout": Row("not connected", e.ProviderUnreachableError),
    "reset": Row(faults.reset(), e.ProviderUnreachableError),
    "no first byte": once(faults.stall(), e.ProviderTimeoutError, streamed=True),
    "TLS": Row("tls", e.ProviderTLSError, rest_s=300),
    "redirect": Row(faults.redirect("http://127.0.0.1:9/"), e.ProviderRedirectedError, rest_s=300),
    "400": stays(STATUS(400, "invalid_request_error"), e.RequestRejectedError),
    "400 context": Row(STATUS(400, "context_length_exceeded"), e.ContextTooLongError),
    "401": Row(STATUS(401), e.AuthenticationError, rest_s=300),
    "403": Row(STATUS(403), e.AuthenticationError, rest_s=300),
    "402": Row(STATUS(402), e.QuotaError, rest_s=900),
    "404": Row(STATUS(404, "model_not_found"), e.ModelNotFoundError, rest_s=300),
    "408": once(STATUS(408), e.ProviderTimeoutError),
    "409": once(STATUS(409), e.ProviderConflictError),
    "413": Row(STATUS(413), e.RequestTooLargeError),
    "422": stays(STATUS(422), e.RequestRejectedError),
    "429 with 4 s": Row(
        STATUS(429, headers={"retry-after": "4"}), e.RateLimitedError, (1, 2), ([], [4.0]), 4
    ),
    "429 with 4000 ms": Row(
        STATUS(429, headers={"retry-after-ms": "4000"}), e.RateLimitedError, (1, 2), ([], [4.0]), 4
    ),
    "429 with a date": Row(
        STATUS(429, headers={"retry-after": date_in(5), "date": date_in(0)}),
        e.RateLimitedError,
        (1, 2),
        ([], [5.0]),
        5,
    ),
    "429 with 40 s": Row(STATUS(429, headers={"retry-after": "40"}), e.RateLimitedError, rest_s=40),
    "429 with a day": Row(
        STATUS(429, headers={"retry-after": "86400"}), e.RateLimitedError, rest_s=900
    ),
    "429 without": Row(STATUS(429), e.RateLimitedError, (1, 2), ([], [0.5]), 5),
    "429 with nonsense": Row(
        STATUS(429, headers={"retry-after": "nan"}), e.RateLimitedError, (1, 2), ([], [0.5]), 5
    ),
    "429 quota": Row(STATUS(429, "insufficient_quota"), e.QuotaError, rest_s=900),
    "500": once(STATUS(500), e.ProviderUnavailableError),
    "502": once(STATUS(502), e.ProviderUnavailableError),
    "503": once(STATUS(503), e.ProviderUnavailableError),
    "503 with 4 s": Row(
        STATUS(503, headers={"retry-after": "4"}),
        e.ProviderUnavailableError,
        (1, 2),
        ([], [4.0]),
        4,
    ),
    "504": once(STATUS(504), e.ProviderUnavailableError),
    "529": Row(STATUS(529), e.ProviderOverloadedError, (1, 2), ([], [0.5]), 10),
    "200 with an error": Row(
        faults.error_in_stream(error="insufficient_quota"), e.QuotaError, rest_s=900
    ),
    "no JSON": once(faults.bad_json(), e.BadResponseError),
    "a web page": once(faults.html(), e.BadResponseError),
    "the wrong fields": once(faults.missing_fields(), e.BadResponseError),
    "cut before any text": Row(faults.cut(10), e.StreamTruncatedError, streamed=True),
    "error before any text": Row(
        faults.error_in_stream(error="insufficient_quota"),
        e.QuotaError,
        rest_s=900,
        streamed=True,
    ),
    "empty": once(faults.no_text(), e.EmptyCompletionError),
    "empty stream": once(faults.no_text(), e.EmptyCompletionError, streamed=True),
    "refused to answer": stays(Answer("no", stop="refused"), e.RefusedError),
    "slow drip": Row(faults.hold(0), e.ProviderTimeoutError, streamed=True),
    "compressed": once(faults.gzip_bomb(2**20), e.BadResponseError),
    "too large": Row(faults.huge(9 * 2**20), e.ResponseTooLargeError),
}


# Ollama tells no code with an error, so that its status has to say all, and knows no refusal.
OF_OLLAMA = {
    "400 context": stays(STATUS(400), e.RequestRejectedError),
    "429 quota": ROWS["429 without"],
    "200 with an error": once(faults.error_in_stream(), e.BadResponseError),
    "error before any text": once(faults.error_in_stream(), e.BadResponseError, streamed=True),
    "refused to answer": None,
}
CASES = [
    pytest.param(api, row, id=f"{api}: {name}")
    for api in APIS
    for name, row in (ROWS | (OF_OLLAMA if api == "ollama" else {})).items()
    if row is not None
]


class Stage:
    """Lanes over scripted providers at a clock that jumps."""

    def __init__(self, api="openai"):
        self.api = api
        # Long enough that a busy machine does not pass for a silent provider.
        self.mock = trio.testing.MockClock(autojump_threshold=0.3)
        self.waits = []

    def endpoint(self, name, url):
        return load_chat(
            Endpoint(name, self.api, "m", url, Secret(f"key-of-{name}")),
            clock=self.mock.current_time,
            now=lambda: NOW + self.mock.current_time() - self.began,
        )

    async def sleep(self, seconds):
        self.waits.append(seconds)
        self.mock.jump(seconds)
        await anyio.lowlevel.checkpoint()

    def lane(self, *urls, **more):
        models = [self.endpoint(name, url) for name, url in zip("abc", urls, strict=False)]
        self.waits = []
        return FailoverModel(
            models, clock=self.mock.current_time, sleep=self.sleep, random=lambda: 1.0, **more
        )

    def run(self, work):
        async def begin():
            self.began = self.mock.current_time()
            with trio.fail_after(3600):
                return await work()

        return anyio.run(begin, backend="trio", backend_options={"clock": self.mock})

    async def ask(self, lane, *, streamed):
        request = ChatRequest((Message("user", "hello"),), deadline=self.mock.current_time() + 110)
        try:
            if not streamed:
                return await lane.complete(request)
            return [item async for item in lane.stream(request)][-1]
        except e.LaneError as error:
            return error
        finally:
            await lane.close()


@contextmanager
def provider(row):
    """Give the server that does what the row says, and the address under which it is asked."""
    with ExitStack() as opened:
        is_served = not isinstance(row.fault, str)
        server = opened.enter_context(ProviderServer(row.fault if is_served else "unused"))
        if row.fault in UNREACHABLE:
            yield server, opened.enter_context(UNREACHABLE[row.fault]())
        else:
            yield server, server.url.replace("http:", "https:" if row.fault == "tls" else "http:")


def n_asked(row, server, outcome):
    """Return how often A was asked: as the server has it, where the request can reach it."""
    if not isinstance(row.fault, str):
        return len(server.requests)
    return sum(item.model == "a/m" for item in outcome.usage)


@pytest.mark.parametrize(("api", "row"), CASES)
def test_with_another_provider_at_hand(api, row):
    stage, events = Stage(api), []

    async def work():
        lane = stage.lane(url, b.url, on_failover=events.append)
        outcome = await stage.ask(lane, streamed=row.streamed)
        [rest, _] = lane.health.rests(lane.places, stage.mock.current_time())
        return outcome, rest

    with provider(row) as (a, url), ProviderServer("from b") as b:
        outcome, rest = stage.run(work)
        assert n_asked(row, a, outcome) == row.asked[0]
        assert stage.waits == list(row.waits[0])
        if row.moves:
            assert isinstance(outcome, ChatResponse)
            assert outcome.text == "from b"
            assert (events[-1].to_model, events[-1].error) == ("b/m", row.error.__name__)
        else:
            assert type(outcome) is row.error
            assert b.requests == ()
        assert [item.outcome for item in outcome.usage][:-1] == [row.error.__name__] * (
            row.asked[0] if row.moves else 0
        )
        assert (
            rest is None if row.rest_s is None else rest.left_s == pytest.approx(row.rest_s, abs=1)
        )
        assert a.wait_for(lambda server: not server.n_open_connections)


@pytest.mark.parametrize(("api", "row"), CASES)
def test_alone(api, row):
    stage = Stage(api)

    async def work():
        return await stage.ask(stage.lane(url), streamed=row.streamed)

    with provider(row) as (a, url):
        outcome = stage.run(work)
        assert n_asked(row, a, outcome) == row.asked[1]
        assert stage.waits == list(row.waits[1])
        if row.asked[1] == 1:
            assert type(outcome) is row.error
        else:
            assert type(outcome) is e.LaneExhaustedError
            assert [type(one) for one in outcome.attempts] == [row.error] * row.asked[1]
        assert [item.outcome for item in outcome.usage] == [row.error.__name__] * row.asked[1]


@pytest.mark.parametrize("api", APIS)
def test_connections_that_this_machine_lacks_do_not_count_against_a_provider(api):
    stage = Stage(api)

    async def work():
        lane = stage.lane(url)
        await lane.models[0].complete(ChatRequest((Message("user", "warm"),)))
        await lane.close()
        assert await to_thread.run_sync(a.wait_for, lambda server: not server.n_open_connections)
        with none_free():
            failed = [await stage.ask(lane, streamed=False) for _ in range(6)]
        return failed, await stage.ask(lane, streamed=False)

    with provider(Row("from a", None)) as (a, url):
        failed, answered = stage.run(work)
        assert {(type(one), one.phase) for one in failed} == {(e.ProviderTimeoutError, "pool")}
        assert isinstance(answered, ChatResponse)
        assert len(a.requests) == 2


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "fault",
    [
        faults.error_in_stream(after=2),
        faults.cut(500),
        faults.cut(500, silently=False),
        faults.reset(after=500),
        faults.hold(2),
    ],
)
def test_a_stream_that_has_given_text_is_never_begun_again(api, fault):
    stage = Stage(api)

    async def work():
        return await stage.ask(stage.lane(a.url, b.url), streamed=True)

    with ProviderServer(fault) as a, ProviderServer("from b") as b:
        outcome = stage.run(work)
        assert type(outcome) is e.StreamTruncatedError
        assert outcome.text
        assert len(a.requests) == 1
        assert b.requests == ()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_a_reply_cut_at_its_limit_is_an_answer(api, streamed):
    stage = Stage(api)

    async def work():
        return await stage.ask(stage.lane(a.url, b.url), streamed=streamed)

    with ProviderServer(Answer("half an ans", stop="length")) as a, ProviderServer("b") as b:
        outcome = stage.run(work)
        assert (outcome.text, outcome.stop) == ("half an ans", StopReason.LENGTH)
        assert b.requests == ()


def test_a_refusal_is_taken_to_the_other_provider_when_that_is_asked_for():
    stage = Stage()

    async def work():
        lane = stage.lane(a.url, b.url, failover_on_refusal=True)
        return await stage.ask(lane, streamed=False)

    with ProviderServer(Answer("no", stop="refused")) as a, ProviderServer("from b") as b:
        assert stage.run(work).text == "from b"
        assert len(a.requests) == 1


def test_two_servers_of_the_name_custom_fail_and_rest_apart():
    stage = Stage()

    async def work():
        models = [stage.endpoint("custom", url) for url in (a.url, b.url)]
        both, alone = (
            FailoverModel(of, health=health, clock=stage.mock.current_time, sleep=stage.sleep)
            for of in (models, models[1:])
        )
        moved = await stage.ask(both, streamed=False)
        return moved, await stage.ask(alone, streamed=False)

    health = Health()
    with ProviderServer(STATUS(401)) as a, ProviderServer("from b") as b:
        assert [reply.text for reply in stage.run(work)] == ["from b", "from b"]
        assert (len(a.requests), len(b.requests)) == (1, 2)


def test_five_failures_rest_a_provider_and_one_probe_brings_it_back():
    stage = Stage()

    async def work():
        lane = stage.lane(a.url)
        seen = []
        for seconds in [0, 0, 0, 0, 5, 6, 0]:
            stage.mock.jump(seconds)
            outcome = await stage.ask(lane, streamed=False)
            seen.append((type(outcome).__name__, len(a.requests)))
        return seen

    with ProviderServer([STATUS(500)] * 5 + ["well"] * 9) as a:
        assert stage.run(work) == [
            ("LaneExhaustedError", 2),
            ("LaneExhaustedError", 4),
            ("ProviderUnavailableError", 5),  # the fifth failure opens the circuit
            ("LaneExhaustedError", 5),
            ("LaneExhaustedError", 5),
            ("ChatResponse", 6),
            ("ChatResponse", 7),
        ]
