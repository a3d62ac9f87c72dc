"""Repositories as a part of the corpus: they join, follow their commits, and fail alone."""

import threading
import time

import anyio
import numpy as np
import pytest
from tests.unit.repos.test_repos_git import commit, git

from fingerpost import QueryRouter
from fingerpost.corpus.index import embed_pending
from fingerpost.errors import ConfigError, EmptyCorpusError
from fingerpost.observe.events import GithubIndexComplete, GithubIndexError, GithubIndexStart
from fingerpost.observe.observer import ignore
from fingerpost.testing import HashEmbedder
from fingerpost.testing.github import GithubServer
from fingerpost.testing.provider import faults

pytestmark = pytest.mark.anyio
WAIT_S = 20
MILL = {
    "README.md": "# Mill\n\nThe mill grinds grain into flour.\n",
    "docs/grain.md": "# Grain\n\nGrain is dried for nine days before it is ground.\n",
    "docs/water.md": "# Water\n\nThe water wheel turns twelve times a minute.\n",
}
GRAIN = "For how many days is grain dried?"
KEY = "github-canary-token-0123456789"


@pytest.fixture
def server():
    with GithubServer({"acme/mill": MILL}) as running:
        yield running


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "heron.md").write_text("# Heron\n\nThe heron fishes at dawn.\n")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def router_of(server, *corpus, repos=("acme/mill",), **settings):
    repositories = {"repos": list(repos), **settings.pop("github", {})}
    if server is not None:
        repositories["base_url"] = server.url
    return QueryRouter(
        knowledge_corpus=list(corpus),
        github_repos=repositories,
        include_platform_knowledge=False,
        **{"embedding_provider": "none", "classifier_provider": "none", **settings},
    )


class Seen:
    """Events of repositories, and a wait for one of them."""

    def __init__(self, router):
        self._changed = threading.Condition()
        self.events = []
        router.subscribe(self)

    def __call__(self, event):
        if isinstance(event, GithubIndexStart | GithubIndexComplete | GithubIndexError):
            with self._changed:
                self.events.append(event)
                self._changed.notify_all()

    def kinds(self):
        return [(event.type, event.repo) for event in self.events]

    async def until(self, kind, n=1):
        def wait():
            with self._changed:
                enough = lambda: sum(isinstance(one, kind) for one in self.events) >= n  # noqa: E731
                assert self._changed.wait_for(enough, WAIT_S)

        await anyio.to_thread.run_sync(wait)


async def test_a_repository_joins_in_the_background_while_the_own_documents_answer(server, own):
    gate = threading.Event()

    async def slowly(exchange):
        await anyio.to_thread.run_sync(gate.wait, WAIT_S)
        await exchange.reply(500, b"")

    server._faults["commits"] = [faults.Fault("slow", slowly)]
    router = router_of(server, own)
    seen = Seen(router)
    async with router:
        before = await router.route("When does the heron fish?")
        assert "dawn" in before.answer
        assert (await router.route(GRAIN)).abstention is not None
        gate.set()
        await seen.until(GithubIndexComplete)
        result = await router.route(GRAIN)
        assert "nine days" in result.answer
        stats = router.get_corpus_stats()
        assert "Grain" in stats.topics
        (joined,) = stats.repositories
    assert seen.kinds() == [
        ("github:index:start", "github:acme/mill"),
        ("github:index:complete", "github:acme/mill"),
    ]
    assert (joined.name, joined.n_files, joined.n_chunks, joined.error) == (
        "github:acme/mill", 3, 3, "",
    )  # fmt: skip
    assert joined.commit == seen.events[-1].commit
    assert time.time() - joined.fetched_at < WAIT_S


async def test_a_source_says_repository_commit_path_and_opens_its_lines_on_the_web(server):
    async with router_of(server) as router:
        (source, *_) = (await router.route(GRAIN)).sources
    commit_ = server._commits["acme/mill"]
    assert (source.source, source.repo, source.commit) == ("github:acme/mill", "acme/mill", commit_)
    assert (source.path, source.line_start, source.line_end) == ("docs/grain.md", 1, 3)
    page = f"{server.url}/acme/mill/blob/{commit_}/docs/grain.md"
    assert source.uri == page
    assert source.url == f"{page}?plain=1#L1-L3"
    assert source.stale is False


async def test_without_documents_of_its_own_a_router_waits_for_the_first_fetch(server):
    async with router_of(server) as router:
        assert "nine days" in (await router.route(GRAIN)).answer
        assert router.index_summary.n_added == 3


async def test_what_was_fetched_once_is_there_at_once_without_any_server():
    with GithubServer({"acme/mill": MILL}) as server:
        async with router_of(server):
            pass
    router = router_of(server)  # where nobody listens any more
    seen = Seen(router)
    async with router:
        assert "nine days" in (await router.route(GRAIN)).answer
        await seen.until(GithubIndexError)
        assert "nine days" in (await router.route(GRAIN)).answer


async def test_a_new_commit_is_taken_up_by_refresh_and_an_old_one_leaves_no_trace(server):
    async with router_of(server) as router:
        first = (await router.route(GRAIN)).sources[0].commit
        changed = {**MILL, "docs/grain.md": MILL["docs/grain.md"].replace("nine", "four")}
        del changed["docs/water.md"]
        second = server.push("acme/mill", changed)
        summary = await router.refresh()
        assert (summary.n_changed, summary.n_removed, summary.n_unchanged) == (1, 1, 1)
        result = await router.route(GRAIN)
        assert "four days" in result.answer
        assert "nine" not in result.answer
        commits = {source.commit for source in result.sources}
        assert commits == {second}
        flour = await router.route("What does the mill grind grain into?")
        assert {source.commit for source in flour.sources} == {second} != {first}
        water = await router.route("How often does the water wheel turn?")
        assert all(source.path != "docs/water.md" for source in water.sources)


def state_of(router):
    """Return the generation and every row of documents and chunks."""
    with router._library.store.reader() as reader:
        documents = sorted(reader.documents(), key=lambda one: one.id)
        keys = reader.keys_of_documents([one.id for one in documents])
        return reader.info.generation, documents, keys


async def test_an_unchanged_repository_changes_no_row(server):
    async with router_of(server) as router:
        before = state_of(router)
        summary = await router.refresh()
        assert not summary.changed_anything
        assert state_of(router) == before


async def test_a_commit_without_changed_documents_renames_it_and_keeps_every_vector(server):
    async with router_of(server) as router:
        store = router._library.store
        vectors = embedded(store)
        second = server.push("acme/mill", {**MILL, "src/main.py": "print()\n"})
        summary = await router.refresh()
        assert (summary.n_added, summary.n_changed, summary.n_unchanged) == (0, 0, 3)
        with store.reader() as reader:
            assert {one.metadata["commit"] for one in reader.documents()} == {second}
            keys = [
                key
                for own in reader.keys_of_documents([one.id for one in reader.documents()]).values()
                for key in own
            ]
            assert np.abs(reader.vectors(keys)).sum(axis=1).min() > 0
        assert embedded(store) == 0
        assert vectors == 3


def embedded(store):
    """Compute the vectors that are missing; return how many texts were embedded."""
    return embed_pending(store, HashEmbedder(8), observe=ignore, cancelled=lambda: False, threads=1)


async def test_a_repository_that_fails_is_an_event_and_a_line_and_stops_nothing(server, own):
    wait = int(time.time()) + 1800
    limited = faults.status(
        403,
        body={"message": "limit"},
        headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(wait)},
    )
    server._faults["commits"] = [faults.status(404, body={}), limited]
    server.push("acme/last", {"README.md": "# Last\n\nThe last one has eleven doors.\n"})
    repos = ["acme/missing", "acme/mill", "acme/last"]
    router = router_of(server, own, repos=repos)
    seen = Seen(router)
    async with router:
        await seen.until(GithubIndexComplete)
        assert "eleven" in (await router.route("How many doors has the last one?")).answer
        assert "dawn" in (await router.route("When does the heron fish?")).answer
        missing, mill, last = router.get_corpus_stats().repositories
    assert "does not exist, or is private" in missing.error
    assert "rate limit is used up until" in mill.error
    assert (last.error, last.n_chunks) == ("", 1)
    first, second = [one for one in seen.events if isinstance(one, GithubIndexError)]
    assert (first.repo, first.retry_at) == ("github:acme/missing", None)
    assert "GITHUB_TOKEN" in first.error
    assert abs(second.retry_at - wait) < 5


async def test_when_no_repository_can_be_fetched_the_error_names_each_and_why(server):
    server._faults["commits"] = [faults.status(404, body={}), *[faults.status(503, body=b"")] * 3]
    with pytest.raises(EmptyCorpusError) as caught:
        async with router_of(server, repos=["acme/a", "acme/b"]):
            pass
    assert "github:acme/a: the repository or its default branch does not exist" in str(caught.value)
    assert "github:acme/b: the API failed (status 503)" in str(caught.value)


async def test_a_repository_without_documents_says_so(server):
    server.push("acme/code", {"main.py": "print()\n"})
    with pytest.raises(EmptyCorpusError, match="no file of a format that is read"):
        async with router_of(server, repos=["acme/code"]):
            pass


async def test_an_api_description_of_a_repository_joins_and_other_data_does_not(server):
    paths = "paths:\n  /grain:\n    get:\n      summary: Lists the grain that is dried\n"
    server.push("acme/api", {"openapi.yaml": f"openapi: 3.0.0\n{paths}", "data.yaml": "a: 1\n"})
    async with router_of(server, repos=["acme/api"]) as router:
        result = await router.route("Which operation lists the grain that is dried?")
        assert router.get_corpus_stats().formats == {"openapi": 1}
    assert result.sources[0].heading_path[-1] == "GET /grain"


async def test_a_failing_server_takes_nothing_away_of_what_was_fetched(server):
    async with router_of(server) as router:
        server._faults["commits"] = [faults.status(500, body=b"")] * 3
        await router.refresh()
        assert "nine days" in (await router.route(GRAIN)).answer
        (mill,) = router.get_corpus_stats().repositories
        assert (mill.n_chunks, "status 500" in mill.error) == (3, True)


async def test_closing_does_not_wait_for_a_server_that_says_nothing(server, own):
    server._faults["commits"] = [faults.Fault("silent", lambda one: one.until_the_client_leaves())]
    router = router_of(server, own)
    async with router:
        assert await anyio.to_thread.run_sync(
            lambda: server.wait_for(lambda one: len(one.requests) > 0)
        )
        started = time.monotonic()
    assert time.monotonic() - started < 3


async def test_the_token_is_shown_nowhere(server, own, caplog):
    server._faults["commits"] = [faults.status(401, body={"message": f"bad {KEY}"})]
    router = router_of(server, own, github={"token": KEY})
    seen = Seen(router)
    async with router:
        await seen.until(GithubIndexError)
        shown = f"{router.config!r} {router.get_corpus_stats()} {seen.events} {caplog.text}"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in shown


async def test_a_token_of_the_environment_goes_to_the_api_and_a_blank_one_counts_as_none(
    server, monkeypatch
):
    monkeypatch.setenv("GITHUB_TOKEN", " ")
    monkeypatch.setenv("GH_TOKEN", KEY)
    async with router_of(server):
        pass
    told = {one.path.split("/")[1]: one.headers.get("authorization") for one in server.requests}
    assert told == {"repos": f"Bearer {KEY}", "archive": None}


async def test_folders_of_git_join_too_and_their_places_name_commit_and_path(own, tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    made = commit(folder, {"docs/tea.md": "# Tea\n\nTea is served at four.\n"})
    router = router_of(None, own, repos=[str(folder)], github={"update": "wait"})
    async with router:
        (source,) = (await router.route("When is tea served?")).sources
    assert (source.source, source.repo, source.commit) == (str(folder), str(folder), made)
    assert source.uri == f"git+{folder}@{made}#docs/tea.md"
    assert source.url is None


async def test_two_versions_of_one_repository_are_two_sources(tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"tea.md": "# Tea\n\nTea is served at four.\n"})
    git(folder, "tag", "v1")
    commit(folder, {"tea.md": "# Tea\n\nTea is served at five.\n"}, "two")
    async with router_of(None, repos=[str(folder), f"{folder}@v1"]) as router:
        old = await router.route("When is tea served?", filters={"sources": [f"{folder}@v1"]})
        new = await router.route("When is tea served?", filters={"sources": [str(folder)]})
    assert "four" in old.answer
    assert "five" in new.answer


@pytest.mark.parametrize(
    ("repos", "said"),
    [
        (["https://u:secret-pass@host.example/x.git"], "holds a password"),
        (["acme/mill", "github:acme/mill"], "given twice"),
        (["acme/mill@-x"], "no name of a branch"),
    ],
)
def test_a_repository_that_cannot_be_meant_is_refused_before_anything_is_asked(repos, said):
    with pytest.raises(ConfigError, match=said) as caught:
        router_of(None, repos=repos)
    assert "secret-pass" not in str(caught.value)


def test_a_token_of_github_is_not_sent_to_the_address_of_another_vendor(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", KEY)
    with pytest.raises(ConfigError, match="GITHUB_TOKEN belongs to GitHub"):
        router_of(None, github={"base_url": "https://api.openai.com/v1"})


def test_who_gets_the_token_is_told_without_it(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", KEY)
    row = router_of(None).explain_credentials()[-1]
    assert (row.role, row.host, row.key) == ("repositories", "api.github.com", "GITHUB_TOKEN")
    local = router_of(None, repos=["/srv/handbook"]).explain_credentials()
    assert all(one.role != "repositories" for one in local)
