"""What a question and a process may spend, and what is counted."""

import anyio
import pytest

from fingerpost import errors as e
from fingerpost.lanes.budget import Meter, ProcessBudget
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.failover_decision import FailoverDecisionModel
from fingerpost.testing import FakeClock, HashEmbedder, ScriptedChat, ScriptedDecision
from fingerpost.types.chat import ChatRequest, ChatResponse, Message, ModelRef
from fingerpost.types.question import YesNo
from fingerpost.types.result import Usage

pytestmark = pytest.mark.anyio

ASK = ChatRequest((Message("user", "one two three four five six seven eight nine ten"),))


def gpt(*replies):
    return ScriptedChat(replies or ["hi"], provider="openai", model="gpt-4o")


def costing(usd):
    return ChatResponse("hi", "", usage=(Usage("generate", "openai/gpt-4o", 1, 1, usd),))


async def test_every_call_is_counted_in_order_with_its_cost():
    meter = Meter()
    model = meter.around(gpt())
    await model.complete(ASK)
    meter.around_embedder(HashEmbedder()).embed(["a b", "c"])
    [first, second] = meter.usage
    assert (first.job, first.model, first.outcome) == ("generate", "openai/gpt-4o", "ok")
    assert first.cost_usd == pytest.approx(
        (first.input_tokens * 2.5 + first.output_tokens * 10) / 1e6
    )
    assert (second.job, second.input_tokens, second.cost_usd) == ("embed", 3, None)
    assert meter.spent_usd == first.cost_usd


async def test_failed_attempts_are_counted_too():
    clock = FakeClock()
    lane = FailoverModel(
        [gpt(e.ProviderUnreachableError("x")), gpt(e.RefusedError("no"))],
        clock=clock,
        sleep=clock.sleep,
    )
    meter = Meter()
    with pytest.raises(e.RefusedError):
        await meter.around(lane).complete(ASK)
    assert [item.outcome for item in meter.usage] == ["ProviderUnreachableError", "RefusedError"]


async def test_a_stream_is_counted_by_its_whole_reply():
    meter = Meter()
    items = [item async for item in meter.around(gpt("one two")).stream(ASK)]
    assert meter.usage[0].output_tokens == items[-1].usage[0].output_tokens


async def test_a_stream_that_is_given_up_is_counted_by_an_estimate():
    meter, chat = Meter(), gpt("one two three")
    stream = meter.around(chat).stream(ASK)
    await anext(stream)
    await stream.aclose()
    [usage] = meter.usage
    assert (usage.outcome, usage.estimated) == ("closed", True)
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0
    assert chat.n_open == 0


async def test_a_broken_stream_is_counted_by_its_error():
    error = e.StreamTruncatedError("cut")
    error.text = "one two"
    meter = Meter()
    with pytest.raises(e.StreamTruncatedError):
        [item async for item in meter.around(gpt(error)).stream(ASK)]
    assert [item.outcome for item in meter.usage] == ["StreamTruncatedError"]


async def test_a_call_that_would_pass_the_budget_of_the_question_is_not_made():
    chat = gpt(costing(0.5))
    meter = Meter(budget_usd=0.5)
    model = meter.around(chat)
    await model.complete(ASK)
    with pytest.raises(e.BudgetExceededError) as caught:
        await model.complete(ASK)
    assert (caught.value.spent_usd, caught.value.allowed_usd) == (0.5, 0.5)
    assert len(chat.requests) == 1
    with pytest.raises(e.BudgetExceededError):
        await anext(model.stream(ASK))
    assert len(chat.requests) == 1
    assert len(meter.usage) == 1


async def test_the_prompt_alone_can_pass_the_budget():
    chat = gpt()
    with pytest.raises(e.BudgetExceededError):
        await Meter(budget_usd=1e-9).around(chat).complete(ASK)
    assert chat.requests == []


async def test_questions_share_the_budget_of_the_process():
    process, chat = ProcessBudget(0.5), gpt(costing(0.5))
    await Meter(process=process).around(chat).complete(ASK)
    other = Meter(budget_usd=100, process=process)
    with pytest.raises(e.BudgetExceededError, match="this process"):
        await other.around(chat).complete(ASK)
    assert process.spent_usd == 0.5
    assert other.spent_usd == 0.0


async def test_what_is_put_aside_for_a_refused_call_is_given_back():
    process = ProcessBudget(1e-9)
    meter = Meter(budget_usd=1e-4, process=process)
    for _ in range(100):
        with pytest.raises(e.BudgetExceededError, match="this process"):
            await meter.around(gpt()).complete(ASK)


async def test_calls_at_once_cannot_pass_the_budget_together():
    gate = anyio.Event()

    async def wait(request):
        await gate.wait()
        return costing(2e-5)

    chat, meter = gpt(wait), Meter(budget_usd=1e-4)
    model, refused = meter.around(chat), []

    async def one():
        try:
            await model.complete(ASK)
        except e.BudgetExceededError as error:
            refused.append(error)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(one)
            await anyio.wait_all_tasks_blocked()
            assert refused
            gate.set()
    assert meter.spent_usd <= 1e-4


async def test_a_model_without_a_known_price_is_let_through_and_named():
    meter = Meter(budget_usd=1e-9)
    await meter.around(ScriptedChat(["hi"])).complete(ASK)
    meter.around_embedder(HashEmbedder()).embed(["a"])
    assert meter.unchecked == ("testing/scripted", "testing/hash")
    free = Meter()
    await free.around(ScriptedChat(["hi"])).complete(ASK)
    assert free.unchecked == ()


async def test_a_model_without_a_price_that_a_lane_went_on_to_is_named_too():
    down = ScriptedChat([e.ProviderUnreachableError("x")], provider="openai", model="gpt-4o")
    used = (Usage("generate", "own/unheard-of", 7, 1),)
    other = ScriptedChat(
        [ChatResponse("hi", "own/unheard-of", usage=used)], provider="own", model="unheard-of"
    )
    meter = Meter(budget_usd=1.0)
    await meter.around(FailoverModel([down, other])).complete(ASK)
    assert meter.unchecked == ("own/unheard-of",)


async def test_a_lane_is_priced_as_its_first_model():
    meter = Meter(budget_usd=1e-9)
    with pytest.raises(e.BudgetExceededError):
        await meter.around(FailoverModel([gpt()])).complete(ASK)


async def test_a_named_model_is_priced_by_its_name():
    meter = Meter(budget_usd=1e-9)
    other = ChatRequest(ASK.messages, model=ModelRef("unheard-of", provider="openai"))
    await meter.around(gpt()).complete(other)
    assert meter.unchecked == ("openai/unheard-of",)


class Priced(HashEmbedder):
    def __init__(self, error=None):
        super().__init__()
        self.name = "openai/text-embedding-3-small"
        self.error = error

    def embed(self, texts):
        if self.error:
            raise self.error
        return super().embed(texts)


async def test_embeddings_are_held_to_the_budget():
    model = Priced()
    with pytest.raises(e.BudgetExceededError):
        Meter(budget_usd=1e-9).around_embedder(model).embed(["a b c"])
    assert model.n_calls == 0
    meter = Meter(budget_usd=1.0)
    meter.around_embedder(model).embed(["a b c"])
    assert meter.usage[0].cost_usd == pytest.approx(3 * 0.02 / 1e6)


async def test_an_embedding_that_failed_is_counted():
    meter = Meter()
    with pytest.raises(e.BadEmbeddingError):
        meter.around_embedder(Priced(e.BadEmbeddingError("x"))).embed(["a"])
    assert (meter.usage[0].outcome, meter.usage[0].input_tokens) == ("BadEmbeddingError", 1)


@pytest.mark.parametrize(
    ("error", "n_tokens"),
    [
        (e.ProviderUnreachableError, 0),
        (e.RateLimitedError, 0),
        (e.AuthenticationError, 0),
        (e.BadResponseError, 1),
        (e.ProviderTimeoutError, 1),
    ],
)
async def test_an_embedding_that_was_turned_away_costs_nothing(error, n_tokens):
    meter = Meter(budget_usd=1.0)
    with pytest.raises(error):
        meter.around_embedder(Priced(error("x"))).embed(["a"])
    [item] = meter.usage
    assert (item.input_tokens, item.estimated) == (n_tokens, n_tokens > 0)
    assert meter.spent_usd == item.cost_usd == pytest.approx(n_tokens * 0.02 / 1e6)


async def test_tokens_of_embeddings_are_an_estimate_unless_the_model_runs_here():
    remote, here = Priced(), Priced()
    here.name = "local/minilm"
    meter = Meter()
    for model in (remote, here):
        meter.around_embedder(model).embed(["a"])
    assert [item.estimated for item in meter.usage] == [True, False]


HELPS = (YesNo("helps", "Does it help?"),)


async def test_decisions_are_counted_their_failed_attempts_too():
    lane = FailoverDecisionModel(
        [
            ScriptedDecision([e.InvalidDecisionResponseError("x")], provider="openai"),
            ScriptedDecision([(0.5,)], provider="gemini"),
        ]
    )
    meter = Meter()
    response = await meter.around_decider(lane).decide("?", HELPS)
    assert response.answers["helps"].value == 0.5
    assert [(u.job, u.model, u.outcome) for u in meter.usage] == [
        ("decide", "openai/scripted", "InvalidDecisionResponseError"),
        ("decide", "gemini/scripted", "ok"),
    ]


async def test_a_decision_that_would_pass_the_budget_is_not_asked_for():
    model = ScriptedDecision([(0.5,)], provider="openai", model="gpt-4o")
    meter = Meter(0.000001)
    with pytest.raises(e.BudgetExceededError):
        await meter.around_decider(model).decide("a long input " * 50, HELPS)
    assert model.calls == []


async def test_a_decision_that_is_given_up_is_counted_by_an_estimate():
    async def never(_call):
        await anyio.sleep_forever()

    meter = Meter()
    with anyio.move_on_after(0.05):
        await meter.around_decider(ScriptedDecision([never])).decide("?", HELPS)
    [item] = meter.usage
    assert (item.job, item.outcome, item.estimated) == ("decide", "closed", True)
