"""What every decision model behind a provider's API does, held against a scripted provider."""

import asyncio
import time

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    ConfigError,
    InvalidDecisionResponseError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitedError,
    RequestRejectedError,
    RequestTooLargeError,
    ResponseTooLargeError,
    UsageError,
)
from fingerpost.lanes.asked import ask
from fingerpost.lanes.providers import load_decision
from fingerpost.lanes.providers.decision_limits import DecisionLimits
from fingerpost.lanes.providers.decision_models import (
    GeminiDecisionModel,
    OpenAIDecisionModel,
    SystemOneDecisionModel,
)
from fingerpost.lanes.providers.decision_systemone import SystemOneDialect
from fingerpost.testing.provider import Decided, Fault, ProviderServer, faults
from fingerpost.types.question import AnswerStatus, Choice, Score, YesNo
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio

APIS = ["systemone", "openai", "gemini"]
KEY = "sk-canary-0123456789abcdef"
DOCS = YesNo("docs ✓", "Can the docs answer this?", "a how-to", "small talk")
LANE = Choice("lane", "Which lane?", {"howto": "steps", "reference": None, "日本": "elsewhere"})
DEPTH = Score("depth", "How deep?", ("one line", "one page", "a book"))
QUESTIONS = (DOCS, LANE, DEPTH)
SAID = (0.94, {"howto": 0.8, "reference": 0.15}, (0.25, 0.6, 0.15))
INPUT = {"question": "How do I rotate a key? 日本 \ud800", "n": [1, 2.5, None, True]}


@pytest.fixture(params=APIS)
def api(request):
    return request.param


@pytest.fixture
async def connect(api):
    """Return a function that gives the model behind a server; all are closed at the end."""
    models = []

    def make(server, **fields):
        given = {"key": Secret(KEY), "key_name": "THE_KEY", **fields}
        models.append(load_decision(Endpoint(api, api, "scripted", server.url, **given)))
        return models[-1]

    yield make
    for model in models:
        await model.close()


async def test_all_questions_are_answered_in_one_call(api, connect):
    with ProviderServer(decisions=SAID) as server:
        response = await ask(connect(server), INPUT, QUESTIONS)
    assert len(server.requests) == 1
    docs, lane, depth = response.answers.values()
    assert list(response.answers) == ["docs ✓", "lane", "depth"]
    assert (docs.label, docs.value) == ("yes", pytest.approx(0.94))
    assert (lane.label, lane.value) == ("howto", None)
    assert dict(lane.probabilities) == pytest.approx(
        {"howto": 0.8, "reference": 0.15, "日本": 0.05}
    )
    assert (depth.label, depth.value) == ("1", pytest.approx(0.9))
    assert lane.confidence == pytest.approx(0.7)
    assert response.model == f"{api}/scripted"
    assert response.request_id == "scripted-1"
    assert response.usage == (Usage("decide", f"{api}/scripted", 11, 0),)


async def test_the_questions_and_the_input_arrive_whole(api, connect):
    with ProviderServer(decisions=SAID) as server:
        await ask(connect(server), INPUT, QUESTIONS)
    [asked] = server.requests
    docs, lane, depth = asked.questions
    assert (asked.api, asked.model) == (api, "scripted")
    assert [q.id for q in asked.questions] == ["q0", "q1", "q2"]  # what every API takes
    if api == "openai":  # which has no field for what yes and no mean
        assert docs.text == "Can the docs answer this?\nYes when: a how-to\nNo when: small talk"
    else:
        assert (docs.text, docs.yes, docs.no) == (DOCS.text, "a how-to", "small talk")
    assert dict(lane.options) == dict(LANE.options)
    assert list(lane.options) == list(LANE.options)
    assert depth.levels == DEPTH.levels
    whole = {"question": "How do I rotate a key? 日本 ?", "n": [1, 2.5, None, True]}
    assert (
        asked.input == whole if api == "systemone" else '"n": [1, 2.5, null, true]' in asked.input
    )


async def test_an_input_that_is_text_is_sent_as_text(connect):
    with ProviderServer(decisions=SAID) as server:
        await ask(connect(server), "How?", QUESTIONS)
    assert server.requests[0].input == "How?"


async def test_a_side_that_is_not_described_is_left_out(connect):
    questions = (YesNo("a", "Is it?"), YesNo("b", "Is it?", yes="so"))
    with ProviderServer() as server:
        await ask(connect(server), "?", questions)
    bare, one = server.requests[0].questions
    assert (bare.text, bare.yes, bare.no) == ("Is it?", None, None)
    assert "so" in (one.yes or one.text)
    assert one.no is None


async def test_the_key_stands_in_its_header_only(api, connect):
    with ProviderServer(decisions=SAID) as server:
        await ask(connect(server), INPUT, QUESTIONS)
    [asked] = server.requests
    name = {"gemini": "x-goog-api-key"}.get(api, "authorization")
    assert asked.headers[name].removeprefix("Bearer ") == KEY
    assert KEY not in asked.path + asked.raw.decode()


async def test_a_server_without_keys_is_sent_none(connect):
    with ProviderServer(decisions=SAID) as server:
        await ask(connect(server, key=None), INPUT, QUESTIONS)
    assert not {"authorization", "x-goog-api-key"} & set(server.requests[0].headers)


async def test_a_refusal_is_its_own_answer(api, connect):
    with ProviderServer(decisions=(0.9, AnswerStatus.REFUSED, (1, 0, 0))) as server:
        response = await ask(connect(server), INPUT, QUESTIONS)
    docs, lane, depth = response.answers.values()
    assert (lane.status, lane.label, lane.probabilities) == (AnswerStatus.REFUSED, "", {})
    if api == "gemini":  # which blocks the whole input
        assert [a.status for a in (docs, depth)] == [AnswerStatus.REFUSED] * 2
        assert docs.extras == {"block_reason": "safety"}
    else:
        assert (docs.value, depth.label) == (pytest.approx(0.9), "0")


async def test_an_abstention_is_kept_with_what_it_says(connect):
    with ProviderServer(decisions=(AnswerStatus.ABSTAINED,)) as server:
        response = await ask(connect(server), INPUT, QUESTIONS)
    for answer in response.answers.values():
        assert answer.status is AnswerStatus.ABSTAINED
        assert answer.unknown_probability == 0.6
        assert answer.confidence == pytest.approx(0)


async def test_confidence_is_ours_and_the_servers_is_only_shown(connect):
    decided = Decided(({"howto": 0.8},), extras={"confidence": 0.123, "margin": [1, {"a": None}]})
    with ProviderServer(decisions=decided) as server:
        response = await ask(connect(server), INPUT, (LANE,))
    answer = response.answers["lane"]
    assert (answer.confidence, answer.provider_confidence) == (pytest.approx(0.7), 0.123)
    assert answer.extras == {"margin": [1, {"a": None}]}


async def test_the_build_that_answered_is_told(api, connect):
    with ProviderServer(decisions=Decided(model="jev-1.13.0")) as server:
        response = await ask(connect(server), INPUT, QUESTIONS)
    assert response.model == f"{api}/{'scripted' if api == 'gemini' else 'jev-1.13.0'}"


async def test_a_rounded_distribution_is_made_whole(connect):
    levels = Score("s", "?", tuple("abcdefghi"))
    with ProviderServer(decisions=((0.11,) * 9,)) as server:
        answer = (await ask(connect(server), "?", (levels,))).answers["s"]
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert answer.value == pytest.approx(4.0)


def each(change):
    """Return a change of every answer of a body, however they are told."""

    def apply(body):
        answers = body["answers"]
        for answer in answers.values() if isinstance(answers, dict) else answers:
            change(answer)

    return apply


def first_probability(value):
    def change(answer):
        told = answer.get("probabilities")
        if isinstance(told, dict):
            told[next(iter(told))] = value
        elif told:
            told[0]["probability"] = value
        else:
            answer["probability" if "probability" in answer else "noul"] = value

    return each(change)


def chosen(label):
    return each(lambda answer: answer.update(choice=label))


def one_less(body):
    answers = body["answers"]
    answers.pop() if isinstance(answers, list) else answers.popitem()


def other_label(answer):
    told = answer.get("probabilities")
    if isinstance(told, dict):
        told["other"] = told.pop(next(iter(told)))
    elif told:
        told[0]["value"] = "other"
    else:
        answer["type"] = "score"


WRONG = {
    "an answer is missing": one_less,
    "no answers": lambda body: body.pop("answers"),
    "null answers": lambda body: body.update(answers=None),
    "answers that are text": lambda body: body.update(answers="yes"),
    "another type": each(lambda answer: answer.update(type="box")),
    "an answer that is null": lambda body: body.update(
        answers=[None] * 3 if isinstance(body["answers"], list) else dict.fromkeys(body["answers"])
    ),
    "NaN": first_probability(float("nan")),
    "infinity": first_probability(float("inf")),
    "below 0": first_probability(-0.01),
    "above 1": first_probability(1.01),
    "beyond all bounds": first_probability(10**400),
    "text": first_probability("0.9"),
    "true": first_probability(True),
    "null": first_probability(None),
    "an unknown option": each(other_label),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("question", QUESTIONS, ids=["yes or no", "choice", "score"])
async def test_answers_that_do_not_fit_are_an_error_of_their_own(api, connect, wrong, question):
    with (
        ProviderServer(decisions=faults.wrong_answers(WRONG[wrong])) as server,
        pytest.raises(InvalidDecisionResponseError) as caught,
    ):
        await connect(server).decide(INPUT, (question,))
    error = caught.value
    assert (error.provider, error.model, error.status) == (api, "scripted", 200)
    assert [(u.input_tokens, u.outcome) for u in error.usage] == [(11, type(error).__name__)]


@pytest.mark.parametrize(
    "change",
    [
        chosen("reference"),
        chosen("nowhere"),
        chosen(7),
        each(lambda answer: answer.update(score=1.5)),
        each(lambda answer: answer.update(score=-1)),
        each(lambda answer: answer.update(score="deep")),
        each(lambda answer: answer.update(unknown_probability=2)),
        first_probability(0.5),
    ],
)
async def test_an_answer_that_contradicts_itself_is_an_error(connect, change):
    decided = Decided(({"howto": 0.8}, (0.9, 0.1, 0.0)))
    with (
        ProviderServer(decisions=faults.wrong_answers(change, decided)) as server,
        pytest.raises(InvalidDecisionResponseError),
    ):
        await connect(server).decide(INPUT, (LANE, DEPTH))


async def test_a_field_that_stands_twice_makes_a_body_that_is_no_reply(connect):
    body = b'{"answers": {"q0": {"type": "noul", "noul": 0.9, "noul": 0.1}}}'
    with ProviderServer(decisions=faults.raw(body)) as server, pytest.raises(BadResponseError):
        await connect(server).decide(INPUT, (DOCS,))


async def test_without_a_distribution_only_what_was_chosen_is_known(connect):
    gone = faults.wrong_answers(each(lambda answer: answer.pop("probabilities")))
    with ProviderServer(decisions=gone) as server:
        response = await ask(connect(server), INPUT, (LANE, DEPTH))
    lane, depth = response.answers.values()
    assert (lane.label, lane.confidence, lane.probabilities) == ("howto", None, {})
    assert (depth.value, depth.confidence) == (pytest.approx(0.15), None)


async def test_more_questions_than_a_request_holds_are_spread_and_answered_in_order():
    questions = [YesNo(f"n{n}", f"Is it {n}?") for n in range(150)]

    def say(received):
        return tuple(int(q.text.removesuffix("?").split()[-1]) / 1000 for q in received.questions)

    with ProviderServer(decisions=say) as server:
        model = SystemOneDecisionModel(server.url, "m", KEY)
        response = await ask(model, "?", questions)
        await model.close()
    assert sorted(len(asked.questions) for asked in server.requests) == [22, 64, 64]
    assert [a.value for a in response.answers.values()] == [n / 1000 for n in range(150)]
    assert [u.input_tokens for u in response.usage] == [11, 11, 11]


async def test_a_body_that_is_too_large_is_spread_too():
    questions = [YesNo(f"n{n}", "x" * 200) for n in range(16)]
    limits = DecisionLimits(max_bytes=2000)
    with ProviderServer() as server:
        model = SystemOneDecisionModel(server.url, "m", limits=limits)
        response = await ask(model, "?", questions)
        with pytest.raises(RequestTooLargeError):
            await ask(model, "y" * 2000, questions)
        await model.close()
    assert list(response.answers) == [q.id for q in questions]
    assert len(server.requests) > 1
    assert all(len(asked.raw) <= 2000 for asked in server.requests)


async def test_when_one_of_several_requests_fails_so_does_the_call():
    questions = [YesNo(f"n{n}", f"{n}") for n in range(130)]

    last_came = asyncio.Event()

    async def refuse_then(exchange):
        await asyncio.wait_for(last_came.wait(), 5)
        await faults.status(402).play(exchange)

    def say(received):
        number = int(received.questions[0].text)
        if number == 128:
            last_came.set()
        return {0: (0.5,), 64: Fault("402", refuse_then), 128: faults.stall()}[number]

    with ProviderServer(decisions=say) as server:
        model = SystemOneDecisionModel(server.url, "m")
        with pytest.raises(QuotaError) as caught:
            await ask(model, "?", questions)
        await model.close()
    usage = caught.value.usage
    assert [item.outcome for item in usage[1:]] == ["QuotaError", "closed"]
    assert (usage[1].input_tokens, usage[2].estimated) == (0, True)
    assert usage[2].input_tokens > 0


@pytest.mark.parametrize(
    "question",
    [
        Choice("c", "?", {f"o{n}": None for n in range(27)}),
        Score("s", "?", tuple(f"l{n}" for n in range(11))),
    ],
)
async def test_more_options_or_levels_than_it_takes_are_refused_before_anything_is_sent(question):
    with ProviderServer() as server:
        model = SystemOneDecisionModel(server.url, "m")
        with pytest.raises(ConfigError, match=f"question '{question.id}' has"):
            await ask(model, "?", (question,))
    assert server.requests == ()


async def test_an_input_within_itself_is_refused(connect):
    loop = []
    loop.append(loop)
    with ProviderServer() as server, pytest.raises(UsageError, match="nests too deeply"):
        await ask(connect(server), loop, QUESTIONS)


async def test_a_server_may_differ_in_address_header_and_model():
    with ProviderServer(decisions=SAID) as server:
        dialect = SystemOneDialect(
            url=f"{server.url}/v1/decisions?version=2",
            auth_header="X-Api-Key",
            auth_scheme="",
            send_model=False,
            criteria="gemini",
        )
        model = SystemOneDecisionModel("", "fast", KEY, provider="parallel", dialect=dialect)
        await ask(model, INPUT, QUESTIONS)
        await model.close()
    [asked] = server.requests
    assert (asked.path, asked.api) == ("/v1/decisions?version=2", "systemone")
    assert asked.headers["x-api-key"] == KEY
    assert "authorization" not in asked.headers
    assert "model" not in asked.body
    assert asked.body["questions"]["q0"]["criteria"] == {
        "true_description": "a how-to",
        "false_description": "small talk",
    }


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/", "/v1/systemone"])
async def test_an_address_may_be_written_in_several_ways(base):
    with ProviderServer() as server:
        model = SystemOneDecisionModel(server.url + base, "m")
        await ask(model, "?", (DOCS,))
        await model.close()
    assert server.requests[0].path == "/v1/systemone"


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda url: OpenAIDecisionModel("m", KEY, url), "/v1/decisions"),
        (lambda url: GeminiDecisionModel("m", KEY, url), "/v1beta/decisions"),
        (
            lambda url: SystemOneDecisionModel(f"{url}/api/v1", "m", KEY, provider="openrouter"),
            "/api/v1/systemone",
        ),
        (
            lambda url: SystemOneDecisionModel(f"{url}/api", "m", provider="ollama"),
            "/v1/systemone",
        ),
    ],
)
async def test_each_api_has_its_path(make, path):
    with ProviderServer() as server:
        model = make(server.url)
        await ask(model, "?", (DOCS,))
        await model.close()
    assert server.requests[0].path == path


@pytest.mark.parametrize(
    "body",
    [
        {"error": "the text"},
        {"error": {"message": "the text", "code": "odd", "field": "questions"}},
        {"message": "the text", "error_type": "odd"},
        {"detail": "the text"},
        {"detail": {"error_type": "odd", "message": "the text"}},
        {"detail": [{"loc": ["body", "questions"], "msg": "the text", "type": "missing"}]},
    ],
)
async def test_every_way_to_tell_an_error_is_understood(connect, body):
    with (
        ProviderServer(decisions=faults.status(422, body=body)) as server,
        pytest.raises(RequestRejectedError, match=r"the text\.?$"),
    ):
        await connect(server).decide(INPUT, QUESTIONS)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (faults.status(401, message=f"no {KEY}"), AuthenticationError),
        (faults.status(429, headers={"retry-after": "4"}), RateLimitedError),
        (faults.html(), BadResponseError),
        (faults.bad_json(), BadResponseError),
        (faults.gzip_bomb(2**20), BadResponseError),
        (faults.huge(9 * 2**20), ResponseTooLargeError),
        (faults.redirect("http://127.0.0.1:9/"), ProviderRedirectedError),
    ],
)
async def test_a_failure_is_typed_and_holds_no_key(connect, fault, error):
    with ProviderServer(decisions=fault) as server, pytest.raises(error) as caught:
        await connect(server).decide(INPUT, QUESTIONS)
    assert KEY not in f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert [u.job for u in caught.value.usage] == ["decide"]


async def test_a_key_said_back_does_not_reach_the_response(connect):
    decided = Decided(model=f"m-{KEY}", extras={"note": [f"for {KEY}"]})
    with ProviderServer(decisions=decided) as server:
        response = await ask(connect(server), INPUT, QUESTIONS)
    assert KEY not in repr(response)


async def test_calls_at_once_do_not_mix(connect):
    def say(received):
        return (int(received.input) / 1000,)

    found = {}
    with ProviderServer(decisions=say) as server:
        model = connect(server)

        async def one(number):
            response = await ask(model, str(number), (DOCS,))
            found[number] = response.answers[DOCS.id].value

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(one, number)
    assert found == {number: number / 1000 for number in range(100)}


def test_one_model_serves_several_event_loops(api):
    with ProviderServer() as server:
        model = load_decision(Endpoint(api, api, "scripted", server.url))

        async def twice():
            await ask(model, "?", QUESTIONS)
            await ask(model, "?", QUESTIONS)
            await model.close()

        anyio.run(twice)
        anyio.run(twice, backend="trio")
    assert len(server.requests) == 4


@pytest.mark.parametrize("fault", [faults.stall(), faults.drip("head"), faults.drip("body")])
async def test_a_call_ends_by_its_deadline(connect, fault):
    with ProviderServer(decisions=fault) as server:
        began = time.monotonic()
        with pytest.raises(ProviderTimeoutError):
            await ask(connect(server), INPUT, QUESTIONS, deadline=began + 0.2)
        assert time.monotonic() - began < 2
        assert server.wait_for(lambda s: not s.n_open_connections)


async def test_a_call_has_a_limit_of_its_own():
    with ProviderServer(decisions=faults.drip("body")) as server:
        model = SystemOneDecisionModel(server.url, "m", timeout_s=0.2)
        with pytest.raises(ProviderTimeoutError):
            await ask(model, "?", QUESTIONS)
        await model.close()


async def test_cancelling_a_call_closes_it():
    questions = [YesNo(f"n{n}", "?") for n in range(130)]
    with ProviderServer(decisions=faults.stall()) as server:
        model = SystemOneDecisionModel(server.url, "m")
        with anyio.move_on_after(0.3) as scope:
            await ask(model, "?", questions)
        assert scope.cancelled_caught
        await model.close()
        assert server.wait_for(lambda s: not s.n_open_connections)


def test_its_repr_shows_no_key():
    model = SystemOneDecisionModel("http://127.0.0.1:9", "m", KEY)
    assert repr(model) == "SystemOneDecisionModel(systemone/m)"


def test_an_api_that_nobody_speaks_is_refused():
    with pytest.raises(ConfigError, match="no decision API named 'odd'"):
        load_decision(Endpoint("x", "odd", "m", "http://127.0.0.1:9"))


async def decided(shape, change, questions=QUESTIONS, said=SAID):
    """Return what a model of an API makes of a changed reply."""
    with ProviderServer(decisions=faults.wrong_answers(change, Decided(said))) as server:
        model = load_decision(Endpoint(shape, shape, "m", server.url))
        try:
            return await ask(model, "?", questions)
        finally:
            await model.close()


async def test_openai_answers_are_known_by_their_order_and_by_names_where_they_have_some():
    def nameless(body):
        for answer in body["answers"]:
            answer["name"] = None

    def swapped(body):
        body["answers"].reverse()

    def twice(body):
        body["answers"][1]["probabilities"][1]["value"] = "howto"

    def one_more(body):
        body["answers"].append(body["answers"][0])

    response = await decided("openai", nameless)
    assert response.answers["lane"].label == "howto"
    with pytest.raises(InvalidDecisionResponseError, match="to another question"):
        await decided("openai", swapped, (YesNo("a", "?"), YesNo("b", "?")), (0.9, 0.1))
    for change in (twice, one_more):
        with pytest.raises(InvalidDecisionResponseError):
            await decided("openai", change)


async def test_a_gateway_may_wrap_the_answers_tell_the_cost_and_name_yes_otherwise():
    def gateway(body):
        for answer in body["answers"].values():
            if answer["type"] == "noul":
                answer["probability"] = answer.pop("noul")
        body["result"] = {"answers": body.pop("answers")}
        body["usage"]["cost"] = 0.25
        body["id"] = "gen-dec-1"

    response = await decided("systemone", gateway)
    assert response.answers[DOCS.id].value == pytest.approx(0.94)
    assert response.usage[0].cost_usd == 0.25


async def test_answers_that_nobody_asked_for_are_passed_over():
    def more(body):
        body["answers"]["q9"] = {"type": "noul", "noul": 7}

    response = await decided("systemone", more)
    assert list(response.answers) == [question.id for question in QUESTIONS]


async def test_what_a_server_calls_confidence_may_be_anything():
    def odd(value):
        return each(lambda answer: answer.update(confidence=value))

    for value in (None, "high", -1, 1.5, True, [0.5]):
        response = await decided("systemone", odd(value))
        assert response.answers["lane"].provider_confidence is None
        assert response.answers["lane"].confidence == pytest.approx(0.7)
