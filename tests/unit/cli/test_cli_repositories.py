"""Repositories as a PATH of the commands."""

import json

import pytest
from tests.unit.repos.test_repos_git import commit, git

from fingerpost.testing.github import GithubServer
from fingerpost.testing.provider import faults

MILL = {
    "README.md": "# Mill\n\nThe mill grinds grain.\n",
    "docs/grain.md": "# Grain\n\nGrain is dried for nine days.\n",
}
GRAIN = "For how many days is grain dried?"
WORDS = ("--embedder", "none")


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with GithubServer({"acme/mill": MILL}) as running:
        monkeypatch.setenv("FINGERPOST_GITHUB_REPOS__BASE_URL", running.url)
        yield running


def test_index_fetches_a_repository_and_says_its_commit(run_main, server):
    code, out, err = run_main("index", "github:acme/mill", *WORDS)
    assert code == 0, err
    assert "2 documents, 2 chunks" in out
    commit_ = server._commits["acme/mill"]
    assert f"repository: github:acme/mill: commit {commit_[:10]}, 2 files, 2 chunks, fetched" in out
    server.push("acme/mill", {**MILL, "docs/flour.md": "# Flour\n\nFlour is white.\n"})
    code, out, _ = run_main("index", "github:acme/mill", *WORDS)
    assert (code, "1 new, 0 changed, 0 moved, 0 removed, 2 unchanged" in out) == (0, True)


def test_index_as_json_names_each_repository(run_main, server):
    _, out, _ = run_main("index", "github:acme/mill", "--json", *WORDS)
    (mill,) = json.loads(out)["repositories"]
    assert (mill["name"], mill["n_files"], mill["n_chunks"], mill["error"]) == (
        "github:acme/mill", 2, 2, "",
    )  # fmt: skip


def test_ask_fetches_what_was_never_fetched_and_then_asks_no_server(run_main, server):
    for _ in range(2):
        code, out, err = run_main("ask", "github:acme/mill", GRAIN, "--json", *WORDS)
        assert code == 0, err
        assert "nine days" in json.loads(out)["answer"]
    assert json.loads(out)["sources"][0]["url"].endswith("/docs/grain.md?plain=1#L1-L3")
    assert server.n_asked("commits") == 1


def test_a_folder_and_a_repository_are_asked_together(run_main, server, corpus):
    code, out, err = run_main("ask", str(corpus), "github:acme/mill", GRAIN, *WORDS)
    assert (code, "nine days" in out) == (0, True), err


def test_stats_shows_a_repository_without_asking_its_server(run_main, server):
    run_main("index", "github:acme/mill", *WORDS)
    n_asked = len(server.requests)
    code, out, _ = run_main("stats", "github:acme/mill", *WORDS)
    assert (code, len(server.requests)) == (0, n_asked)
    assert "repository          github:acme/mill: commit" in out


def test_a_repository_that_fails_later_is_told_and_ends_index_with_1(run_main, server):
    run_main("index", "github:acme/mill", *WORDS)
    limited = faults.status(403, body={}, headers={"retry-after": "900"})
    server._faults["commits"] = [limited]
    code, out, _ = run_main("index", "github:acme/mill", *WORDS)
    assert code == 1
    assert "not up to date: the rate limit is used up until" in out
    code, out, err = run_main("ask", "github:acme/mill", GRAIN, *WORDS)
    assert (code, "nine days" in out) == (0, True)
    assert "note: github:acme/mill: the rate limit" in err


def test_a_repository_that_cannot_be_fetched_at_all_is_an_error_that_says_why(run_main, server):
    code, out, err = run_main("index", "github:acme/none", *WORDS)
    assert (code, out) == (2, "")
    assert "github:acme/none: the repository or its default branch does not exist" in err
    assert "Give a folder" not in err


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nosuch", "Correct its address, or the branch, tag or full commit behind '@'."),
        ("tea@nosuch", "Correct its address, or the branch, tag or full commit behind '@'."),
        ("plain", "Give the folder of a git repository that is whole and that you may read."),
        ("code", "Give a repository that holds documentation in a format that is read."),
    ],
)
def test_what_to_do_about_a_repository_that_gives_nothing_fits_its_cause(
    run_main, server, tmp_path, what, said
):
    for name, files in (("tea", {"tea.md": "# Tea\n"}), ("code", {"a.py": "1\n"}), ("plain", {})):
        (tmp_path / name).mkdir()
        if files:
            git(tmp_path / name, "init", "-q", "-b", "main")
            commit(tmp_path / name, files)
    code, _, err = run_main("index", f"git+{tmp_path}/{what}", *WORDS)
    assert (code, said in err, "Give a folder" in err) == (2, True, False), err


def test_a_repository_that_cannot_be_kept_stops_no_other_source(run_main, server, corpus, tmp_path):
    (tmp_path / "cache" / "fingerpost").mkdir(parents=True)
    (tmp_path / "cache" / "fingerpost" / "repos").write_text("")
    code, out, err = run_main("index", corpus, "github:acme/mill", *WORDS)
    assert (code, "not up to date: it cannot be kept: " in out) == (1, True), err
    assert "fault of fingerpost" not in err
    code, _, err = run_main("index", "github:acme/mill", *WORDS)
    assert (code, "or remove it: what was in it is fetched again" in err) == (2, True), err


def test_a_state_with_an_impossible_date_is_fetched_again(run_main, server, tmp_path):
    run_main("index", "github:acme/mill", *WORDS)
    (state,) = (tmp_path / "cache").rglob("state.json")
    state.write_text(json.dumps({**json.loads(state.read_text()), "fetched_at": 1e30}))
    code, out, err = run_main("stats", "github:acme/mill", *WORDS)
    assert (code, "not fetched yet" in out) == (0, True), err
    code, out, err = run_main("index", "github:acme/mill", *WORDS)
    assert (code, "2 files" in out) == (0, True), err


def test_ask_fetches_a_repository_anew_whose_files_were_lost(run_main, server, tmp_path):
    run_main("index", "github:acme/mill", *WORDS)
    (page,) = (tmp_path / "cache").rglob("grain.md")
    page.unlink()
    code, out, err = run_main("ask", "github:acme/mill", GRAIN, *WORDS)
    assert (code, "nine days" in out) == (0, True), err
    assert page.exists()


def test_names_of_files_are_listed_on_one_line_and_a_deep_file_with_its_reason(
    run_main, server, tmp_path
):
    folder = tmp_path / "odd"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    deep = "/".join(["d"] * 65)
    commit(folder, {"tea.md": "# Tea\n\nTea.\n", "a\nb\tc.md": "# A\n", f"{deep}/x.md": "# X\n"})
    code, out, err = run_main("index", f"git+{folder}", *WORDS)
    assert code == 0, err
    assert r"/a\nb\tc.md: not-regular (its path holds" in out
    assert f"{deep}/x.md: limit (more than 64 folders deep)" in out
    assert "2 files (1 not-regular, 1 limit)" in out or "2 files (1 limit, 1 not-regular)" in out


def test_what_git_fetches_by_is_written_with_git_plus(run_main, server, tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"tea.md": "# Tea\n\nTea is served at four.\n"})
    for address in (f"git+{folder}", f"git+file://{folder}@main"):
        code, out, err = run_main("ask", address, "When is tea served?", *WORDS)
        assert (code, "four" in out) == (0, True), err


def test_paths_on_the_command_line_stand_in_place_of_the_repositories_of_the_settings(
    run_main, server, corpus, tmp_path
):
    file = tmp_path / "fingerpost.toml"
    file.write_text('knowledge_corpus = "docs"\n[github_repos]\nrepos = ["acme/mill"]\n')
    _, out, _ = run_main("index", "--config", file, "--json", *WORDS)
    assert [one["name"] for one in json.loads(out)["repositories"]] == ["github:acme/mill"]
    _, out, _ = run_main("index", corpus, "--config", file, "--json", *WORDS)
    assert json.loads(out)["repositories"] == []


def test_a_local_repository_in_a_settings_file_is_found_from_the_folder_of_the_file(
    run_main, server, tmp_path, monkeypatch
):
    folder = tmp_path / "project" / "handbook"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"tea.md": "# Tea\n\nTea is served at four.\n"})
    file = tmp_path / "project" / "fingerpost.toml"
    file.write_text('[github_repos]\nrepos = ["./handbook"]\n')
    monkeypatch.chdir(tmp_path)
    code, out, err = run_main("index", "--config", file, "--json", *WORDS)
    assert code == 0, err
    assert json.loads(out)["repositories"][0]["name"] == str(folder)
