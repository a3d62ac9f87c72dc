"""No server of decisions sees a key that is not its own, whatever goes wrong (law 1, R24)."""

import base64
import random
from contextlib import ExitStack
from urllib.parse import quote

import anyio
import pytest

from fingerpost.config.load import validate
from fingerpost.config.providers import DECISION_FAILOVER_NAMES
from fingerpost.errors import ConfigError, LaneError
from fingerpost.lanes.asked import ask
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.testing.provider import ProviderServer, faults
from fingerpost.types.question import Choice, YesNo
from fingerpost.wiring.decision import make_decision_lane

N_CALLS = 600
NAMES = DECISION_FAILOVER_NAMES
OWNERS = [name for name in NAMES if name != "ollama"]
CANARY = {name: f"canary-{name}-Zm9v0123456789" for name in (*OWNERS, "given")}
QUESTIONS = (YesNo("helps", "Does it?"), Choice("lane", "Which?", {"a": None, "b": None}))


def forms(key):
    raw = key.encode()
    yield key
    yield quote(key, safe="")
    yield from (base64.b64encode(b" " * pad + raw)[4:-4].decode() for pad in range(3))


FORMS = {name: tuple(forms(key)) for name, key in CANARY.items()}


def keys_in(text):
    return [name for name, shown in FORMS.items() if any(form in text for form in shown)]


class World:
    """A server for each provider, one of nobody's, and what each may see."""

    def __init__(self, stack, chance):
        self.chance = chance
        self.servers = {
            name: stack.enter_context(ProviderServer(decisions=self.answer))
            for name in (*NAMES, "nobody")
        }

    def answer(self, received):
        headers = received.headers
        told = headers.get("authorization") or headers.get("x-goog-api-key", "none")
        other = self.chance.choice(list(self.servers.values())).url
        broken = [
            faults.redirect(other + received.path, self.chance.choice((302, 307))),
            faults.status(400, message=f"bad request from {told}"),
            faults.status(401, message=f"wrong key {told}"),
            faults.status(429, headers={"retry-after": "0"}, message=told),
            faults.status(500, message=f"crashed with {told}"),
            faults.wrong_answers(lambda body: body.update(answers={told: told})),
            faults.wrong_answers(lambda body: body.update(model=told, error=None)),
            faults.html(),
            faults.bad_json(),
            faults.reset(),
        ]
        return self.chance.choice([(0.5, "a"), (0.5, "a"), *broken])

    def settings(self):
        chance = self.chance
        return {
            "decision_provider": chance.choice([None, *NAMES, "systemone"]),
            "decision_api_key": chance.choice([None, None, CANARY["given"]]),
            "decision_base_url": chance.choice([None, None, self.servers["nobody"].url]),
            "decision_failover_providers": tuple(chance.sample(NAMES, chance.randint(0, 3))),
        }

    def leaks(self, given):
        """Foreign keys in what each server was sent since the last look."""
        first = given["decision_provider"]
        if first is None:
            first = "systemone" if given["decision_base_url"] else "typesafe"
        at = "nobody" if given["decision_base_url"] else first
        found = []
        for name, server in self.servers.items():
            for request in server.requests[self.seen[name] :]:
                text = f"{request.path}\n{request.headers}\n{request.raw.decode('latin-1')}"
                found += [
                    f"{owner} at {name}"
                    for owner in keys_in(text)
                    if owner != name and not (name == at and owner in (first, "given"))
                ]
        return found

    def look(self):
        self.seen = {name: len(server.requests) for name, server in self.servers.items()}


async def call(lane):
    try:
        return repr(await ask(lane, "ready?", QUESTIONS))
    except LaneError as error:
        return f"{error!r} {error} {error.hint}"


async def calls(world, n_calls):
    """Make calls under ever new settings; return what leaked to a server, event or error."""
    leaks, n_done = [], 0
    while n_done < n_calls:
        given, events = world.settings(), []
        try:
            config = validate({"knowledge_corpus": ["docs"], **given})
            lane = make_decision_lane(config, events.append, Health(), RetryBudget(0.0, 0))
        except ConfigError:
            continue
        world.look()
        for _ in range(4):
            leaks += keys_in(await call(lane))
            n_done += 1
        leaks += keys_in(repr(events)) + world.leaks(given)
        await lane.close()
    return leaks


@pytest.mark.parametrize("seed", [1, 2])
def test_no_server_sees_the_key_of_another_through_faults_redirects_and_failover(seed, monkeypatch):
    with ExitStack() as stack:
        world = World(stack, random.Random(seed))
        for name in NAMES:
            monkeypatch.setenv(f"{name.upper()}_BASE_URL", world.servers[name].url)
        for name in OWNERS:
            monkeypatch.setenv(f"{name.upper()}_API_KEY", CANARY[name])
        assert anyio.run(calls, world, N_CALLS // 2) == []
        assert all(server.requests for server in world.servers.values())
        seen = {name: keys_in(repr(server.requests)) for name, server in world.servers.items()}
    assert all(name in seen[name] for name in OWNERS)  # each was sent its own
