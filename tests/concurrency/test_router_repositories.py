"""A repository moves on while questions are asked: text and commit change together, or not at all."""

import anyio
import pytest

from fingerpost import QueryRouter
from fingerpost.testing.github import GithubServer

pytestmark = pytest.mark.anyio
N_READERS = 50
N_COMMITS = 4
WORDS = ["nine", "twelve", "forty", "seventy", "ninety"]


def files(word):
    """A page that changes with each commit, and one that never does."""
    return {
        "docs/grain.md": f"# Grain\n\nGrain is dried for {word} days.\n",
        "docs/bell.md": "# Bell\n\nThe bell of the mill is made of bronze.\n",
    }


async def test_text_and_commit_of_an_answer_are_of_one_generation(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with GithubServer({"acme/mill": files(WORDS[0])}) as server:
        words = {server._commits["acme/mill"]: WORDS[0]}
        wrong, over = [], anyio.Event()
        answered = {commit: anyio.Event() for commit in words}
        router = QueryRouter(
            github_repos={"repos": ["acme/mill"], "base_url": server.url},
            embedding_provider="none",
            classifier_provider="none",
            include_platform_knowledge=False,
        )

        async def ask():
            while not over.is_set():
                grain = await router.route("For how many days is grain dried?")
                bell = await router.route("What is the bell of the mill made of?")
                (place,) = grain.sources
                answered[place.commit].set()
                if words[place.commit] not in grain.answer or place.commit not in place.uri:
                    wrong.append((place.commit, grain.answer))
                if "bronze" not in bell.answer or {one.commit for one in bell.sources} - set(words):
                    wrong.append(bell.answer)

        async def move_on():
            for word in WORDS[1 : N_COMMITS + 1]:
                commit = server.push("acme/mill", files(word))
                words[commit], answered[commit] = word, anyio.Event()
                await router.refresh()
                await answered[commit].wait()
            over.set()

        async with router:
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for _ in range(N_READERS):
                        group.start_soon(ask)
                    group.start_soon(move_on)
            with router._library.store.reader() as reader:
                assert {one.metadata["commit"] for one in reader.documents()} == {list(words)[-1]}
        assert wrong == []
