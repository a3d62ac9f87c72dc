"""Every example of README and docs runs; reference pages are what the program says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PLACEHOLDERS = (
    "P.jsonl",
    "./docs",
    "fingerpost chat",
    "runbooks",
    "papers",
    "sitemap.xml",
    "ANSWER",
    "DIR",
    "--watch",
    "[PATH]",
)


def _blocks(language):
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT)}:{number}")
        for page in PAGES
        for number, (kind, text) in enumerate(_BLOCK.findall(page.read_text(encoding="utf-8")))
        if kind == language
    ]


def _commands():
    lines = [
        line.split("  #")[0].strip()
        for block in _blocks("bash")
        for line in block.values[0].splitlines()
        if line.startswith("fingerpost ")
    ]
    return sorted({line for line in lines if not any(word in line for word in _PLACEHOLDERS)})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a copy of the docs and their index, vectors too, so that none waits for them."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns(".fingerpost"))
    shutil.copy(ROOT / "README.md", folder)
    _run([sys.executable, "-m", "fingerpost", "index", "docs"], folder)
    return folder


def _run(arguments, place, timeout=100):
    environ = {**os.environ, "XDG_CACHE_HOME": str(place / "cache")}
    return subprocess.run(
        arguments,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environ,
        check=False,
    )


@pytest.mark.parametrize("code", _blocks("python"))
def test_python_example_runs(code, place):
    done = _run([sys.executable, "-W", "error", "-c", code], place)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


@pytest.mark.parametrize("command", _commands())
def test_command_of_the_docs_runs(command, place):
    done = _run([sys.executable, "-m", *shlex.split(command)], place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_example_file_runs_and_is_short(path, place):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
    done = _run([sys.executable, "-W", "error", str(path)], place)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
    if done.stdout.startswith("skipped: "):
        pytest.skip(done.stdout.removeprefix("skipped: ").strip())


def test_reference_pages_are_current():
    done = _run([sys.executable, str(ROOT / "scripts" / "docs.py"), "--check"], ROOT)
    assert done.returncode == 0, done.stdout


def _broken_links(page):
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return [t for t in targets if "://" not in t and not (page.parent / t).exists()]


def test_links_between_pages_lead_somewhere():
    broken = {page.name: links for page in PAGES if (links := _broken_links(page))}
    assert broken == {}


def test_readme_is_short_and_answers_early():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150
    first_answer = next(n for n, line in enumerate(lines, 1) if re.match(r"^.*\[1\]\s*$", line))
    assert first_answer <= 30
