"""Our System One client against servers that others wrote, each at home on a free port.

Install them with ``pip install -r tests/interop/requirements.txt``.
"""

import contextlib
import queue
import socket
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from fingerpost import errors as e
from fingerpost.lanes.asked import ask
from fingerpost.lanes.failover_decision import FailoverDecisionModel
from fingerpost.lanes.providers.decision_models import SystemOneDecisionModel
from fingerpost.types.question import AnswerStatus, Choice, DecisionResponse, Score, YesNo

NEEDED = "not installed: pip install -r tests/interop/requirements.txt"
SERVERS = {
    "jevcompat": ("jevcompat", ["mock"]),
    "sparrow": ("sparrow_decider", ["serve"]),
    "dev-double": ("dev_double", ["serve", "--engine", "mock"]),
}
# They load a web framework or a model first, on a machine that may be busy.
START_S = 30.0
QUESTIONS = (
    YesNo("docs?", "Can the docs answer this?", "a how-to question", "small talk"),
    YesNo("one side", "Is it about keys?", yes="keys or locks"),
    YesNo("bare", "Is it a greeting?"),
    Choice("lane", "Which lane?", {"how to": "step by step", "reference": None, "日本 ✓": "Japan"}),
    Score("depth", "How deep?", ("one sentence", "one page", "a whole book")),
)
INPUT = {"question": "How do I rotate a signing key? 日本", "product": ["Gateway", 4, None]}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def forward(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put("")


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def started(command, port):
    """Start a server and return its process once it listens."""
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONUNBUFFERED": "1", "PATH": ""},
    )
    lines, said = queue.Queue(), []
    threading.Thread(target=forward, args=(process.stderr, lines), daemon=True).start()
    until = time.monotonic() + START_S
    while not listens(port):
        assert time.monotonic() < until, f"{command} did not start: {''.join(said)}"
        with contextlib.suppress(queue.Empty):  # what it says next, or a moment of silence
            said.append(lines.get(timeout=0.05))
            assert said[-1], f"{command} ended: {''.join(said)}"
    return process


@pytest.fixture(scope="module", params=SERVERS)
def url(request):
    module, arguments = SERVERS[request.param]
    if find_spec(module) is None:
        pytest.skip(f"{request.param} is {NEEDED}")
    script = Path(sys.executable).parent / module.replace("_", "-")
    port = free_port()
    process = started([str(script), *arguments], port)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(START_S)
    process.stderr.close()


def decide(url, questions=QUESTIONS, input=INPUT, model="jev-latest", key=None):
    """Return the checked answers, or the typed error that the call ended in."""

    async def run():
        client = SystemOneDecisionModel(url, model, key)
        try:
            return await ask(client, input, questions)
        except e.LaneError as error:
            return error
        finally:
            await client.close()

    return anyio.run(run)


def test_every_kind_of_question_is_answered_in_one_call(url):
    response = decide(url)
    assert isinstance(response, DecisionResponse)
    assert list(response.answers) == [question.id for question in QUESTIONS]
    for answer in response.answers.values():
        assert answer.status is AnswerStatus.ANSWERED
        assert sum(answer.probabilities.values()) == pytest.approx(1)
        assert 0 <= answer.confidence <= 1
    assert set(response.answers["lane"].probabilities) == set(QUESTIONS[3].options)
    assert 0 <= response.answers["depth"].value <= 2
    [usage] = response.usage
    assert (usage.job, usage.outcome) == ("decide", "ok")


@pytest.mark.parametrize("given", ["text", ["a", {"b": None}], {"deep": [[["x"]]]}])
def test_an_input_may_be_text_a_list_or_an_object(url, given):
    assert isinstance(decide(url, input=given), DecisionResponse)


def test_a_hundred_and_fifty_questions_are_answered_in_order(url):
    questions = [YesNo(f"n{n}", f"Is it {n}?") for n in range(150)]
    response = decide(url, questions)
    assert list(response.answers) == [question.id for question in questions]
    assert len(response.usage) == 3


def test_a_question_does_not_depend_on_its_company(url):
    alone = decide(url, QUESTIONS[:1]).answers["docs?"].value
    assert decide(url).answers["docs?"].value == pytest.approx(alone, abs=1e-6)


def test_what_the_server_refuses_is_a_typed_error_with_its_own_words(url):
    error = decide(url, (Choice("none", "Which?", {}),))
    assert isinstance(error, e.RequestRejectedError)
    assert error.status in {400, 422}
    assert str(error).rpartition(": ")[2].strip()


def test_a_dead_server_hands_over_to_a_living_one(url):
    async def run():
        lane = FailoverDecisionModel(
            [
                SystemOneDecisionModel(f"http://127.0.0.1:{free_port()}", "m", provider="dead"),
                SystemOneDecisionModel(url, "jev-latest"),
            ]
        )
        try:
            return await ask(lane, INPUT, QUESTIONS)
        finally:
            await lane.close()

    response = anyio.run(run)
    assert [item.outcome for item in response.usage] == ["ProviderUnreachableError", "ok"]


@pytest.fixture
def mock():
    return pytest.importorskip("jevcompat.mock", reason=f"jevcompat is {NEEDED}")


@contextlib.contextmanager
def running(mock, **config):
    """Run the mock of jevcompat in this process and give its address."""
    server = mock.make_server(mock.MockConfig(**config))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


# What is wrong with a reply → how its answers end. The others break what we do not rely on.
UNFIT = {
    "first-question-only",
    "boolean-type",
    "noul-range",
    "choice-key-case",
    "choice-sum",
    "choice-second",
    "nfd-keys",
    "score-keys-1-based",
    "score-sum",
    "score-argmax",
}
REFUSED = {"wrong-route", "xssi-200", "reject-jev-latest", "reject-array-state"}
# What some servers cannot take, and we never send.
AVOIDED = {"noul-two-sided", "noul-needs-instructions", "strict-ids", "string-only-text"}


def test_each_fault_that_others_thought_of_ends_in_checked_answers_or_a_typed_error(mock):
    cafe = Choice("case", "Which?", {"Café": "upper case", "tea": "lower case"})
    ends = {}
    for fault in mock.FAULTS:
        with running(mock, faults=frozenset({fault})) as url:
            ends[fault] = decide(url, (*QUESTIONS, cafe), input=["a", "b"])
    unfit = {f for f, end in ends.items() if type(end) is e.InvalidDecisionResponseError}
    answered = {f for f, end in ends.items() if isinstance(end, DecisionResponse)}
    assert unfit == UNFIT
    assert len(answered) > 20
    assert all(isinstance(end, e.ProviderError) for f, end in ends.items() if f not in answered)
    assert not answered & REFUSED
    assert answered >= AVOIDED


def test_a_wrong_or_missing_key_is_told_as_such(mock):
    key = "canary-key-0123456789"
    with running(mock, key=key) as url:
        assert isinstance(decide(url, key=key), DecisionResponse)
        for wrong in (None, "another-key-0123456789"):
            error = decide(url, key=wrong)
            assert type(error) is e.AuthenticationError
            assert "another-key" not in str(error)


def test_a_model_that_the_server_does_not_have_is_told_as_such(mock):
    with running(mock, faults=frozenset({"reject-jev-latest"})) as url:
        error = decide(url)
        other = decide(url, model="no-such-model")
    assert isinstance(error, e.ModelNotFoundError)
    assert "decision_model" in error.hint
    assert isinstance(other, e.RequestRejectedError)  # which says so in words only
    assert "Unknown model: no-such-model" in str(other)
