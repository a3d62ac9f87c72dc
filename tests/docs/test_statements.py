"""Tables of the pages, held against the program that they speak of."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fingerpost import CitationVerifier, QueryRouterConfig
from fingerpost.cli.failure import MEANINGS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def _rows(page, heading):
    """Return the cells of the first table below a heading, without its two head lines."""
    text = (ROOT / page).read_text(encoding="utf-8")
    below = text.split(f"\n{heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def _nodes_of_the_program():
    for path in SOURCES:
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def _texts_of_the_program():
    return {
        node.value
        for node in _nodes_of_the_program()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _fallbacks_of_the_program():
    return {
        node.args[0].value
        for node in _nodes_of_the_program()
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "fall_back"
        and isinstance(node.args[0], ast.Constant)
    }


def test_the_exit_codes_of_the_page_are_those_of_the_program():
    rows = _rows("docs/how-to/command-line.md", "## Exit codes")
    assert {int(code): meaning for code, meaning in rows} == MEANINGS


def test_every_fallback_is_explained_and_none_that_never_happens():
    rows = _rows("docs/how-it-works/overview.md", "## Fallbacks")
    said = {name.strip("`") for name, _ in rows}
    assert said >= _fallbacks_of_the_program()
    assert said <= _texts_of_the_program()
    assert len(said) >= 11


def test_a_default_that_a_page_names_is_that_of_the_setting():
    named = [
        found
        for page in sorted((ROOT / "docs").rglob("*.md"))
        for found in re.findall(
            r"`(\w+)`[ ,(]+([\d.]+)[ \w]* unless set", page.read_text(encoding="utf-8")
        )
    ]
    fields = QueryRouterConfig.model_fields
    assert {name: float(value) for name, value in named} == {
        name: float(fields[name].default) for name, _ in named
    }
    assert len(named) >= 2


@pytest.mark.parametrize(
    ("claim", "source", "verdict"), _rows("docs/how-it-works/grounding.md", "## Examples")
)
def test_the_verifier_says_what_the_page_says_of_its_examples(claim, source, verdict):
    (found,) = CitationVerifier().verify_sync(claim, [source]).claims
    assert f"`{found.verdict.value}`" == verdict


@pytest.mark.parametrize(
    ("page", "heading"), [("README.md", "## Optional packages"), ("docs/start.md", "| extra")]
)
def test_every_extra_of_the_package_is_explained(page, heading):
    text = (ROOT / page).read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"dev"}
    assert {name for name in extras if f"| `{name}`" in text.partition(heading)[2]} == extras


def test_the_tables_of_numbers_are_what_the_kept_results_say():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "page.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
