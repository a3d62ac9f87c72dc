"""The router that asks a decision model: each sentence of its option table."""

import logging
import math
import time

import anyio
import pytest

from fingerpost.decide.query_router import DEFAULT_QUESTION_TEMPLATE, DecisionModelQueryRouter
from fingerpost.decide.thresholds import ProbabilityMap, RoutingThresholds, SourceThreshold
from fingerpost.errors import (
    ConfigError,
    InvalidDecisionResponseError,
    InvalidQueryError,
    LaneError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RefusedError,
    UsageError,
)
from fingerpost.types.conversation import ConversationMessage, ToolCall
from fingerpost.types.question import AnswerStatus, Choice, DecisionAnswer, DecisionResponse
from fingerpost.types.result import Usage
from fingerpost.types.routing import FallbackStrategy
from fingerpost.types.source import Source

pytestmark = pytest.mark.anyio
SPENT = Usage("decide", "test/scripted-1", 10)


class Scripted:
    """A decision model that gives the probabilities of yes that it is told, in order."""

    provider, model = "test", "scripted"

    def __init__(self, *script, error=None):
        self.script, self.error = script, error
        self.calls = []

    async def decide(self, input, questions):
        self.calls.append((input, list(questions)))
        if self.error is not None:
            raise self.error
        given = zip(questions, self.script, strict=True)
        answers = {question.id: _answer(question, said) for question, said in given}
        return DecisionResponse(answers, "test/scripted-1", usage=(SPENT,))


def _answer(question, said):
    if isinstance(said, AnswerStatus):
        return DecisionAnswer(question.id, said)
    if isinstance(said, dict):
        return DecisionAnswer(question.id, probabilities=said)
    return DecisionAnswer(question.id, probabilities={"yes": said, "no": 1 - said})


class Shelf:
    async def retrieve(self, query, top_k):
        return []


def sources(*names, **own):
    return [Source(name, f"all about {name}", Shelf(), **own) for name in names]


async def chosen(*script, **options):
    names = [f"s{n}" for n in range(len(script))]
    return await DecisionModelQueryRouter(Scripted(*script), sources(*names), **options).route("q")


async def test_all_sources_are_asked_about_in_a_single_call():
    model = Scripted(0.9, 0.2, 0.7)
    routing = await DecisionModelQueryRouter(model, sources("hr", "wiki", "ops")).route("leave?")
    [(given, questions)] = model.calls
    assert given == "leave?"
    told = [question.text.splitlines()[-1] for question in questions]
    assert told == ["all about hr", "all about wiki", "all about ops"]
    assert routing.names == ("hr", "ops")
    assert [item.probability for item in routing.assessments] == pytest.approx([0.9, 0.2, 0.7])
    assert [item.question for item in routing.assessments] == [q.text for q in questions]
    assert (routing.router, routing.model, routing.usage) == (
        "decision",
        "test/scripted-1",
        (SPENT,),
    )
    assert (routing.fallback, routing.reason) == (None, "")


async def test_retrievers_with_descriptions_come_back_as_they_were_given():
    hr, wiki = Shelf(), Shelf()
    router = DecisionModelQueryRouter(Scripted(0.1, 0.8), {hr: "leave", wiki: "services"})
    routing = await router.route("which service?")
    assert routing.retrievers == (wiki,)
    assert routing.names == ("source-2",)


async def test_sources_come_back_as_retrievers_too():
    given = sources("hr", "wiki")
    routing = await DecisionModelQueryRouter(Scripted(0.9, 0.1), given).route("q")
    assert routing.retrievers == (given[0],)


async def test_ids_of_questions_tell_nothing_of_the_source():
    model = Scripted(0.9)
    await DecisionModelQueryRouter(model, sources("payroll")).route("q")
    assert "payroll" not in model.calls[0][1][0].id


@pytest.mark.parametrize("given", [{}, []])
def test_no_retriever_at_all_is_refused(given):
    with pytest.raises(ConfigError, match="retrievers is empty"):
        DecisionModelQueryRouter(Scripted(), given)


@pytest.mark.parametrize("description", ["", " \n\t", None])
def test_a_blank_description_is_refused(description):
    with pytest.raises(ConfigError, match="description"):
        DecisionModelQueryRouter(Scripted(), {Shelf(): description})
    with pytest.raises(ConfigError, match="description"):
        DecisionModelQueryRouter(Scripted(), [Source("a", description, Shelf())])


def test_sources_that_cannot_be_told_apart_or_cannot_retrieve_are_refused():
    with pytest.raises(ConfigError, match="'a' is given twice"):
        DecisionModelQueryRouter(Scripted(), sources("a", "a"))
    with pytest.raises(ConfigError, match="retrieve"):
        DecisionModelQueryRouter(Scripted(), {42: "numbers"})
    with pytest.raises(ConfigError, match="Source is needed"):
        DecisionModelQueryRouter(Scripted(), ["docs"])


def test_the_decision_model_is_required():
    with pytest.raises(ConfigError, match="NoneType"):
        DecisionModelQueryRouter(None, sources("a"))


async def test_a_template_of_ones_own_is_asked():
    model = Scripted(0.9)
    template = "Look it up in {{description}} ({{ description }})?"
    await DecisionModelQueryRouter(model, sources("hr"), question_template=template).route("q")
    assert model.calls[0][1][0].text == "Look it up in all about hr (all about hr)?"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("Is it here?", "must contain {{description}}"),
        ("", "must contain {{description}}"),
        ("Is it in {description}?", "must contain {{description}}"),
        ("Does {{description}} answer {{query}}?", "unknown variable {{query}}"),
        ("Does {{description}} answer {{}}?", "unknown variable {{}}"),
        ("{{Description}}", "unknown variable {{Description}}"),
    ],
)
def test_a_template_is_checked_when_it_is_built(template, told):
    with pytest.raises(ConfigError) as caught:
        DecisionModelQueryRouter(Scripted(), sources("a"), question_template=template)
    assert told in str(caught.value)


async def test_braces_in_a_description_are_only_text():
    model = Scripted(0.9)
    router = DecisionModelQueryRouter(model, {Shelf(): r"{{description}} \1 {{query}}"})
    await router.route("q")
    expected = DEFAULT_QUESTION_TEMPLATE.replace("{{description}}", r"{{description}} \1 {{query}}")
    assert model.calls[0][1][0].text == expected


async def test_a_probability_equal_to_the_least_one_is_enough():
    assert (await chosen(0.5, 0.499)).names == ("s0",)
    assert (await chosen(1.0, 0.99, min_probability=1)).names == ("s0",)
    assert (await chosen(0.0, 1.0, min_probability=0)).names == ("s0", "s1")


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf, True, "0.5", None])
def test_a_least_probability_outside_0_to_1_is_refused(value):
    with pytest.raises(ConfigError, match="min_probability"):
        DecisionModelQueryRouter(Scripted(), sources("a"), min_probability=value)


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf])
def test_a_threshold_of_a_source_outside_0_to_1_is_refused(value):
    with pytest.raises(ConfigError, match="min_probability"):
        DecisionModelQueryRouter(Scripted(), sources("a", min_probability=value))


async def test_none_that_reaches_the_least_probability_means_no_retrieval():
    routing = await chosen(0.4, 0.3)
    assert (routing.retrievers, routing.names, routing.fallback) == ((), (), None)


async def test_the_nearest_of_three_thresholds_wins():
    given = [
        Source("own", "a", Shelf(), min_probability=0.0),
        Source("fitted", "b", Shelf()),
        Source("plain", "c", Shelf()),
    ]
    router = DecisionModelQueryRouter(
        Scripted(0.3, 0.3, 0.3),
        given,
        min_probability=0.6,
        thresholds={"own": 0.9, "fitted": 0.25},
    )
    routing = await router.route("q")
    assert [item.threshold for item in routing.assessments] == [0.0, 0.25, 0.6]
    assert routing.names == ("own", "fitted")


def test_a_threshold_for_no_source_is_refused():
    with pytest.raises(ConfigError, match="'hrr'"):
        DecisionModelQueryRouter(Scripted(), sources("hr"), thresholds={"hrr": 0.5})
    with pytest.raises(ConfigError, match="thresholds of 'hr'"):
        DecisionModelQueryRouter(Scripted(), sources("hr"), thresholds={"hr": math.nan})


def fitted(model="scripted-1", template=DEFAULT_QUESTION_TEMPLATE, **more):
    one = SourceThreshold(0.8, own=True, reason="", n_yes=9, n_no=9)
    return RoutingThresholds("test", model, template, 0.3, {"s0": one}, **more)


async def test_fitted_thresholds_hold_for_the_model_that_answered():
    routing = await chosen(0.7, 0.35, thresholds=fitted())
    assert [item.threshold for item in routing.assessments] == [0.8, 0.3]
    assert routing.names == ("s1",)


@pytest.mark.parametrize("other", [{"model": "scripted-2"}, {"template": "{{description}}"}])
async def test_thresholds_fitted_for_another_model_or_question_are_refused(other):
    with pytest.raises(ConfigError, match="cannot be used"):
        await chosen(0.7, thresholds=fitted(**other), fallback_strategy="route_to_all")


async def test_by_default_a_failure_routes_nowhere_and_warns(caplog):
    error = ProviderUnavailableError("503 from test", provider="test")
    error.usage = (SPENT,)
    router = DecisionModelQueryRouter(Scripted(error=error), sources("a", "b"))
    with caplog.at_level(logging.WARNING, "fingerpost.decide"):
        routing = await router.route("q")
    assert (routing.retrievers, routing.fallback) == ((), FallbackStrategy.DO_NOT_ROUTE)
    assert (routing.reason, routing.confidence, routing.usage) == ("503 from test", 0, (SPENT,))
    assert [(i.probability, i.threshold, i.chosen) for i in routing.assessments] == [
        (None, 0.5, False)
    ] * 2
    assert "none is used" in caplog.text
    assert "503 from test" in caplog.text


async def test_route_to_all_uses_every_source_and_warns(caplog):
    router = DecisionModelQueryRouter(
        Scripted(error=LaneError("down")), sources("a", "b"), fallback_strategy="route_to_all"
    )
    with caplog.at_level(logging.WARNING, "fingerpost.decide"):
        routing = await router.route("q")
    assert routing.names == ("a", "b")
    assert len(routing.retrievers) == 2
    assert routing.fallback is FallbackStrategy.ROUTE_TO_ALL
    assert "all are used" in caplog.text


async def test_fail_lets_the_error_go_up():
    error = ProviderUnavailableError("503 from test")
    router = DecisionModelQueryRouter(
        Scripted(error=error), sources("a"), fallback_strategy=FallbackStrategy.FAIL
    )
    with pytest.raises(ProviderUnavailableError) as caught:
        await router.route("q")
    assert caught.value is error


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ConfigError, match="do_not_route, route_to_all, fail"):
        DecisionModelQueryRouter(Scripted(), sources("a"), fallback_strategy="panic")


@pytest.mark.parametrize("strategy", FallbackStrategy)
async def test_a_cancellation_is_never_swallowed(strategy):
    class Silent(Scripted):
        async def decide(self, input, questions):
            await anyio.sleep_forever()

    router = DecisionModelQueryRouter(Silent(), sources("a"), fallback_strategy=strategy)
    routing = None
    with anyio.move_on_after(0.01) as scope:
        routing = await router.route("q")
    assert scope.cancelled_caught
    assert routing is None


async def test_a_deadline_that_passes_is_a_failure_of_the_model():
    class Silent(Scripted):
        async def decide(self, input, questions):
            await anyio.sleep_forever()

    router = DecisionModelQueryRouter(Silent(), sources("a"))
    with anyio.fail_after(5):
        routing = await router.route("q", deadline=time.monotonic() + 0.01)
    assert routing.fallback is FallbackStrategy.DO_NOT_ROUTE
    failing = DecisionModelQueryRouter(Silent(), sources("a"), fallback_strategy="fail")
    with anyio.fail_after(5), pytest.raises(ProviderTimeoutError):
        await failing.route("q", deadline=time.monotonic() + 0.01)


@pytest.mark.parametrize(
    "said",
    [
        {"yes": math.nan, "no": 0.5},
        {"yes": 1.2, "no": -0.2},
        {"yes": 0.9},
        {"maybe": 1.0},
        {"yes": 0.9, "no": 0.9},
    ],
)
async def test_an_answer_that_does_not_fit_its_question_is_a_failure_of_the_model(said):
    assert (await chosen(said)).fallback is FallbackStrategy.DO_NOT_ROUTE
    with pytest.raises(InvalidDecisionResponseError):
        await chosen(said, fallback_strategy="fail")


@pytest.mark.parametrize("status", [AnswerStatus.REFUSED, AnswerStatus.ABSTAINED])
async def test_no_answer_about_a_source_is_neither_yes_nor_no(status):
    routing = await chosen(0.9, status, min_probability=0)
    silent = routing.assessments[1]
    assert (silent.probability, silent.chosen, silent.status) == (None, False, status)
    assert routing.names == ("s0",)
    assert routing.fallback is None
    assert f"s1 {status}" in routing.reason
    assert routing.confidence == 0.5


async def test_a_probability_beside_an_abstention_does_not_count():
    class Unsure(Scripted):
        async def decide(self, input, questions):
            likely = {"yes": 0.9, "no": 0.1}
            answer = DecisionAnswer(questions[0].id, AnswerStatus.ABSTAINED, likely)
            sure = DecisionAnswer(questions[1].id, probabilities=likely)
            return DecisionResponse({a.id: a for a in (answer, sure)}, "test/unsure")

    routing = await DecisionModelQueryRouter(Unsure(), sources("a", "b")).route("q")
    assert routing.names == ("b",)
    assert routing.assessments[0].probability is None


async def test_no_answer_about_any_source_is_a_failure_of_the_model():
    silent = (AnswerStatus.REFUSED, AnswerStatus.ABSTAINED)
    routing = await chosen(*silent)
    assert routing.fallback is FallbackStrategy.DO_NOT_ROUTE
    assert [item.status for item in routing.assessments] == list(silent)
    assert (routing.model, routing.usage) == ("test/scripted-1", (SPENT,))
    assert "s0 refused, s1 abstained" in routing.reason
    with pytest.raises(RefusedError, match="s0 refused"):
        await chosen(*silent, fallback_strategy="fail")


TIER = Choice("s0", "Which tier?", {"T0": None, "T1": None})


async def test_other_questions_go_in_the_same_call_and_their_answers_come_back():
    model = Scripted(0.9, {"T0": 0.2, "T1": 0.8})
    routing = await DecisionModelQueryRouter(model, sources("a")).route("q", also=[TIER])
    assert len(model.calls) == 1
    assert set(routing.answers) == {"s0"}
    assert routing.answers["s0"].label == "T1"
    assert routing.names == ("a",)


async def test_other_answers_come_back_though_no_source_got_one():
    model = Scripted(AnswerStatus.REFUSED, {"T0": 0.2, "T1": 0.8})
    routing = await DecisionModelQueryRouter(model, sources("a")).route("q", also=[TIER])
    assert routing.fallback is FallbackStrategy.DO_NOT_ROUTE
    assert routing.answers["s0"].label == "T1"


async def test_other_questions_of_one_id_are_a_mistake_of_the_caller():
    with pytest.raises(UsageError):
        await DecisionModelQueryRouter(Scripted(), sources("a")).route("q", also=[TIER, TIER])


async def test_confidence_is_that_of_the_least_sure_decision():
    assert (await chosen(0.9, 0.2)).confidence == pytest.approx(0.8)
    assert (await chosen(0.9, 0.45)).confidence == pytest.approx(0.55)
    assert (await chosen(0.3, min_probability=0.3)).confidence == pytest.approx(0.5)
    assert (await chosen(0.9, min_probability=0.9)).confidence == pytest.approx(0.5)
    assert (await chosen(0.0, min_probability=0)).confidence == 0.5
    odds = fitted(map=ProbabilityMap(slope=0.5, kind="temperature"))
    told = await chosen(0.9, thresholds=odds)
    assert told.confidence == pytest.approx(0.75)  # a ninth's square root: odds of 3 to 1


async def test_a_query_of_a_conversation_is_sent_with_the_messages_before_it():
    model = Scripted(0.9)
    said = [ConversationMessage("system", "Be brief."), ConversationMessage("user", "Leave?")]
    await DecisionModelQueryRouter(model, sources("a")).route("And for contractors?", said)
    assert model.calls[0][0] == {
        "query": "And for contractors?",
        "messages": [
            {"role": "system", "text": "Be brief."},
            {"role": "user", "text": "Leave?"},
        ],
    }


async def test_a_filter_that_fails_is_told_and_shows_nothing():
    def broken(message):
        raise KeyError("role")

    said = [ConversationMessage("user", "secret")]
    model = Scripted(0.9)
    router = DecisionModelQueryRouter(model, sources("a"), message_filter=broken)
    routing = await router.route("q", said)
    assert model.calls == []
    assert routing.fallback is FallbackStrategy.DO_NOT_ROUTE
    assert "message_filter failed" in routing.reason


@pytest.mark.parametrize("option", ["max_messages", "max_message_length"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None])
def test_limits_of_the_conversation_are_above_0(option, value):
    with pytest.raises(ConfigError, match=option):
        DecisionModelQueryRouter(Scripted(), sources("a"), **{option: value})


@pytest.mark.parametrize(
    "option",
    [
        {"question_template": None},
        {"question_template": 5},
        {"thresholds": 0.5},
        {"thresholds": [("a", 0.5)]},
        {"thresholds": {5: 0.5}},
        {"message_filter": "all"},
        {"message_filter": 5},
    ],
)
def test_an_option_of_a_wrong_type_is_named_when_it_is_built(option):
    with pytest.raises(ConfigError, match=next(iter(option))):
        DecisionModelQueryRouter(Scripted(), sources("a"), **option)


@pytest.mark.parametrize(
    "given",
    [
        None,
        5,
        "ab",
        {Shelf(): 5},
        {5: "numbers"},
        [Source(1, "one", Shelf())],
        [Source("a", 5, Shelf())],
        [Source("a", "all", Shelf(), examples="text")],
        [Source("a", "all", Shelf(), min_probability=True)],
        [Source("a", "x" * 8_001, Shelf())],
    ],
)
def test_sources_of_wrong_types_are_refused_when_it_is_built(given):
    with pytest.raises(ConfigError):
        DecisionModelQueryRouter(Scripted(), given)


@pytest.mark.parametrize("model", [None, 5, type("Odd", (), {"decide": 5})()])
def test_something_that_cannot_decide_is_refused_when_it_is_built(model):
    with pytest.raises(ConfigError, match="decision_model"):
        DecisionModelQueryRouter(model, sources("a"))


async def test_a_model_needs_nothing_but_decide():
    class Own:
        async def decide(self, input, questions):
            return await Scripted(0.9).decide(input, questions)

    routing = await DecisionModelQueryRouter(Own(), sources("a")).route("q")
    assert (routing.names, routing.model) == (("a",), "test/scripted-1")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (None, ()),
        (5, ()),
        ("q", None),
        ("q", "hello"),
        ("q", [{"role": "user", "text": "hi"}]),
        ("q", [ConversationMessage("user", 5)]),
        ("q", [ConversationMessage(None, "hi")]),
        ("q", [ConversationMessage("assistant", "hi", tool_calls=("call",))]),
        ("q", [ConversationMessage("assistant", "hi", tool_calls=(ToolCall("a", "b", 5),))]),
    ],
)
async def test_a_question_or_conversation_of_wrong_types_is_refused(query, said):
    model = Scripted(0.9)
    with pytest.raises(InvalidQueryError):
        await DecisionModelQueryRouter(model, sources("a")).route(query, said)
    assert model.calls == []
