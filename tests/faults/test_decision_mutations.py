"""Decision bodies changed at random: checked answers or a typed error, nothing else (R28)."""

import copy
import json
import math
import random

import anyio
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import LaneError
from fingerpost.lanes.asked import ask, labels_of
from fingerpost.lanes.providers import load_decision
from fingerpost.testing.provider import Decided, ProviderServer, faults
from fingerpost.testing.provider.decided import whole_decision
from fingerpost.types.question import AnswerStatus, Choice, DecisionResponse, Score, YesNo

QUESTIONS = (
    YesNo("helps", "Does it?"),
    Choice("lane", "Which?", {"a": "one", "b": None, "日本": "two"}),
    Score("depth", "How?", ("low", "middle", "high")),
)
DECIDED = Decided((0.9, {"a": 0.8, "b": 0.15}, (0.2, 0.7, 0.1)), extras={"note": {"why": [1.5]}})
N_BYTES, N_VALUES = 400, 1300  # for each of three APIs: 5,100 bodies
AT_ONCE = 8

HOSTILE_BYTES = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"[" * 3000,
    b'{"a":' * 900,
    b"null",
    b"{}",
    b"true",
    b'"\\ud800"',
    b"9" * 5000,
    b"9" * 400,
    b"\xef\xbb\xbf",
    b"\x00",
    b"-1",
]
HOSTILE_VALUES = [
    None,
    True,
    "",
    "0.9",
    "\ud800",
    "refusal",
    -1,
    2,
    10**400,
    float("nan"),
    float("inf"),
    1e-320,
    [],
    {},
    [[]],
    {"type": "refusal"},
    {"a": 1, "b": 0, "日本": 0},
    {"0": 1.0, "1": 0, "2": 0},
    [{"value": "a", "probability": 1}],
]


def mutated(body, chance):
    """Return ``body`` with a few bits, bytes or values changed."""
    data = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        kind = chance.randrange(5)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[at : at + chance.randint(1, 20)]
        elif kind == 2:
            data[at:at] = data[at : at + chance.randint(1, 200)]
        else:
            start = max(data.find(b":", at), 0) + 1
            data[start : start + chance.randint(0, 8)] = chance.choice(HOSTILE_BYTES)
        data = data or bytearray(b"{")
    return bytes(data)


def places_of(value):
    """Yield (container, key) of everything in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from places_of(item)


def changed(body, chance):
    """Return JSON with a few values replaced, removed, renamed or moved."""
    data = json.loads(body)
    for _ in range(chance.randint(1, 3)):
        places = list(places_of(data))
        if not places:
            break
        container, key = chance.choice(places)
        kind = chance.randrange(4)
        if kind < 2:
            container[key] = copy.deepcopy(chance.choice(HOSTILE_VALUES))
        elif kind == 2:
            container.pop(key)
        else:
            other, name = chance.choice(places)
            try:
                container[key] = copy.deepcopy(other[name])
            except (KeyError, IndexError):
                continue
    return json.dumps(data).encode()


def good_body(api):
    """Return the right body, as the scripted server of that API tells it."""
    seen = []

    def keep(received):
        seen.append(json.dumps(whole_decision(received, DECIDED)).encode())
        return DECIDED

    async def once(url):
        model = load_decision(Endpoint(api, api, "m", url))
        await ask(model, "?", QUESTIONS)
        await model.close()

    with ProviderServer(decisions=keep) as server:
        anyio.run(once, server.url)
    return seen[0]


def outcomes(api, bodies):
    """Return what each body ends in."""
    found = []

    async def work(model, places):
        for _ in places:
            try:
                found.append(await ask(model, "?", QUESTIONS))
            except LaneError as error:  # anything else ends the test
                found.append(error)

    async def run(url):
        model = load_decision(Endpoint(api, api, "m", url))
        places = iter(range(len(bodies)))
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(work, model, places)
        await model.close()

    with ProviderServer(decisions=[faults.raw(body) for body in bodies]) as server:
        anyio.run(run, server.url)
    return found


def assert_bounded(value):
    if isinstance(value, float):
        assert math.isfinite(value)
    elif isinstance(value, int):
        assert abs(value) <= 2**63
    elif isinstance(value, str):
        assert len(value) <= 1000
        value.encode()
    elif isinstance(value, dict | list):
        assert len(value) <= 64
        for item in value.values() if isinstance(value, dict) else value:
            assert_bounded(item)


def assert_sound(response):
    """Every answer fits its question, every number is within its bounds."""
    assert list(response.answers) == [question.id for question in QUESTIONS]
    response.model.encode()
    assert len(response.request_id) <= 100
    for item in response.usage:
        assert 0 <= item.input_tokens <= 10**9
        assert 0 <= item.output_tokens <= 10**9
        assert item.cost_usd is None or 0 <= item.cost_usd <= 1000
    for question, answer in zip(QUESTIONS, response.answers.values(), strict=True):
        labels = labels_of(question)
        assert answer.status in AnswerStatus
        if answer.probabilities:
            assert tuple(answer.probabilities) == labels
            assert sum(answer.probabilities.values()) == pytest.approx(1)
            assert all(0 <= share <= 1 for share in answer.probabilities.values())
            assert 0 <= answer.confidence <= 1
        else:
            assert answer.confidence is None
        if answer.status is AnswerStatus.ANSWERED and not isinstance(question, Score):
            assert answer.label in labels
        if answer.value is not None:
            assert 0 <= answer.value <= len(labels) - 1
        for share in (answer.provider_confidence, answer.unknown_probability):
            assert share is None or 0 <= share <= 1
        assert_bounded(dict(answer.extras))


@pytest.mark.parametrize("how", [mutated, changed])
@pytest.mark.parametrize("api", ["systemone", "openai", "gemini"])
def test_a_changed_body_ends_in_checked_answers_or_a_typed_error(api, how):
    body, chance = good_body(api), random.Random(f"{api}{how.__name__}")
    bodies = [how(body, chance) for _ in range(N_BYTES if how is mutated else N_VALUES)]
    found = outcomes(api, bodies)
    answered = [one for one in found if isinstance(one, DecisionResponse)]
    for response in answered:
        assert_sound(response)
    for error in (one for one in found if isinstance(one, LaneError)):
        assert type(error) is not LaneError  # which would be a fault of ours, wrapped
        assert [item.job for item in error.usage] == ["decide"]
    assert len(found) == len(bodies)
    assert 0 < len(answered) < len(bodies)
