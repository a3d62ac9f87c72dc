"""A mirror whose files were lost, damaged or cannot be written."""

import json
import random
import resource
import shutil
import signal
import subprocess
import sys

import pytest
from tests.unit.repos.conftest import place
from tests.unit.repos.test_repos_git import commit, git

from fingerpost.errors import RepositoryError
from fingerpost.testing.github import GithubServer

__all__ = ["place"]

PAGES = {"README.md": "# Mill\n", "docs/grain.md": "# Grain\n"}
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from fingerpost.repos import Mirror

def half(folder, **_):
    next(one for one in sorted(Path(folder).rglob("*.md"))).unlink()
    os.kill(os.getpid(), signal.SIGKILL)

shutil.rmtree = half
Mirror(Path(sys.argv[1]), "mill")._remove_all_but()
"""


@pytest.fixture
def mill(tmp_path):
    folder = tmp_path / "mill"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, PAGES)
    return folder


@pytest.fixture
def taken(place, mill):
    taken = place(str(mill))
    taken.fetch()
    return taken


def snapshot(taken):
    return taken.mirror.snapshot(taken.state.commit)


@pytest.mark.parametrize("damage", ["lost", "cut", "added", "link"])
def test_a_folder_that_is_not_as_it_was_fetched_is_fetched_anew(taken, damage):
    page = snapshot(taken) / "docs/grain.md"
    if damage == "lost":
        page.unlink()
    elif damage == "cut":
        page.write_bytes(b"#")
    elif damage == "added":
        page.with_name("other.md").write_text("# Other\n")
    else:
        page.unlink()
        page.symlink_to("/etc/hostname")
    assert taken.fetch()
    assert taken.files == PAGES
    assert taken.left_behind == []
    assert not taken.fetch()


def test_a_folder_that_lost_files_and_its_state_too_is_not_taken_for_another_s_work(taken):
    (snapshot(taken) / "README.md").unlink()
    (taken.mirror.folder / "state.json").unlink()
    assert taken.fetch()
    assert taken.files == PAGES
    assert taken.left_behind == []


def test_a_folder_of_the_same_sizes_and_other_text_is_replaced_when_its_state_is_lost(taken):
    (snapshot(taken) / "README.md").write_text("# Moll\n")
    (taken.mirror.folder / "state.json").unlink()
    assert taken.fetch()
    assert taken.files == PAGES


def test_a_whole_folder_without_a_state_stays_where_it_is(taken):
    node = snapshot(taken).stat().st_ino
    (taken.mirror.folder / "state.json").unlink()
    assert taken.fetch()
    assert snapshot(taken).stat().st_ino == node


def test_a_process_killed_inside_the_removal_of_a_folder_leaves_none_of_its_name(taken, mill):
    first = taken.state.commit
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(taken.mirror.folder)], check=False, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    assert not taken.mirror.snapshot(first).exists()
    assert taken.fetch()
    assert (taken.state.commit, taken.files) == (first, PAGES)


@pytest.mark.parametrize(
    "text",
    [
        "null", "5", "[]", "{}", "", "{", "[" * 100_000,
        *(
            json.dumps({"version": 1, "name": "NAME", **wrong})
            for wrong in (
                {"commit": "../../elsewhere"}, {"fetched_at": 1e30}, {"checked_at": -1},
                {"commit": 5}, {"skipped": [1]}, {"files": "no"}, {"error": None},
            )
        ),
    ],
)  # fmt: skip
def test_a_state_that_cannot_be_is_no_state_and_the_next_fetch_makes_a_good_one(taken, text):
    content = text.replace("NAME", taken.mirror.name)
    (taken.mirror.folder / "state.json").write_text(content)
    assert taken.state == type(taken.state)(taken.mirror.name)
    assert taken.fetch()
    assert taken.files == PAGES


def in_the_way(taken, tmp_path, what):
    folder = taken.mirror.folder
    if what == "state is a folder":
        (folder / "state.json").mkdir(parents=True)
    elif what == "mirror is a file":
        folder.write_text("")
    else:
        (tmp_path / "above").write_text("")
        taken.mirror.folder = tmp_path / "above" / "mirror"


@pytest.mark.parametrize(
    "what", ["state is a folder", "mirror is a file", "folder above is a file"]
)
def test_a_mirror_that_cannot_be_written_is_an_error_with_a_hint_and_is_told_in_its_state(
    place, mill, tmp_path, what
):
    taken = place(str(mill))
    in_the_way(taken, tmp_path, what)
    with pytest.raises(RepositoryError, match="cannot be kept") as caught:
        taken.fetch()
    assert str(taken.mirror.folder) in caught.value.hint
    assert taken.state.error == str(caught.value)
    if what == "state is a folder":
        assert [one for one in taken.left_behind if one.startswith("draft-")] == []
        shutil.rmtree(taken.mirror.folder)
        assert taken.fetch()
        assert taken.state.error == ""


def test_an_archive_that_the_disk_does_not_take_is_an_error_with_a_hint(place):
    page = random.Random(1).randbytes(50_000).hex()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with GithubServer({"acme/mill": {"README.md": page}}) as server:
        taken = place("acme/mill", server.url)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
        try:
            with pytest.raises(RepositoryError, match="cannot be kept: File too large") as caught:
                taken.fetch()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert str(taken.mirror.folder) in caught.value.hint
        assert taken.left_behind == []
        assert taken.fetch()
