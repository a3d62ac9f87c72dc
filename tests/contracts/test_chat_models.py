"""What every chat model behind a provider's API does, held against a scripted provider."""

import threading
import time

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    EmptyCompletionError,
    ModelNotFoundError,
    ProviderOverloadedError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    ProviderTLSError,
    ProviderUnavailableError,
    ProviderUnreachableError,
    RateLimitedError,
    RefusedError,
    RequestRejectedError,
    ResponseTooLargeError,
    StreamTruncatedError,
)
from fingerpost.lanes.providers import load_chat
from fingerpost.testing.provider import Answer, ProviderServer, faults
from fingerpost.types.chat import ChatRequest, ChatResponse, Message, ModelRef, StopReason
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio

APIS = ["openai", "anthropic", "gemini", "ollama"]
KEY = "sk-canary-0123456789abcdef"
TEXT = "The signing key rotates every ninety days."
REQUEST = ChatRequest((Message("system", "Be brief."), Message("user", "How often?")))
SCHEMA = {
    "type": "object",
    "properties": {"tier": {"type": "integer"}},
    "required": ["tier"],
    "additionalProperties": False,
}


@pytest.fixture(params=APIS)
def api(request):
    return request.param


@pytest.fixture
async def connect(api):
    """Return a function that gives the model behind a server; all are closed at the end."""
    models = []

    def make(server, **fields):
        given = {"key": Secret(KEY), "key_name": "THE_KEY", **fields}
        models.append(load_chat(Endpoint(api, api, "scripted", server.url, **given)))
        return models[-1]

    yield make
    for model in models:
        await model.close()


async def complete(model, request=REQUEST):
    return await model.complete(request)


async def stream(model, request=REQUEST):
    """Return the whole response of a stream, having checked that its pieces are its text."""
    *pieces, response = [item async for item in model.stream(request)]
    assert all(isinstance(piece, str) and piece for piece in pieces)
    assert "".join(pieces) == response.text
    return response


async def keep(seen, items):
    """Put the items into ``seen``, where they stay when an error follows."""
    async for item in items:
        seen.append(item)


@pytest.fixture(params=[complete, stream])
def ask(request):
    return request.param


async def test_a_reply_comes_with_its_model_usage_and_reason_to_stop(api, connect, ask):
    with ProviderServer(TEXT) as server:
        response = await ask(connect(server))
    assert response == ChatResponse(
        TEXT,
        f"{api}/scripted",
        StopReason.COMPLETE,
        (Usage("generate", f"{api}/scripted", 11, 7),),
        request_id=response.request_id,
    )


async def test_what_the_provider_had_in_its_cache_is_counted_apart(api, connect, ask):
    with ProviderServer(Answer(TEXT, usage=(1000, 7), cached=600)) as server:
        [usage] = (await ask(connect(server))).usage
    assert usage.input_tokens == 1000
    assert usage.cached_tokens == (0 if api == "ollama" else 600)  # which tells none


async def test_a_stream_gives_each_piece_as_it_was_cut(connect):
    pieces = ("The sign", "ing key ", "rotates 日", "本.")
    with ProviderServer(Answer("".join(pieces), pieces=pieces)) as server:
        items = [item async for item in connect(server).stream(REQUEST)]
    assert items[:-1] == list(pieces)
    assert items[-1].text == "".join(pieces)


async def test_the_conversation_arrives_in_order(connect, ask):
    said = (
        Message("system", "Be brief."),
        Message("user", "How often?"),
        Message("assistant", "Often."),
        Message("user", "How often exactly? \ud800"),
    )
    with ProviderServer(TEXT) as server:
        await ask(connect(server), ChatRequest(said))
    assert server.requests[0].messages == (
        ("system", "Be brief."),
        ("user", "How often?"),
        ("assistant", "Often."),
        ("user", "How often exactly? ?"),
    )


async def test_limits_and_temperature_are_sent(api, connect, ask):
    request = ChatRequest(REQUEST.messages, max_tokens=77, temperature=0.25)
    with ProviderServer(TEXT) as server:
        await ask(connect(server), request)
    sent = server.requests[0].raw
    assert b"77" in sent
    assert (b"0.25" in sent) == (api != "anthropic")  # whose models refuse a temperature


async def test_a_request_can_name_another_model(api, connect, ask):
    request = ChatRequest(REQUEST.messages, model=ModelRef("vendor/odd name:v1.5", api))
    with ProviderServer(TEXT) as server:
        response = await ask(connect(server), request)
    asked = server.requests[0]
    assert response.model == f"{api}/vendor/odd name:v1.5"
    assert asked.model in {"vendor/odd name:v1.5", "vendor%2Fodd%20name%3Av1.5"}


async def test_a_reply_cut_at_the_limit_says_so(connect, ask):
    with ProviderServer(Answer(TEXT, stop="length")) as server:
        response = await ask(connect(server))
    assert (response.text, response.stop) == (TEXT, StopReason.LENGTH)


async def test_a_refusal_is_an_error_of_its_own(api, connect, ask):
    if api == "ollama":
        pytest.skip("Ollama's API has no stop reason for a refusal, so none can be told")
    script = Answer("I", stop="refused")
    with ProviderServer(script) as server, pytest.raises(RefusedError) as caught:
        await ask(connect(server))
    assert caught.value.usage == (
        Usage("generate", f"{api}/scripted", 11, 7, outcome="RefusedError"),
    )


@pytest.mark.parametrize(
    "answer", [Answer(""), Answer(" \n "), Answer("", reasoning="Let me see."), Answer("<think>Hm")]
)
async def test_a_reply_without_text_is_no_reply(connect, ask, answer):
    with ProviderServer(answer) as server, pytest.raises(EmptyCompletionError) as caught:
        await ask(connect(server))
    assert caught.value.usage[0].output_tokens == 7


async def test_thoughts_are_no_part_of_the_reply(connect, ask):
    answer = Answer(f"<think>Let me\nsee.</think>\n\n{TEXT}", reasoning="Let me see.")
    with ProviderServer(answer) as server:
        assert (await ask(connect(server))).text == TEXT


async def test_a_model_that_thinks_its_tokens_away_gets_room_from_then_on(api, connect, ask):
    request = ChatRequest(REQUEST.messages, max_tokens=77)
    with ProviderServer([Answer("", reasoning="Let me", stop="length"), TEXT, TEXT]) as server:
        model = connect(server)
        first, second = await ask(model, request), await ask(model, request)
    assert (first.text, second.text) == (TEXT, TEXT)
    assert [item.outcome for item in first.usage] == ["EmptyCompletionError", "ok"]
    assert [item.outcome for item in second.usage] == ["ok"]
    assert [str(77 + 4096).encode() in asked.raw for asked in server.requests] == [
        False,
        True,
        True,
    ]


async def test_a_model_that_thinks_all_its_room_away_has_answered_nothing(connect, ask):
    request = ChatRequest(REQUEST.messages, max_tokens=77)
    with ProviderServer(Answer("<think>Let me", stop="length")) as server:
        model = connect(server)
        with pytest.raises(EmptyCompletionError) as caught:
            await ask(model, request)
    assert len(server.requests) == len(caught.value.usage) == 2


async def test_counts_that_are_not_told_are_estimated(connect, ask):
    with ProviderServer(Answer(TEXT, usage=None)) as server:
        usage = (await ask(connect(server))).usage[0]
    assert usage.estimated
    assert usage.input_tokens > 3
    assert usage.output_tokens > 5


async def test_log_probabilities_are_told_where_the_api_has_them(api, connect, ask):
    if api == "anthropic":
        pytest.skip("Anthropic's Messages API gives no log-probabilities")
    answer = Answer("Yes no", logprobs=(("Yes", -0.25), (" no", -1.5)))
    request = ChatRequest(REQUEST.messages, top_logprobs=2)
    with ProviderServer(answer) as server:
        response = await ask(connect(server), request)
    told = [(item.token, item.logprob, dict(item.alternatives)) for item in response.logprobs]
    assert told == [("Yes", -0.25, {"Yes": -0.25}), (" no", -1.5, {" no": -1.5})]


async def test_a_schema_is_sent_in_the_way_of_the_api(connect, ask):
    request = ChatRequest(REQUEST.messages, schema=SCHEMA)
    with ProviderServer('{"tier": 1}') as server:
        assert (await ask(connect(server), request)).text == '{"tier": 1}'
    asked = server.requests[0]
    assert asked.schema == SCHEMA
    assert not any("schema" in text for _, text in asked.messages)


async def test_what_a_model_rejects_is_left_out_and_the_schema_told_in_words(connect, ask):
    request = ChatRequest(REQUEST.messages, schema=SCHEMA, temperature=0.125)
    script = [faults.status(400, "invalid_request_error"), '{"tier": 1}', '{"tier": 2}']
    with ProviderServer(script) as server:
        model = connect(server)
        assert (await ask(model, request)).text == '{"tier": 1}'
        assert (await ask(model, request)).text == '{"tier": 2}'
    first, *others = server.requests
    assert first.schema == SCHEMA
    for asked in others:
        assert b"0.125" not in asked.raw
        assert asked.schema is None
        assert '"tier"' in asked.messages[0][1]


@pytest.mark.parametrize(("provider", "n_asked"), [("custom", 3), ("openai", 1)])
async def test_only_a_server_of_ones_own_may_refuse_a_schema_with_status_500(
    provider, n_asked, ask
):
    request = ChatRequest(REQUEST.messages, schema=SCHEMA)
    with ProviderServer([faults.status(500, "api_error"), '{"tier": 1}', '{"tier": 2}']) as server:
        key = None if provider == "custom" else Secret(KEY)
        model = load_chat(Endpoint(provider, "openai", "scripted", server.url, key=key))
        if provider == "custom":
            assert (await ask(model, request)).text == '{"tier": 1}'
            assert (await ask(model, request)).text == '{"tier": 2}'
        else:
            with pytest.raises(ProviderUnavailableError):
                await ask(model, request)
        await model.close()
    assert [asked.schema is None for asked in server.requests] == [False, True, True][:n_asked]


async def test_a_rejected_request_that_was_plain_already_is_sent_once(connect, ask):
    script = faults.status(400, "invalid_request_error")
    with ProviderServer(script) as server, pytest.raises(RequestRejectedError):
        await ask(connect(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (faults.status(401, "invalid_api_key"), AuthenticationError),
        (faults.status(404, "not_found_error"), ModelNotFoundError),
        (faults.status(429, "rate_limit_error", headers={"retry-after": "7"}), RateLimitedError),
        (faults.status(500, "api_error"), ProviderUnavailableError),
        (faults.status(529, "overloaded_error"), ProviderOverloadedError),
        (faults.redirect("http://127.0.0.1:9/v1/chat/completions"), ProviderRedirectedError),
        (faults.html(), BadResponseError),
        (faults.bad_json(), BadResponseError),
        (faults.missing_fields(), BadResponseError),
        (faults.raw(b"[1]"), BadResponseError),
        (faults.raw(b'{"choices": []}'), BadResponseError),
        (faults.raw(b"\xff\xfe" * 40), BadResponseError),
        (faults.raw(b"[" * 100_000), BadResponseError),
        (faults.raw(b'{"choices": [{"message": {"content": NaN}}]}'), BadResponseError),
        (faults.gzip_bomb(2**20), BadResponseError),
        (faults.huge(16 * 2**20), ResponseTooLargeError),
        (faults.reset(), ProviderUnreachableError),
        (faults.no_text(), EmptyCompletionError),
        (faults.cut(80, silently=False), StreamTruncatedError),
    ],
    ids=str,
)
async def test_each_fault_has_its_error(api, connect, ask, fault, expected):
    with ProviderServer(fault) as server, pytest.raises(expected) as caught:
        await ask(connect(server))
    error = caught.value
    assert (error.provider, error.model) == (api, "scripted")
    assert len(error.usage) == 1
    assert error.usage[0].outcome == type(error).__name__
    assert len(str(error)) < 300
    if isinstance(error, RateLimitedError):
        assert error.retry_after_s == 7
    if error.status >= 400:
        assert error.usage[0] == Usage(
            "generate", f"{api}/scripted", 0, outcome=type(error).__name__
        )


async def test_nobody_at_the_address_is_unreachable(connect, ask):
    with ProviderServer() as server:
        pass
    with pytest.raises(ProviderUnreachableError):
        await ask(connect(server))


async def test_a_server_without_tls_is_never_asked_in_plain_text(api, ask):
    with ProviderServer() as server:
        url = server.url.replace("http:", "https:")
        model = load_chat(Endpoint(api, api, "scripted", url, Secret(KEY)))
        with pytest.raises(ProviderTLSError):
            await ask(model)
        await model.close()
    assert server.requests == ()


async def test_an_error_told_before_any_text_is_that_error(api, connect, ask):
    if api == "ollama":
        pytest.skip("Ollama's API tells errors in words alone, and words are not read")
    script = faults.error_in_stream(0, "overloaded_error")
    with ProviderServer(script) as server, pytest.raises(ProviderOverloadedError):
        await ask(connect(server))


async def test_an_error_told_after_text_keeps_the_text(connect):
    seen = []
    script = faults.error_in_stream(2, answer=Answer(TEXT))
    with ProviderServer(script) as server, pytest.raises(StreamTruncatedError) as caught:
        await keep(seen, connect(server).stream(REQUEST))
    assert caught.value.text == "".join(seen) == "The signing"
    assert caught.value.usage[0].estimated


FAILED = {
    "openai": b'{"choices": [{"message": {"content": "The"}, "finish_reason": "error"}]}',
    "gemini": b'{"candidates": [{"content": {"parts": [{"text": "The"}]}, "finishReason": "OTHER"}]}',
}


async def test_a_reply_that_says_it_failed_is_no_answer(api, connect, ask):
    if api not in FAILED:
        pytest.skip("this API has no finish reason that means a failure: it tells an error instead")
    fault = faults.raw(FAILED[api])
    with ProviderServer(fault) as server, pytest.raises(BadResponseError):
        await ask(connect(server))


@pytest.mark.parametrize("silently", [True, False])
async def test_a_stream_that_breaks_off_is_never_an_answer(connect, silently):
    seen = []
    half = Answer(TEXT, pieces=(TEXT[:10], TEXT[10:] * 200))
    script = faults.cut(1500, half, silently=silently)
    with ProviderServer(script) as server, pytest.raises(StreamTruncatedError) as caught:
        await keep(seen, connect(server).stream(REQUEST))
    assert caught.value.text == "".join(seen) == TEXT[:10]


async def test_a_server_that_does_not_stream_is_read_all_the_same(api, connect):
    if api == "ollama":
        pytest.skip(
            "a whole reply of Ollama is a stream of one line already, so there is no difference to show"
        )
    whole = {
        "openai": {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]},
        "anthropic": {
            "type": "message",
            "content": [{"type": "text", "text": TEXT}],
            "stop_reason": "end_turn",
        },
        "gemini": {"candidates": [{"content": {"parts": [{"text": TEXT}]}}]},
    }
    with ProviderServer(faults.raw(whole[api])) as server:
        assert (await stream(connect(server))).text == TEXT


async def test_a_key_stands_in_a_header_and_nowhere_else(connect, ask):
    with ProviderServer(TEXT) as server:
        await ask(connect(server))
    asked = server.requests[0]
    assert sum(KEY in value for value in asked.headers.values()) == 1
    assert KEY not in asked.path
    assert KEY.encode() not in asked.raw


async def test_a_keyless_server_gets_no_key_header(connect, ask):
    with ProviderServer(TEXT) as server:
        await ask(connect(server, key=None))
    names = set(server.requests[0].headers)
    assert not names & {"authorization", "x-api-key", "x-goog-api-key"}


async def test_a_connection_is_used_again(connect, ask):
    with ProviderServer(TEXT) as server:
        model = connect(server)
        for _ in range(3):
            await ask(model)
        assert server.n_open_connections == 1
        await model.close()
        assert server.wait_for(lambda s: s.n_open_connections == 0)
        assert (await ask(model)).text == TEXT


async def test_a_cancelled_call_closes_its_connection(connect, ask):
    with ProviderServer(faults.stall()) as server:
        async with anyio.create_task_group() as group:
            group.start_soon(ask, connect(server))
            arrived = await anyio.to_thread.run_sync(
                server.wait_for, lambda s: len(s.requests) == 1
            )
            assert arrived
            group.cancel_scope.cancel()
        assert server.wait_for(lambda s: s.n_open_connections == 0)


async def test_a_stream_that_is_closed_early_closes_its_connection(connect):
    with ProviderServer(faults.hold(1, Answer(TEXT))) as server:
        answer = connect(server).stream(REQUEST)
        assert await anext(answer) == "The"
        assert server.n_open_connections == 1
        await answer.aclose()
        assert server.wait_for(lambda s: s.n_open_connections == 0)


async def test_one_model_serves_several_event_loops_at_once(connect, ask):
    texts = []

    async def use():
        texts.append((await ask(model)).text)
        await model.close()

    with ProviderServer(TEXT) as server:
        model = connect(server)
        threads = [threading.Thread(target=anyio.run, args=(use,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        texts.append((await ask(model)).text)
        for thread in threads:
            await anyio.to_thread.run_sync(thread.join, 5.0)
        await model.close()
        assert texts == [TEXT] * 5
        assert server.wait_for(lambda s: s.n_open_connections == 0)


@pytest.mark.parametrize(
    "fault",
    [
        faults.stall(),
        faults.drip("head"),
        faults.drip("body"),
        faults.drip("comments"),
        faults.drip("events"),
        faults.hold(2, Answer(TEXT)),
    ],
    ids=str,
)
async def test_no_drip_outlives_the_deadline(connect, ask, fault):
    with ProviderServer(fault) as server:
        model = connect(server)
        deadline = time.monotonic() + 0.3
        request = ChatRequest(REQUEST.messages, deadline=deadline)
        woken = []

        async def wake():
            """Tell how late a busy machine is by itself."""
            await anyio.sleep(max(0.0, deadline - time.monotonic()))
            woken.append(time.monotonic())

        async with anyio.create_task_group() as group:
            group.start_soon(wake)
            with pytest.raises((ProviderTimeoutError, StreamTruncatedError)) as caught:
                await ask(model, request)
            ended = time.monotonic()
        assert deadline - 0.01 < ended < max(deadline, woken[0]) + 0.25
        cause = caught.value.__cause__ or caught.value
        assert cause.phase == "total"
        assert server.wait_for(lambda s: s.n_open_connections == 0)


async def test_a_deadline_that_has_passed_sends_nothing(connect, ask):
    with ProviderServer(TEXT) as server:
        request = ChatRequest(REQUEST.messages, deadline=time.monotonic() - 1)
        with pytest.raises(ProviderTimeoutError):
            await ask(connect(server), request)
    assert server.requests == ()
