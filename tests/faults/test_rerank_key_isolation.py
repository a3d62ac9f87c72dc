"""No reranker sees a key that is not its own, whatever goes wrong (law 1)."""

import base64
import random
from contextlib import ExitStack
from urllib.parse import quote

import anyio
import pytest

from fingerpost.config.load import validate
from fingerpost.errors import ConfigError, LaneError
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.testing.provider import ProviderServer, faults
from fingerpost.wiring.rerank import make_rerank_model

OWNERS = ("cohere", "jina", "voyage")
CANARY = {name: f"canary-{name}-Zm9v0123456789" for name in (*OWNERS, "openai", "given")}
N_CALLS = 300


def forms(key):
    raw = key.encode()
    yield key
    yield quote(key, safe="")
    yield from (base64.b64encode(b" " * pad + raw)[4:-4].decode() for pad in range(3))


def keys_in(text):
    return {name for name, key in CANARY.items() if any(form in text for form in forms(key))}


def seen_by(server):
    told = (f"{r.path} {dict(r.headers)} {r.raw.decode()}" for r in server.requests)
    return keys_in(" ".join(told))


async def asked(settings, events):
    """Return what a call ends in, as text."""
    config = validate({"knowledge_corpus": ["docs"], **settings})
    model = make_rerank_model(config, events.append, Health(), RetryBudget())
    try:
        return repr(await model.rerank("who barks", ["dogs", "cats"]))
    except LaneError as error:
        return f"{error!r} {error} {error.hint} {error.usage}"
    finally:
        await model.close()


def test_random_settings_and_faults_never_carry_a_key_to_another_server(monkeypatch):
    chance = random.Random(7)
    with ExitStack() as stack:
        servers = {}

        def answer(received):
            told = received.headers.get("authorization", "none")
            other = chance.choice(list(servers.values())).url
            return chance.choice(
                [
                    (0.5, 0.5),
                    faults.redirect(other + received.path, chance.choice((302, 307))),
                    faults.status(400, message=f"bad request from {told}"),
                    faults.status(401, message=f"wrong key {told}"),
                    faults.raw({"error": {"message": told}}),
                ]
            )

        for name in (*OWNERS, "nobody"):
            servers[name] = stack.enter_context(ProviderServer(rankings=answer))
        monkeypatch.setenv("OPENAI_API_KEY", CANARY["openai"])
        for name in OWNERS:
            monkeypatch.setenv(f"{name.upper()}_API_KEY", CANARY[name])
            monkeypatch.setenv(f"{name.upper()}_BASE_URL", servers[name].url)
        outcomes, events = [], []
        for _ in range(N_CALLS):
            settings = drawn(chance, servers)
            try:
                outcomes.append(anyio.run(asked, settings, events))
            except ConfigError as error:
                outcomes.append(f"{error!r} {error} {error.hint}")
        for name in OWNERS:
            assert seen_by(servers[name]) <= {name, "given"}
            assert name in seen_by(servers[name])  # it was reached with its own key
        assert seen_by(servers["nobody"]) <= {*OWNERS, "given"}
        assert keys_in(f"{outcomes} {events}") == set()


def drawn(chance, servers):
    """Return random settings of a reranker."""
    settings = {"rerank_model": "m"}
    if chance.random() < 0.8:
        settings["rerank_provider"] = chance.choice((*OWNERS, "custom"))
    if chance.random() < 0.5 or settings.get("rerank_provider") == "custom":
        settings["rerank_base_url"] = chance.choice(list(servers.values())).url
    if "rerank_provider" not in settings:
        settings["rerank_base_url"] = servers[chance.choice(list(servers))].url
    elif chance.random() < 0.2 and "rerank_base_url" not in settings:
        settings["rerank_api_key"] = CANARY["given"]
    return settings


@pytest.mark.parametrize("name", OWNERS)
def test_a_vendors_key_is_refused_at_another_vendors_address_before_anything_is_sent(
    monkeypatch, name
):
    others = [other for other in OWNERS if other != name]
    with ExitStack() as stack:
        servers = {other: stack.enter_context(ProviderServer()) for other in others}
        monkeypatch.setenv(f"{name.upper()}_API_KEY", CANARY[name])
        for other, server in servers.items():
            monkeypatch.setenv(f"{other.upper()}_BASE_URL", server.url)
            settings = {"rerank_provider": name, "rerank_base_url": server.url}
            with pytest.raises(ConfigError, match="is not sent there"):
                anyio.run(asked, settings, [])
            assert server.requests == ()
