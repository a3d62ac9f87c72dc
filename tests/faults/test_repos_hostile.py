"""Repositories that are made to harm: nothing but git runs, and nothing is written elsewhere."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from tests.unit.repos.conftest import Place
from tests.unit.repos.test_repos_git import commit, git

from fingerpost.config.load import load_config
from fingerpost.errors import ConfigError

EXECUTED = re.compile(r'execve\("([^"]+)", \[(.*)\], .*= 0$')
OPENED = re.compile(r'open(?:at)?\([^"]*"([^"]+)", [^)]*O_(?:WRONLY|RDWR)[^)]*\).* = \d+')
HOOKS = (
    "post-checkout", "post-merge", "pre-auto-gc", "reference-transaction", "post-index-change",
    "fsmonitor-watchman", "pre-receive", "update", "post-update",
)  # fmt: skip
FETCH = """
import sys
from pathlib import Path
from tests.unit.repos.conftest import Place
Place(Path(sys.argv[1]), sys.argv[2], "http://127.0.0.1:9").fetch()
"""


@pytest.fixture
def hostile(tmp_path):
    """A repository with every trap that git has; each writes a canary when it is sprung."""
    other, folder, canary = tmp_path / "other", tmp_path / "hostile", tmp_path / "canary"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    program.chmod(0o755)
    for place in (other, folder):
        place.mkdir()
        git(place, "init", "-q", "-b", "main")
    commit(other, {"README.md": "# Other\n", "secret.md": "not of this repository\n"})
    inside = git(other, "rev-parse", "HEAD")
    commit(
        folder,
        {
            "docs/page.md": "# Page\n",
            "docs/filtered.md": "# Filtered\n",
            "large.md": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            ".gitattributes": "*.md filter=evil diff=evil merge=evil\n*.md filter=lfs\n",
            ".lfsconfig": f"[lfs]\nurl = file://{other}\n",
            ".gitmodules": f'[submodule "s"]\n\tpath = sub\n\turl = file://{other}\n\tupdate = !{program}\n',
        },
    )
    (folder / "README.md").symlink_to("/etc/passwd")
    (folder / "linked").symlink_to(other)
    git(folder, "add", "-A")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{inside},sub")
    git(folder, "commit", "-q", "-m", "traps")
    git(folder, "update-ref", "refs/heads/-x", "HEAD")
    git(folder, "update-ref", "refs/heads/--upload-pack=touch", "HEAD")
    for name in HOOKS:
        shutil.copy(program, folder / ".git" / "hooks" / name)
    settings = {
        "core.fsmonitor": program, "core.sshCommand": program, "core.pager": program,
        "core.askPass": program, "core.gitProxy": program, "credential.helper": f"!{program}",
        "filter.evil.smudge": program, "filter.evil.clean": program,
        "filter.evil.process": program, "filter.lfs.smudge": program, "diff.evil.command": program,
        "diff.evil.textconv": program, "merge.evil.driver": program,
        "uploadpack.packObjectsHook": program, "remote.origin.uploadpack": program,
        "gpg.program": program, "alias.ls-tree": f"!{program}", "core.alternateRefsCommand": program,
    }  # fmt: skip
    for name, value in settings.items():
        git(folder, "config", name, str(value))
    return folder


def traced(tmp_path, address):
    """Fetch in a process of its own; return what was executed and what was opened to write."""
    log = tmp_path / "trace"
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [
            "strace", "-f", "-s", "4096", "-e", "trace=execve,openat,open,creat,rename,renameat2",
            "-o", str(log), sys.executable, "-c", FETCH, str(tmp_path / "mirror"), address,
        ],
        env={**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    text = log.read_text(errors="replace")
    return (
        [found.groups() for line in text.splitlines() if (found := EXECUTED.search(line))],
        [found[1] for line in text.splitlines() if (found := OPENED.search(line))],
    )


def no_tracing():
    try:
        done = subprocess.run(
            ["strace", "-f", "-o", os.devnull, "git", "--version"], capture_output=True, check=False
        )
    except OSError:
        return True
    return done.returncode != 0


@pytest.mark.slow
@pytest.mark.skipif(no_tracing(), reason="strace cannot trace here; the canary test runs anyway")
def test_only_git_runs_and_nothing_is_written_outside_the_mirror(hostile, tmp_path):
    executed, opened = traced(tmp_path, str(hostile))
    (python, _), *others = executed
    assert Path(python).name.startswith("python")
    shells = [arguments for program, arguments in others if Path(program).name == "sh"]
    programs = [Path(one).name for one, _ in others if Path(one).name != "sh"]
    assert {one.partition("-")[0] for one in programs} == {"git"}
    # By which git starts its other side, and nothing that a repository says.
    upload = f"git-upload-pack '{hostile}'"
    assert set(shells) == {f'"/bin/sh", "-c", "{upload}", "{upload}"'}
    outside = [
        one
        for one in opened
        if one.startswith("/") and not one.startswith((f"{tmp_path}/mirror/", "/dev/", "/proc/"))
    ]
    assert outside == []
    assert not (tmp_path / "canary").exists()


def test_no_trap_of_a_repository_is_sprung_and_only_its_own_files_are_taken(hostile, tmp_path):
    taken = Place(tmp_path / "mirror", str(hostile), "http://127.0.0.1:9")
    assert taken.fetch()
    assert taken.files == {"docs/page.md": "# Page\n", "docs/filtered.md": "# Filtered\n"}
    assert taken.skipped == {
        "README.md": "symlink",
        "sub": "not-regular",
        "large.md": "ignored",
    }
    assert not (tmp_path / "canary").exists()
    assert taken.left_behind == []


@pytest.mark.parametrize(
    "ref", ["-x", "--upload-pack=touch", "a b", "a..b", "+main:main", "a^{}", "*"]
)
def test_a_ref_that_git_could_take_for_something_else_is_refused_unasked(hostile, ref):
    with pytest.raises(ConfigError, match="no name of a branch, a tag or a commit"):
        load_config({"github_repos": {"repos": [f"{hostile}@{ref}"]}}, environ={})


@pytest.mark.parametrize(
    "address",
    [
        "--upload-pack=touch canary",
        "-oProxyCommand=touch canary",
        "ext::sh -c touch% canary",
        "fd::17/foo",
        "ssh://-oProxyCommand=touch/x",
        "ssh://host.example/-x",
        "git://host.example/x",
        "ftp://host.example/x",
        "https://user:pass@host.example/x",
        "https://host.example/x?y",
        "https://host.example/x#y",
        "https://host%2eexample/x",
        "https://host.example\\@127.0.0.1/x",
        "file://host.example/x",
        "github:owner",
        "github:-x/y",
        "",
        " ",
        "a\nb",
    ],
)
def test_an_address_that_could_be_an_option_or_hide_another_is_refused(address):
    with pytest.raises(ConfigError) as caught:
        load_config({"github_repos": {"repos": [address]}}, environ={})
    assert "pass" not in str(caught.value).replace("password", "")


def test_a_tree_with_names_that_lead_elsewhere_gives_its_other_files(tmp_path):
    folder = tmp_path / "odd"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"README.md": "# Odd\n"})
    key = bytes.fromhex(git(folder, "rev-parse", "HEAD:README.md"))
    inner = written(folder, b"tree", b"100644 escaped.md\0" + key)
    names = [b"README.md", b"a\\b.md", b"c:d.md", b"nul\x01.md", b"\xff\xfe.md"]
    rows = [b"100644 " + name + b"\0" + key for name in names]
    rows += [b"40000 " + name + b"\0" + inner for name in (b"..", b".git", b".GIT")]
    tree = written(folder, b"tree", b"".join(rows))
    made = git(folder, "commit-tree", tree.hex(), "-m", "odd")
    git(folder, "update-ref", "refs/heads/main", made)
    taken = Place(tmp_path / "mirror", str(folder), "http://127.0.0.1:9")
    assert taken.fetch()
    folder = taken.mirror.snapshot(taken.state.commit)
    found = sorted(os.fsencode(one.name) for one in folder.rglob("*"))
    assert found == [b"README.md", b"\xff\xfe.md"]
    assert len(taken.state.skipped) == 6
    assert not list(tmp_path.rglob("escaped.md"))


def written(folder, kind, content):
    """Write an object that git itself would refuse to make."""
    raw = kind + b" %d\0" % len(content) + content
    key = hashlib.sha1(raw).hexdigest()
    place = folder / ".git" / "objects" / key[:2] / key[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(raw))
    return bytes.fromhex(key)


@pytest.mark.slow
def test_a_tree_of_a_hundred_thousand_files_gives_those_nearest_to_the_root(tmp_path):
    folder = tmp_path / "large"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    lines = ["commit refs/heads/main", "committer a <a@b> 0 +0000", "data 1", "x"]
    for n in range(100_000):
        lines += [f"M 100644 inline docs/{n % 300}/{n}.md", "data 2", "x"]
    lines += ["M 100644 inline README.md", "data 8", "# Large", ""]
    subprocess.run(
        ["git", "-C", str(folder), "fast-import", "--quiet"],
        input="\n".join(lines).encode(),
        check=True,
    )
    taken = Place(tmp_path / "mirror", str(folder), "http://127.0.0.1:9")
    assert taken.fetch()
    assert taken.state.n_files == 50
    assert "README.md" in taken.files
    assert taken.state.n_left_out == 100_001 - 50
