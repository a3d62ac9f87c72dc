"""A reranker behind a provider's API: what it is sent, what it tells, how it fails."""

import json
import time

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    BudgetExceededError,
    ConfigError,
    MissingRecordingError,
    ProviderError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RateLimitedError,
)
from fingerpost.lanes.budget import Meter
from fingerpost.lanes.failover_rerank import FailoverReranker
from fingerpost.lanes.observed import ObservedReranker
from fingerpost.lanes.providers import load_reranker
from fingerpost.lanes.recorded import Recorder, Replayer
from fingerpost.testing.provider import ProviderServer, faults
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio
KEY = "canary-Zm9v0123456789abc"
TEXTS = ["the cat sleeps", "the dog barks loudly", "birds"]
QUERY = "who barks"


def model_at(url, api="cohere", key=KEY):
    secret = Secret(key) if key else None
    return load_reranker(Endpoint(api, api, "ranker-1", url, secret, "COHERE_API_KEY", "rerank"))


async def ask(model, query=QUERY):
    """Return what a model says, its connections closed."""
    try:
        return await model.rerank(query, TEXTS)
    finally:
        await model.close()


@pytest.mark.parametrize(
    ("api", "path", "fields"),
    [
        ("cohere", "/v2/rerank", set()),
        ("jina", "/v1/rerank", {"return_documents"}),
        ("voyage", "/v1/rerank", {"return_documents", "truncation"}),
    ],
)
async def test_each_api_is_asked_in_its_own_words_and_its_scores_come_in_the_order_of_the_texts(
    api, path, fields
):
    with ProviderServer(rankings=(0.1, 0.9, 0.3)) as server:
        ranking = await ask(model_at(server.url, api))
        request = server.requests[0]
    assert ranking.scores == (0.1, 0.9, 0.3)
    assert ranking.usage == (Usage("rerank", f"{api}/ranker-1", 8),)
    assert (request.method, request.path) == ("POST", path)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (request.body["query"], request.body["documents"]) == (QUERY, TEXTS)
    assert set(request.body) - {"model", "query", "documents"} == fields


async def test_a_server_without_a_key_is_sent_none():
    with ProviderServer() as server:
        ranking = await ask(model_at(f"{server.url}/v1/", "jina", key=""))
        assert "authorization" not in server.requests[0].headers
        assert server.requests[0].path == "/v1/rerank"
    assert ranking.scores == (0.0, 0.5, 0.0)


async def test_log_odds_become_probabilities_in_the_same_order():
    with ProviderServer(rankings=(-4.0, 2.5, 0.5)) as server:
        scores = (await ask(model_at(server.url))).scores
    assert scores[1] > scores[2] > scores[0]
    assert all(0 <= score <= 1 for score in scores)


async def test_a_bare_list_with_plain_scores_is_read_too():
    told = json.dumps([{"index": n, "score": n / 4} for n in (2, 1, 0)]).encode()
    with ProviderServer(rankings=faults.raw(told)) as server:
        ranking = await ask(model_at(server.url, "jina"))
    assert ranking.scores == (0.0, 0.25, 0.5)
    assert ranking.usage[0].estimated


def told(*items):
    results = [{"index": index, "relevance_score": score} for index, score in items]
    return faults.raw({"results": results})


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (told((0, 0.1), (1, 0.2)), BadResponseError),
        (told((0, 0.1), (1, 0.2), (1, 0.3)), BadResponseError),
        (told((0, 0.1), (1, 0.2), (2, 0.3), (2, 0.4)), BadResponseError),
        (told((0, 0.1), (1, 0.2), (3, 0.3)), BadResponseError),
        (told((0, 0.1), (1, 0.2), (-1, 0.3)), BadResponseError),
        (told((0, 0.1), (1, 0.2), ("2", 0.3)), BadResponseError),
        (told((0, 0.1), (1, 0.2), (2, "0.3")), BadResponseError),
        (told((0, 0.1), (1, 0.2), (2, True)), BadResponseError),
        (told((0, 0.1), (1, 0.2), (2, float("nan"))), BadResponseError),
        (told((0, 0.1), (1, 0.2), (2, float("inf"))), BadResponseError),
        (faults.missing_fields(), BadResponseError),
        (faults.bad_json(), BadResponseError),
        (faults.html(), BadResponseError),
        (faults.raw({"error": {"message": "no", "code": "rate_limit_exceeded"}}), RateLimitedError),
        (faults.status(401), AuthenticationError),
        (faults.status(429), RateLimitedError),
        (faults.status(503), ProviderUnavailableError),
        (faults.reset(), ProviderError),
        (faults.cut(20), ProviderError),
        (faults.redirect("http://127.0.0.1:1/"), ProviderRedirectedError),
        (faults.gzip_bomb(), ProviderError),
    ],
    ids=str,
)
async def test_what_is_no_ranking_is_an_error_that_says_what_was_spent(answer, error):
    with ProviderServer(rankings=answer) as server, pytest.raises(error) as caught:
        await ask(model_at(server.url))
    (usage,) = caught.value.usage
    assert (usage.job, usage.outcome) == ("rerank", type(caught.value).__name__)
    assert len(server.requests) == 1


async def test_a_key_that_the_server_repeats_is_not_shown():
    with ProviderServer(rankings=faults.status(400, message=f"bad key {KEY}")) as server:
        model = model_at(server.url)
        with pytest.raises(ProviderError) as caught:
            await ask(model)
    assert KEY not in f"{caught.value} {caught.value!r} {model!r} {caught.value.hint}"


async def test_a_call_that_is_given_up_leaves_no_request_open():
    with ProviderServer(rankings=faults.stall()) as server:
        model = model_at(server.url)
        with anyio.move_on_after(0.2) as scope:
            await model.rerank(QUERY, TEXTS)
        assert scope.cancelled_caught
        await model.close()
        assert server.wait_for(lambda s: s.n_open_connections == 0)


async def test_each_call_is_told_as_an_event_with_what_it_took():
    events = []
    with ProviderServer(rankings=[(0.1, 0.2, 0.3), faults.status(503)]) as server:
        model = ObservedReranker(model_at(server.url), events.append)
        await model.rerank(QUERY, TEXTS, query_id="q1")
        with pytest.raises(ProviderUnavailableError):
            await model.rerank(QUERY, TEXTS)
        await model.close()
    assert [(e.job, e.provider, e.query_id, e.input_tokens, e.outcome) for e in events] == [
        ("rerank", "cohere", "q1", 8, "ok"),
        ("rerank", "cohere", "", 0, "ProviderUnavailableError"),
    ]
    assert not any(text in repr(events) for text in TEXTS)


async def test_a_lane_begins_no_attempt_past_the_deadline_and_names_the_question():
    events = []
    with ProviderServer(rankings=[faults.status(503), (0.1, 0.2, 0.3)]) as server:
        lane = FailoverReranker([model_at(server.url)], on_failover=events.append)
        with pytest.raises(ProviderTimeoutError):
            await lane.rerank(QUERY, TEXTS, deadline=time.monotonic() - 1)
        assert server.requests == ()
        ranking = await lane.rerank(QUERY, TEXTS, query_id="q9")
        await lane.close()
    assert [item.outcome for item in ranking.usage] == ["ProviderUnavailableError", "ok"]
    assert [(event.job, event.query_id) for event in events] == [("rerank", "q9")]


async def test_a_meter_counts_calls_and_those_that_were_given_up():
    meter = Meter()
    with ProviderServer(rankings=[(0.1, 0.2, 0.3), faults.stall()]) as server:
        model = meter.around_reranker(model_at(server.url))
        await model.rerank(QUERY, TEXTS)
        with anyio.move_on_after(0.2):
            await model.rerank(QUERY, TEXTS)
        await model.close()
    assert [(item.job, item.outcome) for item in meter.usage] == [
        ("rerank", "ok"),
        ("rerank", "closed"),
    ]


async def test_a_recorded_ranking_is_given_again_without_asking_and_a_recorded_error_raised(
    tmp_path,
):
    with ProviderServer(rankings=[(0.1, 0.2, 0.3), faults.status(503)]) as server:
        model = Recorder(tmp_path, [Secret(KEY)]).around_reranker(model_at(server.url))
        first = await ask(model)
        with pytest.raises(ProviderUnavailableError):
            await ask(model)
        url = server.url
    again = Replayer(tmp_path).around_reranker(model_at(url))
    assert await again.rerank(QUERY, TEXTS) == first
    with pytest.raises(ProviderUnavailableError):
        await again.rerank(QUERY, TEXTS)
    with pytest.raises(MissingRecordingError):
        await again.rerank("another", TEXTS)
    assert not any(KEY in file.read_text() for file in tmp_path.iterdir())


async def test_a_record_that_was_changed_is_named(tmp_path):
    with ProviderServer(rankings=(0.1, 0.2, 0.3)) as server:
        await ask(Recorder(tmp_path).around_reranker(model_at(server.url)))
        url = server.url
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text().replace('"scores"', '"scars"'))
    with pytest.raises(MissingRecordingError, match="was changed"):
        await Replayer(tmp_path).around_reranker(model_at(url)).rerank(QUERY, TEXTS)


def test_an_api_that_reranks_nothing_is_refused():
    with pytest.raises(ConfigError, match="serves no reranker"):
        load_reranker(Endpoint("openai", "openai", "gpt", "http://localhost", job="rerank"))


async def test_a_budget_holds_before_a_call_is_made():
    meter = Meter(budget_usd=0.000_000_1)
    with ProviderServer() as server:
        # Of a model with a known price; which one does not matter to the meter.
        endpoint = Endpoint("openai", "jina", "gpt-4o", server.url, job="rerank")
        with pytest.raises(BudgetExceededError):
            await meter.around_reranker(load_reranker(endpoint)).rerank(QUERY, TEXTS)
        assert server.requests == ()
