"""What `ProviderServer` makes of answers that fit no question."""

import anyio
import pytest

from fingerpost import SystemOneDecisionModel
from fingerpost.errors import RequestRejectedError
from fingerpost.lanes.asked import ask
from fingerpost.testing.provider import Decided, ProviderServer
from fingerpost.types.question import Choice, Score, YesNo

QUESTIONS = (
    YesNo("ready", "Is it ready?"),
    Choice("lane", "Which lane?", {"howto": "step by step", "reference": None}),
    Score("depth", "How deep?", ("a line", "a page", "a book")),
)


def answered(server, questions=QUESTIONS):
    async def run():
        model = SystemOneDecisionModel(server.url, "m-1")
        try:
            return (await ask(model, "?", questions)).answers
        finally:
            await model.close()

    return anyio.run(run)


def refused(decisions, error, match, questions=QUESTIONS):
    """The client is told what is wrong, and the test that gave the script learns of it too."""

    def run():
        with ProviderServer(decisions=decisions) as server:
            with pytest.raises(RequestRejectedError, match=match):
                answered(server, questions)
            assert len(server.requests) == 1

    with pytest.raises(error, match=match):
        run()


@pytest.mark.parametrize("said", [(0.9, "howto"), (0.9, "howto", "1", 0.1)])
def test_too_few_or_too_many_answers_are_neither_repeated_nor_cut(said):
    refused(said, ValueError, f"{len(said)} answers to 3 questions: give one for each")


def test_one_answer_alone_is_given_to_every_question():
    with ProviderServer(decisions=(0.2,)) as server:
        found = answered(server, (YesNo("a", "A?"), YesNo("b", "B?")))
    assert [answer.value for answer in found.values()] == [0.2, 0.2]


@pytest.mark.parametrize(
    "said",
    [
        ("maybe", "howto", "1"),
        (1.5, "howto", "1"),
        (0.9, "nowhere", "1"),
        (0.9, 0.7, "1"),
        (0.9, {"howto": 1.2}, "1"),
        (0.9, "howto", (0.5, 0.5)),
        (0.9, {}, "1"),
    ],
)
def test_an_answer_of_another_kind_names_the_question_and_what_it_takes(said):
    refused(said, ValueError, "does not answer the (YesNo|Choice|Score) '.+' ")


@pytest.mark.parametrize("said", [(None,), (True,), (object(),)])
def test_what_is_no_answer_is_refused_before_anything_is_asked(said):
    with pytest.raises(TypeError, match="is no answer: give the probability of yes"):
        Decided(said)
    with pytest.raises(TypeError, match="is no answer"):
        ProviderServer(decisions=[(0.5,), said])


@pytest.mark.parametrize("script", ["yes", 0.9, {"q": 0.9}, ["yes"], [0.9]])
def test_what_is_no_script_is_refused_before_anything_is_asked(script):
    with pytest.raises(TypeError, match="is none of: a tuple with an answer to each question"):
        ProviderServer(decisions=script)


def test_a_function_that_returns_no_script_is_told_to_both_sides():
    refused(lambda _: 0.9, TypeError, "0.9 is none of: a tuple")
