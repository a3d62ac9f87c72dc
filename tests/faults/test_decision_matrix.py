"""The fault matrix for decision calls, over HTTP, at the clock of the matrix of chat calls."""

import socket
from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest
import trio
import trio.testing

from fingerpost import errors as e
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.lanes.asked import ask
from fingerpost.lanes.failover_decision import FailoverDecisionModel
from fingerpost.lanes.observed import ObservedDecision
from fingerpost.lanes.providers.load import load_decision
from fingerpost.observe.events import LaneFailover, ModelCall
from fingerpost.testing.provider import ProviderServer, faults
from fingerpost.types.question import AnswerStatus, DecisionResponse, YesNo

QUESTION = YesNo("helps", "Does it help?")
STATUS = faults.status


@dataclass(frozen=True)
class Row:
    """What one fault of server A leads to; see the matrix of chat calls.

    Attributes:
        fault: What A does, again and again.
        error: What its attempts end in.
        asked: How often A is asked before B is, and how often alone.
        waits: The waits of the lane before B is asked, and alone.
        rest_s: How long A rests when there is a B, ``None`` when it may be asked.
        moves: B is asked.
    """

    fault: object
    error: type
    asked: tuple[int, int] = (1, 1)
    waits: tuple[list, list] = ((), ())
    rest_s: float | None = None
    moves: bool = True


def once(fault, error, wait_s=0.5, **more):
    return Row(fault, error, (2, 2), ([wait_s], [wait_s]), **more)


def unfit(change):
    return Row(faults.wrong_answers(change), e.InvalidDecisionResponseError)


ROWS = {
    "refused": Row("refused", e.ProviderUnreachableError),
    "reset": Row(faults.reset(), e.ProviderUnreachableError),
    "redirect": Row(faults.redirect("http://127.0.0.1:9/"), e.ProviderRedirectedError, rest_s=300),
    "400": Row(STATUS(400), e.RequestRejectedError, moves=False),
    "401": Row(STATUS(401), e.AuthenticationError, rest_s=300),
    "402": Row(STATUS(402), e.QuotaError, rest_s=900),
    "403": Row(STATUS(403), e.AuthenticationError, rest_s=300),
    "404": Row(STATUS(404), e.ModelNotFoundError, rest_s=300),
    "408": once(STATUS(408), e.ProviderTimeoutError),
    "409": once(STATUS(409), e.ProviderConflictError),
    "413": Row(STATUS(413), e.RequestTooLargeError),
    "422": Row(STATUS(422), e.RequestRejectedError, moves=False),
    "429 with 1 s": Row(
        STATUS(429, headers={"retry-after": "1"}), e.RateLimitedError, (1, 2), ([], [1.0]), 1
    ),
    "429 with 1000 ms": Row(
        STATUS(429, headers={"retry-after-ms": "1000"}), e.RateLimitedError, (1, 2), ([], [1.0]), 1
    ),
    "429 with 40 s": Row(STATUS(429, headers={"retry-after": "40"}), e.RateLimitedError, rest_s=40),
    "429 without": Row(STATUS(429), e.RateLimitedError, (1, 2), ([], [0.5]), 5),
    "500": once(STATUS(500), e.ProviderUnavailableError),
    "503": once(STATUS(503), e.ProviderUnavailableError),
    "524": once(STATUS(524), e.ProviderUnavailableError),
    "529": Row(STATUS(529), e.ProviderOverloadedError, (1, 2), ([], [0.5]), 10),
    "silence": once(faults.stall(), e.ProviderTimeoutError),
    "slow drip": Row(faults.drip("body", 1.0), e.ProviderTimeoutError),
    "no JSON": once(faults.bad_json(), e.BadResponseError),
    "a web page": once(faults.html(), e.BadResponseError),
    "the wrong fields": Row(faults.missing_fields(), e.InvalidDecisionResponseError),
    "cut": Row(faults.cut(40, silently=False), e.StreamTruncatedError),
    "compressed": once(faults.gzip_bomb(2**20), e.BadResponseError),
    "too large": Row(faults.huge(9 * 2**20), e.ResponseTooLargeError),
    "an answer too few": unfit(lambda body: body["answers"].clear()),
    "a probability above 1": unfit(lambda body: body["answers"]["q0"].update(noul=1.5)),
    "another type": unfit(lambda body: body["answers"]["q0"].update(type="choice")),
}


class Stage:
    """Lanes over scripted servers at a clock that jumps."""

    def __init__(self):
        self.mock = trio.testing.MockClock(autojump_threshold=0.3)
        self.waits = []
        self.events = []

    def endpoint(self, name, url):
        place = Endpoint(name, "systemone", "m", url, Secret(f"key-of-{name}"), job="decide")
        model = load_decision(place, clock=self.mock.current_time, now=lambda: 1_800_000_000.0)
        return ObservedDecision(model, self.events.append, clock=self.mock.current_time)

    async def sleep(self, seconds):
        self.waits.append(seconds)
        self.mock.jump(seconds)
        await anyio.lowlevel.checkpoint()

    def lane(self, *urls):
        return FailoverDecisionModel(
            [self.endpoint(name, url) for name, url in zip("abc", urls, strict=False)],
            on_failover=self.events.append,
            clock=self.mock.current_time,
            sleep=self.sleep,
            random=lambda: 1.0,
        )

    def run(self, work):
        async def begin():
            with trio.fail_after(3600):
                return await work()

        return anyio.run(begin, backend="trio", backend_options={"clock": self.mock})

    async def ask(self, lane):
        clock = self.mock.current_time
        try:
            return await ask(
                lane, "?", (QUESTION,), deadline=clock() + 20, query_id="q7", clock=clock
            )
        except e.LaneError as error:
            return error
        finally:
            await lane.close()


def address(row, server):
    if row.fault != "refused":
        return server.url
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def served(row):
    return ProviderServer(decisions=() if row.fault == "refused" else row.fault)


@pytest.mark.parametrize("name", ROWS)
def test_with_another_server_at_hand(name):
    row, stage = ROWS[name], Stage()

    async def work():
        lane = stage.lane(address(row, a), b.url)
        outcome = await stage.ask(lane)
        [rest, _] = lane.health.rests(lane.places, stage.mock.current_time())
        return outcome, rest

    with served(row) as a, ProviderServer(decisions=(0.25,)) as b:
        outcome, rest = stage.run(work)
        assert stage.waits == list(row.waits[0])
        if row.moves:
            assert isinstance(outcome, DecisionResponse)
            assert outcome.answers["helps"].value == 0.25
            assert outcome.model == "b/m"
        else:
            assert type(outcome) is row.error
            assert b.requests == ()
        failed = [item.model for item in outcome.usage if item.outcome == row.error.__name__]
        assert failed == ["a/m"] * row.asked[0]
        assert {item.job for item in outcome.usage} == {"decide"}
        assert (
            rest is None if row.rest_s is None else rest.left_s == pytest.approx(row.rest_s, abs=1)
        )
        assert a.wait_for(lambda server: not server.n_open_connections)


@pytest.mark.parametrize("name", ROWS)
def test_alone(name):
    row, stage = ROWS[name], Stage()

    async def work():
        return await stage.ask(stage.lane(address(row, a)))

    with served(row) as a:
        outcome = stage.run(work)
        assert stage.waits == list(row.waits[1])
        if row.asked[1] == 1:
            assert type(outcome) is row.error
        else:
            assert type(outcome) is e.LaneExhaustedError
            assert [type(one) for one in outcome.attempts] == [row.error] * row.asked[1]
        assert [item.outcome for item in outcome.usage] == [row.error.__name__] * row.asked[1]


def test_events_tell_of_each_attempt_and_of_the_way_between():
    stage = Stage()

    async def work():
        return await stage.ask(stage.lane(a.url, b.url))

    bad = faults.wrong_answers(lambda body: body["answers"].clear())
    with ProviderServer(decisions=bad) as a, ProviderServer(decisions=(0.5,)) as b:
        stage.run(work)
    first, between, second = stage.events
    assert isinstance(first, ModelCall)
    assert (first.job, first.query_id, first.provider) == ("decide", "q7", "a")
    assert first.outcome == "InvalidDecisionResponseError"
    assert isinstance(between, LaneFailover)
    assert (between.job, between.query_id) == ("decide", "q7")
    assert (between.from_model, between.to_model) == ("a/m", "b/m")
    assert (second.provider, second.outcome, second.input_tokens) == ("b", "ok", 11)


@pytest.mark.parametrize("status", [AnswerStatus.REFUSED, AnswerStatus.ABSTAINED])
def test_a_refused_or_abstained_answer_is_not_taken_elsewhere(status):
    stage = Stage()

    async def work():
        return await stage.ask(stage.lane(a.url, b.url))

    with ProviderServer(decisions=(status,)) as a, ProviderServer() as b:
        assert stage.run(work).answers["helps"].status is status
        assert b.requests == ()
