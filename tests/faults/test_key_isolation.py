"""No server sees a key that is not its own, whatever goes wrong (law 1, R24).

Every vendor has a server of its own, which keeps what it was asked and answers with faults drawn
at random: redirects to the others, errors that repeat the key, broken streams. The variables of
all vendors are set. Settings are drawn at random too.
"""

import base64
import logging
import random
from contextlib import ExitStack
from urllib.parse import quote, urlsplit

import anyio
import pytest

from fingerpost import QueryRouter
from fingerpost.config.credentials import CHAT_JOBS, resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.load import validate
from fingerpost.config.providers import PROVIDERS
from fingerpost.errors import ConfigError, LaneError
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.lanes.providers.embeddings import RemoteEmbedder
from fingerpost.lanes.providers.load import load_chat
from fingerpost.testing.provider import Answer, ProviderServer, faults
from fingerpost.types.chat import ChatRequest, Message

N_CALLS = 600
NOBODYS = ("own", "vectors")
EMBEDS = [p.name for p in PROVIDERS if p.embedding_model]
VENDORS = [p.name for p in PROVIDERS if p.key_variable]
CANARY = {
    name: f"canary-{name}-Zm9v0123456789" for name in [*VENDORS, "api_key", "embedding_api_key"]
}


def _forms(key):
    raw = key.encode()
    yield key
    yield quote(key, safe="")
    yield from (base64.b64encode(b" " * pad + raw)[4:-4].decode() for pad in range(3))


FORMS = {name: tuple(_forms(key)) for name, key in CANARY.items()}


class World:
    """A server for each provider and one of nobody's, and what each of them may see."""

    def __init__(self, stack, rng):
        self.rng = rng
        self.servers = {}
        for name in [*VENDORS, "ollama", *NOBODYS]:
            faulty = [rng.choice([None, None, *self._faults("none")]) for _ in range(2_000)]
            server = ProviderServer(self._answer, embeddings=faulty)
            self.servers[name] = stack.enter_context(server)
        self.environ = {
            **{f"{name.upper()}_API_KEY": CANARY[name] for name in VENDORS},
            **{f"{n.upper()}_BASE_URL": s.url for n, s in self.servers.items() if n not in NOBODYS},
        }
        self._seen = dict.fromkeys(self.servers, 0)

    def _answer(self, received):
        """A reply or a fault, often one that could lead a key away."""
        told = received.headers.get("authorization") or received.headers.get("x-api-key", "none")
        other = self.rng.choice(list(self.servers.values())).url
        redirects = [faults.redirect(other + received.path, code) for code in (302, 307)]
        answers = ["yes [1]", Answer("a longer answer in pieces"), faults.no_text()]
        return self.rng.choice([*answers, *redirects, *self._faults(told)])

    @staticmethod
    def _faults(told):
        return [
            faults.status(400, message=f"bad request from {told}"),
            faults.status(401, message=f"wrong key {told}"),
            faults.status(404, message="no such model"),
            faults.status(429, headers={"retry-after": "0"}, message=told),
            faults.status(500, message=f"crashed with {told}"),
            faults.status(529, message="overloaded"),
            faults.html(),
            faults.bad_json(),
            faults.cut(40),
            faults.reset(),
        ]

    def settings(self):
        """Draw settings, and where their own key may go besides."""
        rng = self.rng
        named = rng.choice([None, *VENDORS, "ollama"])
        given = {
            "generation_provider": named,
            "classifier_provider": rng.choice([None, named]),
            "embedding_provider": rng.choice(["none", None, named, *EMBEDS]),
            "embedding_model": "m",
            "embedding_api_key": rng.choice([None, None, CANARY["embedding_api_key"]]),
            "embedding_base_url": rng.choice([None, None, self.servers["vectors"].url]),
            "generation_model": rng.choice([None, "m"]),
            "failover_providers": tuple(rng.sample([*VENDORS, "ollama"], rng.randint(0, 3))),
            "base_url": rng.choice([None, None, self.servers["own"].url + "/v1"]),
        }
        if given["base_url"]:
            given["api_key"] = rng.choice([None, CANARY["api_key"]])
        elif named:
            given["api_key"] = rng.choice([None, None, CANARY["api_key"]])
        return given

    def leaks(self, given):
        """Foreign keys in headers, addresses and bodies of the requests since the last look."""
        found = []
        for name, server in self.servers.items():
            requests = server.requests
            for request in requests[self._seen[name] :]:
                text = f"{request.path}\n{request.headers}\n{request.raw.decode('latin-1')}"
                found += [
                    f"{owner} at {name}"
                    for owner in _keys_in(text)
                    if not self._may_see(name, owner, given)
                ]
            self._seen[name] = len(requests)
        return found

    @staticmethod
    def _may_see(server, owner, given):
        # Where none is named, it is the first one: all keys are set.
        named = given["generation_provider"] or "openai"
        embedder = given["embedding_provider"] or "openai"
        if owner == "embedding_api_key":
            wanted = "vectors" if given["embedding_base_url"] else embedder
            return server == wanted
        if owner == "api_key":
            if given["base_url"]:
                return server == "own"
            return server == named or (server == "vectors" and embedder == named)
        nobodys = {"own": {named}, "vectors": {embedder}}
        return server == owner or owner in nobodys.get(server, ())

    @property
    def n_requests(self):
        return sum(len(server.requests) for server in self.servers.values())


async def _no_sleep(_seconds):
    await anyio.lowlevel.checkpoint()


def _lanes(found, rng):
    chat = (found.classifier, found.generator, found.generator_deep)
    for job, first in zip(CHAT_JOBS, chat, strict=True):
        if first is not None:
            yield FailoverModel(
                [load_chat(endpoint) for endpoint in (first, *found.failover[job])],
                health=Health(),
                retries=RetryBudget(),
                failover_on_refusal=rng.random() < 0.5,
                sleep=_no_sleep,
                random=rng.random,
            )


async def _ask(lane, rng):
    request = ChatRequest(messages=(Message("user", "ready?"),), max_tokens=16)
    try:
        if rng.random() < 0.5:
            await lane.complete(request)
        else:
            async for _ in lane.stream(request):
                pass
    except LaneError as error:
        return repr(error) + str(error) + error.hint
    return ""


def _embed(target):
    if not isinstance(target, Endpoint):
        return []
    said, model = "", None
    try:
        model = RemoteEmbedder(target, sleep=_no_sleep)
        model.embed(["one", "two"])
    except LaneError as error:
        said = repr(error) + str(error) + error.hint
    if model is not None:
        model.close()
    return _keys_in(said)


def _keys_in(text):
    return [key for key, forms in FORMS.items() if any(form in text for form in forms)]


async def _ask_once(model, rng):
    await _ask(model, rng)
    await model.close()


async def _calls(world, rng, n_calls):
    """Make calls under ever new settings; return what leaked to a server or into an error."""
    leaks, done = [], 0
    while done < n_calls:
        given = world.settings()
        try:
            found = resolve_credentials(
                validate({"knowledge_corpus": ["docs"], **given}), world.environ
            )
        except ConfigError:
            continue
        for lane in _lanes(found, rng):
            for _ in range(4):
                said = await _ask(lane, rng)
                leaks += _keys_in(said)
                done += 1
            for model in lane.models:
                await model.close()
        leaks += await anyio.to_thread.run_sync(_embed, found.embedding)
        leaks += world.leaks(given)
    return leaks


def _run(seed, n_calls):
    rng = random.Random(seed)
    with ExitStack() as stack:
        world = World(stack, rng)
        leaks = anyio.run(_calls, world, rng, n_calls)
        return leaks, world


def test_no_vendor_sees_the_key_of_another_through_faults_redirects_and_failover():
    leaks, world = _run(20261130, N_CALLS)
    assert leaks == []
    assert world.n_requests > N_CALLS
    for name, server in world.servers.items():
        wanted = {"embed"} if name == "vectors" else {"chat"}
        assert wanted <= {request.kind for request in server.requests}
    assert {name for name, s in world.servers.items() if any(r.texts for r in s.requests)} >= {
        *EMBEDS
    } - {"custom"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [24, 25, 26, 27])
def test_ten_thousand_random_calls_in_all_leak_no_key(seed):
    leaks, world = _run(seed, 2_500)
    assert (leaks, world.n_requests > 2_500) == ([], True)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama", "minimax"])
def test_a_router_keeps_keys_home_and_out_of_events_hooks_results_and_logs(
    provider, tmp_path, monkeypatch, caplog
):
    (tmp_path / "guide.md").write_text("# Cache\n\nThe cache holds 512 entries.\n")
    caplog.set_level(logging.DEBUG)
    given = {
        "generation_provider": provider,
        "classifier_provider": provider,
        "embedding_provider": "gemini",
        "embedding_model": "m",
        "failover_providers": ("groq", "xai"),
    }
    told = []
    hooks = {
        "on_event": told.append,
        "on_classification": told.append,
        "on_retrieval": told.append,
        "rerank": lambda question, hits, top_n: told.append(hits) or hits[:top_n],
    }
    with ExitStack() as stack:
        world = World(stack, random.Random(len(provider)))
        for name, value in world.environ.items():
            monkeypatch.setenv(name, value)
        router = stack.enter_context(
            QueryRouter(
                knowledge_corpus=[tmp_path], embed="wait", cache_results=False, **hooks, **given
            )
        )
        told += [
            router.route_sync("How many entries does the cache hold?"),
            router.route_sync("Compare the cache and E1042."),
        ]
        told.append(router.explain_credentials())
        assert world.leaks({**dict.fromkeys(("base_url", "embedding_base_url")), **given}) == []
        assert world.servers[provider].requests
    assert _keys_in(f"{told!r}\n{caplog.text}") == []


def test_the_judge_sees_a_key_that_leaves_for_another_server():
    rng = random.Random(1)
    with ExitStack() as stack:
        world = World(stack, rng)
        world.environ["GROQ_BASE_URL"] = world.servers["xai"].url
        given = world.settings()
        config = validate({"knowledge_corpus": ["docs"], "generation_provider": "groq"})
        found = resolve_credentials(config, world.environ)
        anyio.run(_ask_once, load_chat(found.generator), rng)
        assert urlsplit(found.generator.base_url).netloc in world.servers["xai"].url
        assert world.leaks({**dict.fromkeys(given), "generation_provider": "groq"}) == [
            "groq at xai"
        ]
