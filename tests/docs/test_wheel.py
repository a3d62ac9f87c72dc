"""The built wheel, alone in an empty environment, runs the README's first block."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _run(*arguments, **settings):
    done = subprocess.run(
        [str(item) for item in arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **settings,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def _masked(text):
    """Return what does not change from run to run: no times, no confidence."""
    return re.sub(r"confidence \d\.\d\d|\d+ ms", "…", text).strip()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_in_an_empty_environment_runs_the_first_block_of_the_readme(tmp_path):
    clone, wheels, empty = tmp_path / "clone", tmp_path / "wheels", tmp_path / "empty"
    _run("git", "clone", "-q", ROOT, clone)
    pip = ("-m", "pip", "--disable-pip-version-check", "-q")
    _run(
        sys.executable,
        *pip,
        "wheel",
        "--no-deps",
        "-w",
        wheels,
        clone,
        clone / "packages" / "fingerpost-minilm",
    )
    venv.create(empty, with_pip=True)
    python = empty / "bin" / "python"
    built = {path.name.split("-")[0]: path for path in wheels.glob("*.whl")}
    constraints = ("--no-compile", "-c", clone / "constraints.txt")
    _run(
        python,
        *pip,
        "install",
        *constraints,
        f"{built['fingerpost']}[local]",
        built["fingerpost_minilm"],
    )

    readme = (clone / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```bash\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[1]
    sample = re.search(r"^````text\n\$ .*?\n\n(.*?)^````", readme, re.MULTILINE | re.DOTALL)[1]
    environ = {**os.environ, "FINGERPOST_PYTHON": str(python)}
    lines = [line for line in (line.split("  #")[0].strip() for line in block.splitlines()) if line]
    for line in lines:
        _run(*shlex.split(line), cwd=clone, env=environ)
    _run(python, "-m", "fingerpost", "index", "docs", cwd=clone)  # the vectors that are missing
    done = _run(*shlex.split(lines[-1]), cwd=clone, env=environ)
    assert not (clone / ".venv").exists()
    assert _masked(done.stdout) == _masked(sample)
    where = _run(python, "-c", "import fingerpost; print(fingerpost.__file__)", cwd=tmp_path)
    assert str(empty) in where.stdout


def test_the_wheel_holds_the_git_tree_and_nothing_else(tmp_path):
    _run(sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", tmp_path, ROOT)
    import zipfile

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = {
            name: hashlib.sha256(wheel.read(name)).hexdigest()
            for name in wheel.namelist()
            if ".dist-info/" not in name
        }
    tracked = _run("git", "ls-files", "src/fingerpost", cwd=ROOT).stdout.split()
    tree = {
        path.removeprefix("src/"): hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        for path in tracked
        if (ROOT / path).exists()
    }
    assert held == tree
    assert not [name for name in held if name.endswith((".pth", ".pyc"))]
