"""Fifty ask while files change, move and go, and a repository joins and switches its commit.

Every fact is written with the number of its generation. What an answer rests on is held against
what the files said then: one generation to an answer, no fact that was taken out, no page lost.
"""

import re
import subprocess
import threading
from dataclasses import dataclass, field

from fingerpost import QueryRouter

READERS, ROUNDS, PAGES, WAIT_S = 50, 4, 3, 60
GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=no")
ROUND = re.compile(r"round(\d+)")


@dataclass
class World:
    """The corpus as it is written, and as it was in each round."""

    docs: object
    repo: object
    written: dict = field(default_factory=dict)
    committed: dict = field(default_factory=dict)
    floor: int = 0
    commit_floor: int = -1

    def write(self, number):
        """Change every page, rename one, replace one by another of another name."""
        pages = {
            f"pages/{page}.md": f"# Valve {page}\n\nValve {page} opens in round{number} at dawn.\n\n"
            f"## Care\n\nOil valve {page} every week of round{number}.\n"
            for page in range(PAGES)
        }
        pages[f"moved/at{number}.md"] = "# Ladder\n\nThe ladder of the yard has nine rungs.\n"
        pages[f"gone/only{number}.md"] = (
            f"# Kettle\n\nThe kettle whistles in round{number} alone.\n"
        )
        self.written[number] = pages
        for old in self.written.get(number - 1, {}).keys() - pages.keys():
            if old.startswith("moved/"):
                (self.docs / "moved").mkdir(exist_ok=True)
                (self.docs / old).rename(self.docs / f"moved/at{number}.md")
            else:
                (self.docs / old).unlink()
        for path, text in pages.items():
            place = self.docs / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def commit(self, number):
        """Make the repository, or give it another commit."""
        if not self.repo.exists():
            self.repo.mkdir()
            subprocess.run([*GIT, "init", "-q", str(self.repo)], check=True)
        pages = {
            "README.md": f"# Anchor\n\nThe anchor weighs round{number} and is painted red.\n",
            f"docs/n{number}.md": f"# Rope\n\nThe rope is as long as round{number} of the harbour.\n",
        }
        for old in (self.repo / "docs").glob("*.md"):
            old.unlink()
        for path, text in pages.items():
            (self.repo / path).parent.mkdir(exist_ok=True)
            (self.repo / path).write_text(text)
        here = ["-C", str(self.repo)]
        subprocess.run([*GIT, *here, "add", "-A"], check=True)
        subprocess.run([*GIT, *here, "commit", "-qm", f"round {number}"], check=True)
        told = subprocess.run(
            [*GIT, *here, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
        )
        self.committed[told.stdout.strip()] = (number, pages)


def rounds_of(texts):
    return {int(number) for text in texts for number in ROUND.findall(text)}


def check_result(world, result, floor, commit_floor):
    """Hold what a result rests on against what was written."""
    docs, repo = [], []
    for hit in result.candidates:
        commit = hit.document.metadata.get("commit")
        (repo if commit else docs).append(hit)
        if commit:
            _, pages = world.committed[commit]
            assert hit.chunk.text in pages[hit.document.path]
    rounds = rounds_of(hit.chunk.text for hit in docs)
    assert len(rounds) <= 1, rounds
    for number in rounds:
        assert number >= floor, "a fact that was taken out"
        for hit in docs:
            assert hit.chunk.text in world.written[number][hit.document.path]
    commits = {hit.document.metadata["commit"] for hit in repo}
    assert len(commits) <= 1, commits
    for commit in commits:
        assert world.committed[commit][0] >= commit_floor, "a commit that was left"
    shown = rounds_of([result.answer, *(source.snippet for source in result.sources)])
    assert shown <= rounds | {world.committed[commit][0] for commit in commits}


def ask(router, world, place):
    floor, commit_floor = world.floor, world.commit_floor
    asked, tier = place % (PAGES + 3), 1 + place % 3
    if asked < PAGES:
        result = router.route_sync(f"When does valve {asked} open?", tier=tier)
        assert f"pages/{asked}.md" in {source.path for source in result.sources}, "a lost page"
    elif asked == PAGES:
        result = router.route_sync("How many rungs has the ladder of the yard?", tier=tier)
        assert any(source.path.startswith("moved/") for source in result.sources), "a lost page"
        assert "nine" in result.answer
    elif asked == PAGES + 1:
        result = router.route_sync("When does the kettle whistle?", tier=tier)
        assert any(source.path.startswith("gone/") for source in result.sources)
    else:
        result = router.route_sync("How much does the anchor weigh?", tier=tier)
        if commit_floor >= 0:
            assert "README.md" in {source.path for source in result.sources}, "a lost page"
    check_result(world, result, floor, commit_floor)
    return int(result.fingerprints["generation"])


def test_fifty_readers_of_a_living_corpus_see_whole_generations_only(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    world = World(tmp_path / "docs", tmp_path / "harbour")
    world.docs.mkdir()
    world.write(0)
    started, done = threading.Barrier(READERS + 1), threading.Event()
    failures, seen = [], [set() for _ in range(READERS)]

    def read(router, place):
        try:
            started.wait(WAIT_S)
            while not done.is_set():
                seen[place].add(ask(router, world, place))
        except BaseException as error:
            failures.append(error)
            done.set()

    settings = {
        "embedding_provider": "none",
        "include_platform_knowledge": False,
        "github_repos": {"repos": [str(world.repo)]},
    }
    with QueryRouter(knowledge_corpus=[world.docs], **settings) as router:
        threads = [
            threading.Thread(target=read, args=(router, place), daemon=True)
            for place in range(READERS)
        ]
        for thread in threads:
            thread.start()
        started.wait(WAIT_S)
        for number in range(1, ROUNDS + 1):
            world.write(number)
            if number >= ROUNDS // 2:
                world.commit(number)
            summary = router.refresh_sync()
            assert summary.n_moved == 1
            world.floor = number
            if number >= ROUNDS // 2:
                world.commit_floor = number
        last = {ask(router, world, place) for place in range(PAGES + 3)}
        done.set()
        for thread in threads:
            thread.join(WAIT_S)
        stats = router.get_corpus_stats()
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
    assert all(seen)
    assert last == {stats.generation}
    assert stats.document_count == PAGES + 2 + 2
