"""The one way to ask a decision model: answers held against their questions."""

import asyncio
import math
import threading
import time
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost import errors as e
from fingerpost.lanes.asked import ask, called, checked, confidence_of, labels_of
from fingerpost.lanes.wrapped import WrappedDecision
from fingerpost.testing import ScriptedDecision
from fingerpost.types.question import (
    AnswerStatus,
    Choice,
    DecisionAnswer,
    DecisionResponse,
    Score,
    YesNo,
)
from fingerpost.types.result import Usage

YES = YesNo("y", "Is it?")
PICK = Choice("c", "Which?", {"a": None, "b": None, "c": None})
RATE = Score("s", "How?", ("low", "middle", "high"))


def settled(question, **answer):
    response = DecisionResponse({question.id: DecisionAnswer(question.id, **answer)}, "m/1")
    return checked(response, (question,), "m/1").answers[question.id]


@pytest.mark.anyio
async def test_no_question_or_an_id_twice_is_a_mistake_of_the_caller():
    model = ScriptedDecision([(0.9,)])
    with pytest.raises(e.UsageError):
        await ask(model, "?", ())
    with pytest.raises(e.UsageError):
        await ask(model, "?", (YES, YES))
    assert model.calls == []


@pytest.mark.anyio
async def test_a_model_that_takes_no_deadline_is_held_to_it_all_the_same():
    class Slow:
        provider, model = "own", "slow"

        async def decide(self, input, questions):
            await anyio.sleep_forever()

    with pytest.raises(e.ProviderTimeoutError):
        await ask(Slow(), "?", (YES,), deadline=time.monotonic() + 0.05)


@pytest.mark.anyio
async def test_whatever_a_model_raises_is_a_lane_error_and_whatever_it_returns_is_checked():
    class Odd:
        provider, model = "own", "odd"

        async def decide(self, input, questions):
            if input == "raise":
                raise ValueError("odd")
            return {"y": 0.9}

    with pytest.raises(e.LaneError, match=r"own/odd failed: ValueError: odd"):
        await ask(Odd(), "raise", (YES,))
    with pytest.raises(e.InvalidDecisionResponseError, match="gave dict instead of answers"):
        await ask(Odd(), "return", (YES,))


@pytest.mark.anyio
async def test_answers_that_do_not_fit_tell_what_was_spent_on_them():
    spent = Usage("decide", "m/1", 7)
    model = ScriptedDecision([DecisionResponse({}, "m/1", (spent,))])
    with pytest.raises(e.InvalidDecisionResponseError) as caught:
        await ask(model, "?", (YES,))
    assert caught.value.usage == (replace(spent, outcome="InvalidDecisionResponseError"),)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda ps: sum(ps) > 0.01))
def test_a_distribution_that_was_accepted_is_accepted_again_and_stays_the_same(shares):
    question = Choice("c", "?", {str(n): None for n in range(len(shares))})
    total = sum(shares)
    for decimals in (1, 2, 3, 6):
        rounded = {str(n): round(p / total, decimals) for n, p in enumerate(shares)}
        try:
            first = settled(question, probabilities=rounded, label=max(rounded, key=rounded.get))
        except e.InvalidDecisionResponseError:
            assert decimals < 2  # only what is rounded more coarsely than to two decimals
            continue
        again = settled(
            question, probabilities=first.probabilities, label=first.label, value=first.value
        )
        assert again.label == first.label
        assert dict(again.probabilities) == pytest.approx(dict(first.probabilities))
        assert math.isclose(sum(first.probabilities.values()), 1)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10).filter(lambda ps: sum(ps) > 0.01))
def test_the_expected_level_of_a_rounded_distribution_is_taken_for_what_it_is(shares):
    total = sum(shares)
    exact = [p / total for p in shares]
    expected = sum(level * p for level, p in enumerate(exact))
    question = Score("s", "?", tuple(map(str, range(len(shares)))))
    rounded = {str(n): round(p, 2) for n, p in enumerate(exact)}
    answer = settled(question, probabilities=rounded, value=round(expected, 2))
    assert 0 <= answer.value <= len(shares) - 1


@pytest.mark.parametrize(
    ("shares", "fits"),
    [
        ((0.34, 0.33, 0.33), True),
        ((0.33, 0.33, 0.33), True),
        ((0.95, 0.0, 0.0), True),
        ((1.0, 0.05, 0.0), True),
        ((0.94, 0.0, 0.0), False),
        ((1.0, 0.06, 0.0), False),
        ((0.3333, 0.3333, 0.2), False),
        ((1, 1, 1), False),
        ((0.0, 0.0, 0.0), False),
    ],
)
def test_how_far_a_sum_may_be_from_one(shares, fits):
    probabilities = dict(zip("abc", shares, strict=True))
    if fits:
        assert sum(settled(PICK, probabilities=probabilities).probabilities.values()) == (
            pytest.approx(1)
        )
    else:
        with pytest.raises(e.InvalidDecisionResponseError, match="sum to"):
            settled(PICK, probabilities=probabilities)


def test_many_options_of_two_decimals_may_be_further_from_one():
    question = Choice("c", "?", {str(n): None for n in range(100)})
    coarse = dict.fromkeys(question.options, 0.01) | {"0": 0.31}  # 1.3 in all, 0.5 allowed
    assert settled(question, probabilities=coarse).label == "0"
    fine = dict.fromkeys(question.options, 0.0101) | {"0": 0.31}
    with pytest.raises(e.InvalidDecisionResponseError):
        settled(question, probabilities=fine)


def test_a_choice_may_lose_to_another_by_rounding_only():
    shares = {"a": 0.4, "b": 0.405, "c": 0.195}
    assert settled(PICK, probabilities=shares, label="a").label == "a"
    with pytest.raises(e.InvalidDecisionResponseError, match="against its own"):
        settled(PICK, probabilities={"a": 0.39, "b": 0.41, "c": 0.2}, label="a")


def test_an_answer_without_a_distribution_needs_something_else_to_say():
    assert settled(PICK, label="b").confidence is None
    assert settled(RATE, value=1.5).value == 1.5
    for question, answer in ((PICK, {"label": "z"}), (RATE, {"value": 2.5}), (YES, {"value": 0.5})):
        with pytest.raises(e.InvalidDecisionResponseError):
            settled(question, **answer)


@pytest.mark.parametrize("status", [AnswerStatus.REFUSED, AnswerStatus.ABSTAINED])
def test_a_refused_or_abstained_answer_may_say_nothing_and_is_never_a_no(status):
    answer = settled(YES, status=status)
    assert (answer.status, answer.label, answer.value, answer.confidence) == (
        status,
        "",
        None,
        None,
    )


def test_confidence_is_by_one_formula():
    assert confidence_of(PICK, {"a": 0.8, "b": 0.15, "c": 0.05}) == pytest.approx(0.7)
    assert confidence_of(RATE, {"0": 0.25, "1": 0.6, "2": 0.15}) == pytest.approx(0.4)
    assert confidence_of(YES, {"yes": 0.1, "no": 0.9}) == pytest.approx(0.8)
    for question in (YES, PICK, RATE):
        labels = labels_of(question)
        assert confidence_of(question, dict.fromkeys(labels, 1 / len(labels))) == pytest.approx(0)
        assert confidence_of(question, dict.fromkeys(labels, 0.0) | {labels[0]: 1.0}) == 1


def answering(**changes):
    """Return a model whose response differs from a good one."""

    class Own:
        async def decide(self, input, questions):
            good = {"answers": {"y": DecisionAnswer("y", probabilities={"yes": 0.9, "no": 0.1})}}
            return DecisionResponse(**{**good, "model": "own/1", **changes})

    return Own()


def answer(**changes):
    return {"answers": {"y": DecisionAnswer("y", **changes)}}


class Duck:
    model, usage = "own/1", ()
    answers = answer(probabilities={"yes": 0.9, "no": 0.1})["answers"]


@pytest.mark.anyio
async def test_a_model_with_nothing_but_decide_is_named_after_its_class():
    assert (await ask(answering(), "?", (YES,))).answers["y"].value == pytest.approx(0.9)
    assert called(answering()) == ("own", "Own")
    with pytest.raises(e.InvalidDecisionResponseError, match="own/Own gave no answer to 'z'"):
        await ask(answering(), "?", (YesNo("z", "?"),))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "changes",
    [
        {"answers": None},
        {"answers": [1]},
        {"usage": None},
        {"usage": ("x",)},
        {"model": None},
        {"model": 5},
        answer(probabilities=None),
        answer(probabilities=5),
        answer(probabilities=[("yes", 0.9)]),
        answer(probabilities={"yes": "0.9", "no": "0.1"}),
        answer(probabilities={"yes": None, "no": 1}),
        answer(probabilities={"yes": 10**400, "no": 0}),
        answer(probabilities={"yes": 0.9, "no": 0.1}, status="bogus"),
        answer(probabilities={"yes": 0.9, "no": 0.1}, status=None),
    ],
)
async def test_a_response_of_wrong_types_is_an_invalid_response(changes):
    with pytest.raises(e.InvalidDecisionResponseError):
        await ask(answering(**changes), "?", (YES,))


@pytest.mark.anyio
async def test_a_label_of_a_wrong_type_is_an_invalid_response():
    changes = {"answers": {"c": DecisionAnswer("c", label=["a"])}}
    with pytest.raises(e.InvalidDecisionResponseError):
        await ask(answering(**changes), "?", (PICK,))


@pytest.mark.anyio
@pytest.mark.parametrize("decide", [5, None, lambda: None, lambda input, questions: Duck()])
async def test_whatever_stands_where_decide_should_is_a_lane_error(decide):
    model = type("Odd", (), {"decide": staticmethod(decide) if callable(decide) else decide})()
    with pytest.raises(e.LaneError, match="own/Odd"):
        await ask(model, "?", (YES,))


@pytest.mark.anyio
@pytest.mark.parametrize("error", [asyncio.CancelledError(), SystemExit(3)])
async def test_a_cancellation_that_nobody_asked_for_is_a_lane_error(error):
    class Own:
        async def decide(self, input, questions):
            raise error

    with pytest.raises(e.LaneError, match="own/Own"):
        await ask(Own(), "?", (YES,))


@pytest.mark.anyio
async def test_a_plain_function_decides_in_a_thread():
    here = threading.get_ident()

    class Own:
        def decide(self, input, questions):
            shares = {"yes": 0.9, "no": 0.1} if threading.get_ident() != here else {}
            return DecisionResponse({"y": DecisionAnswer("y", probabilities=shares)}, "own/1")

    assert (await ask(Own(), "?", (YES,))).answers["y"].label == "yes"


@pytest.mark.anyio
async def test_something_that_is_no_question_is_a_mistake_of_the_caller():
    with pytest.raises(e.UsageError, match="YesNo, Choice or Score"):
        await ask(answering(), "?", ("Is it?",))


@pytest.mark.anyio
async def test_what_stands_around_a_model_without_a_name_is_called_like_it():
    around = WrappedDecision(answering())
    assert called(around) == ("own", "Own")
    assert (await ask(around, "?", (YES,))).answers["y"].label == "yes"
