"""Repositories by git, from folders: real ones, made by each test."""

import subprocess
import threading

import pytest

from fingerpost.errors import (
    RepositoryError,
    RepositoryNotFoundError,
    RepositoryTooLargeError,
    RepositoryUnavailableError,
)

ENV = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=ENV, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder, files, message="one"):
    """Commit these files; return the hash."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def mill(tmp_path):
    folder = tmp_path / "mill"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"README.md": "# Mill\n", "docs/grain.md": "# Grain\n", "src/a.py": "1\n"})
    return folder


def test_the_newest_commit_of_a_folder_is_taken_and_not_what_is_uncommitted(place, mill):
    (mill / "README.md").write_text("# Not committed\n")
    taken = place(str(mill))
    assert taken.fetch()
    assert taken.files == {"README.md": "# Mill\n", "docs/grain.md": "# Grain\n"}
    assert taken.state.commit == git(mill, "rev-parse", "HEAD")
    assert taken.left_behind == []
    assert not taken.fetch()


def test_a_bare_repository_is_taken_too(place, mill, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(mill), str(tmp_path / "bare.git"))
    taken = place(f"file://{tmp_path}/bare.git")
    assert taken.fetch()
    assert "README.md" in taken.files


def test_a_shallow_clone_is_taken_too(place, mill, tmp_path):
    commit(mill, {"README.md": "# Mill 2\n"})
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{mill}", str(tmp_path / "shallow"))
    taken = place(str(tmp_path / "shallow"))
    assert taken.fetch()
    assert taken.files["README.md"] == "# Mill 2\n"


@pytest.mark.parametrize("ref", ["v1", "old/branch", "annotated", "hash"])
def test_a_branch_a_tag_or_a_commit_can_be_named(place, mill, ref):
    git(mill, "tag", "v1")
    git(mill, "tag", "-a", "annotated", "-m", "with a text")
    git(mill, "branch", "old/branch")
    first = git(mill, "rev-parse", "HEAD")
    commit(mill, {"README.md": "# Mill 2\n"})
    taken = place(f"{mill}@{first if ref == 'hash' else ref}")
    assert taken.fetch()
    assert taken.files["README.md"] == "# Mill\n"
    assert taken.state.commit == first
    assert not taken.fetch()


def test_a_branch_whose_name_ends_like_the_one_that_is_named_is_not_taken_for_it(place, mill):
    git(mill, "branch", "feature/v1")
    with pytest.raises(RepositoryNotFoundError, match="no branch and no tag 'v1'"):
        place(f"{mill}@v1").fetch()


def test_a_new_commit_is_seen_and_a_removed_file_is_gone(place, mill):
    taken = place(str(mill))
    taken.fetch()
    git(mill, "rm", "-q", "docs/grain.md")
    second = commit(mill, {"docs/flour.md": "# Flour\n"}, "two")
    assert taken.fetch()
    assert taken.files == {"README.md": "# Mill\n", "docs/flour.md": "# Flour\n"}
    assert taken.state.commit == second


def test_a_commit_that_changes_no_document_is_another_commit_all_the_same(place, mill):
    taken = place(str(mill))
    taken.fetch()
    second = commit(mill, {"src/a.py": "2\n"}, "two")
    assert taken.fetch()
    assert taken.state.commit == second


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_that_is_no_repository_is_an_error_that_names_it(place, tmp_path, make):
    folder = tmp_path / "plain"
    if make:
        folder.mkdir()
    with pytest.raises(RepositoryError) as caught:
        place(str(folder)).fetch()
    assert str(folder) in str(caught.value)
    assert not isinstance(caught.value, RepositoryUnavailableError)


def test_a_repository_without_a_commit_says_so(place, tmp_path):
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(RepositoryNotFoundError, match="no commit"):
        place(str(tmp_path / "empty")).fetch()


def test_a_repository_beyond_the_limit_is_refused_and_leaves_nothing(place, mill):
    with (mill / "big.bin").open("wb") as file:
        file.write(bytes(threading.get_ident() % 251 for _ in range(10)))
        seed = 1
        for _ in range(300_000):
            seed = seed * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            file.write(seed.to_bytes(8, "little"))
    commit(mill, {}, "big")
    taken = place(str(mill), max_bytes=500_000)
    with pytest.raises(RepositoryTooLargeError, match=r"more than 0\.5 MB") as caught:
        taken.fetch()
    assert "max_repo_mb" in caught.value.hint
    assert taken.left_behind == []


def test_a_fetch_that_is_given_up_ends_at_once(place, mill):
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(RepositoryUnavailableError, match="given up"):
        place(str(mill), stopped=stopped).fetch()


def test_the_user_s_own_settings_of_git_do_not_take_part(place, mill, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f'[url "{tmp_path}/other"]\n\tinsteadOf = {mill}\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{tmp_path}/other.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(mill))
    assert place(str(mill)).fetch()


def test_without_git_the_error_says_what_is_missing(place, mill, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RepositoryError, match="git is not installed"):
        place(str(mill)).fetch()


def test_a_repository_that_counts_by_sha256_is_taken_too(place, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256", "-b", "main")
    first = commit(folder, {"README.md": "# New\n"})
    taken = place(str(folder))
    assert taken.fetch()
    assert taken.state.commit == first
    assert taken.files == {"README.md": "# New\n"}
    assert not taken.fetch()
    assert place(f"{folder}@{first}").fetch()


@pytest.mark.parametrize("what", ["HEAD^{tree}", "HEAD:README.md"])
def test_a_tag_of_what_is_no_commit_says_so_and_what_to_correct(place, mill, what):
    git(mill, "tag", "odd", git(mill, "rev-parse", what))
    with pytest.raises(RepositoryNotFoundError, match="'odd' names no commit") as caught:
        place(f"{mill}@odd").fetch()
    assert "branch, tag or full commit" in caught.value.hint


def test_of_a_commit_that_is_not_there_the_hint_speaks_of_the_commit(place, mill):
    with pytest.raises(RepositoryError) as caught:
        place(f"{mill}@{'0' * 40}").fetch()
    assert "See that it has the commit behind '@'." in caught.value.hint
    with pytest.raises(RepositoryError) as caught:
        place(str(mill / "docs")).fetch()
    assert "commit" not in caught.value.hint
    assert "another user owns: give a copy of your own" in caught.value.hint


def test_an_error_of_git_names_its_command(place, mill):
    blob = git(mill, "rev-parse", "HEAD:README.md")
    (mill / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RepositoryError, match="git fetch failed: "):
        place(str(mill)).fetch()
