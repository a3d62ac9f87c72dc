"""Laws of decision calls: what is asked arrives, what is said comes back, limits are kept."""

import json

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.asked import ask, checked, labels_of
from fingerpost.lanes.providers.decision_limits import DecisionLimits
from fingerpost.lanes.providers.decision_models import SystemOneDecisionModel
from fingerpost.lanes.providers.shapes import decision_shape
from fingerpost.testing.provider import Decided, ProviderServer, Received
from fingerpost.testing.provider.decided import api_of, questions_of, whole_decision
from fingerpost.types.question import Choice, DecisionResponse, Score, YesNo

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
SIDE = st.none() | TEXT
ID = st.text(max_size=8)


def unique_ids(questions):
    return len({question.id for question in questions}) == len(questions)


yes_no = st.builds(YesNo, ID, TEXT, SIDE, SIDE)
choice = st.builds(Choice, ID, TEXT, st.dictionaries(TEXT, SIDE, min_size=2, max_size=6))
score = st.builds(Score, ID, TEXT, st.lists(TEXT, min_size=2, max_size=6).map(tuple))
questions = st.lists(yes_no | choice | score, min_size=1, max_size=5).filter(unique_ids)


@st.composite
def asked_and_said(draw):
    """Questions, and a distribution over the labels of each."""
    asked = draw(questions)
    said = []
    for question in asked:
        weights = draw(
            st.lists(
                st.integers(0, 1000),
                min_size=(n := len(labels_of(question))),
                max_size=n,
            ).filter(any)
        )
        shares = zip(labels_of(question), weights, strict=True)
        said.append({label: weight / sum(weights) for label, weight in shares})
    return asked, said


@pytest.mark.parametrize("api", ["systemone", "openai", "gemini"])
@given(asked_and_said(), st.text(max_size=20) | st.dictionaries(TEXT, st.integers()))
def test_what_is_asked_arrives_and_what_is_said_comes_back(api, case, given_input):
    asked, said = case
    shape = decision_shape(Endpoint(api, api, "m", "http://127.0.0.1:9"))
    body = json.loads(json.dumps(shape.body(given_input, asked)))
    arrived = questions_of(body)
    assert api_of(body) == api
    for question, other in zip(asked, arrived, strict=True):
        assert type(other) is type(question)
        assert other.text.startswith(question.text)
        if isinstance(question, YesNo):
            told = (other.text, other.yes, other.no)
            assert all(side in "\n".join(filter(None, told)) for side in told[1:] if side)
        elif isinstance(question, Choice):
            assert list(other.options.items()) == list(question.options.items())
        else:
            assert other.levels == question.levels
    received = Received(api, "decide", "POST", "/", {}, body, questions=arrived)
    told = json.loads(json.dumps(whole_decision(received, Decided(tuple(said)))))
    answers = {answer.id: answer for answer in shape.read(told, asked)}
    response = checked(DecisionResponse(answers, "m/1"), asked, "m/1")
    for question, shares in zip(asked, said, strict=True):
        assert dict(response.answers[question.id].probabilities) == pytest.approx(shares)


@pytest.fixture(scope="module")
def server():
    """A server that answers each question with the number in it."""
    with ProviderServer(
        decisions=lambda received: tuple(int(q.text) / 1000 for q in received.questions)
    ) as running:
        yield running


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 20), st.integers(300, 3000), st.text("xy日", max_size=40))
def test_any_number_of_questions_keeps_its_order_and_every_request_its_limits(
    server, n, most, size, text
):
    before = len(server.requests)
    asked = [YesNo(f"n{number}", str(number)) for number in range(n)]

    async def run():
        limits = DecisionLimits(questions=most, max_bytes=size)
        model = SystemOneDecisionModel(server.url, "m", limits=limits)
        response = await ask(model, text, asked)
        await model.close()
        return response

    response = anyio.run(run)
    assert [answer.value for answer in response.answers.values()] == [k / 1000 for k in range(n)]
    sent = server.requests[before:]
    assert len(response.usage) == len(sent)
    assert all(len(one.raw) <= size and len(one.questions) <= most for one in sent)
