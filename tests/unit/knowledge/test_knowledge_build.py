"""Platform knowledge is built from the sources of a checkout, the same each time."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fingerpost.cli.main import main
from fingerpost.errors import ConfigError
from fingerpost.knowledge import load_knowledge, to_json
from fingerpost.knowledge.build import build

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A checkout with all that the build reads."""
    root = tmp_path_factory.mktemp("checkout")
    without = shutil.ignore_patterns(".fingerpost", "__pycache__")
    shutil.copytree(ROOT / "docs", root / "docs", ignore=without)
    shutil.copytree(ROOT / "src" / "fingerpost", root / "src" / "fingerpost", ignore=without)
    return root


@pytest.fixture
def checkout(pristine, tmp_path):
    shutil.copytree(pristine, tmp_path / "checkout")
    return tmp_path / "checkout"


def _run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["knowledge", "build", *map(str, arguments)])
    return ended.value.code


def _entries(checkout, file="platform.json"):
    text = (checkout / "src/fingerpost/knowledge" / file).read_text(encoding="utf-8")
    return {entry["id"]: entry for entry in json.loads(text)["entries"]}


def test_the_same_sources_give_the_same_bytes(pristine):
    assert to_json(build(pristine)) == to_json(build(pristine))


def test_a_changed_page_is_stale_until_it_is_built(checkout, capsys):
    assert _run("--root", checkout) == 0
    assert _run("--root", checkout, "--check") == 0
    page = checkout / "docs/faq.md"
    added = "\n## Is Heron a bird?\n\nHeron is a [bird](birds.md#heron).\n"
    page.write_text(page.read_text(encoding="utf-8") + added, encoding="utf-8")
    before = (checkout / "src/fingerpost/knowledge/platform.json").read_bytes()
    capsys.readouterr()
    assert _run("--root", checkout, "--check") == 1
    assert "platform.json; run: fingerpost knowledge build" in capsys.readouterr().err
    assert (checkout / "src/fingerpost/knowledge/platform.json").read_bytes() == before
    assert _run("--root", checkout) == 0
    assert _run("--root", checkout, "--check") == 0
    assert _entries(checkout)["faq:is-heron-a-bird"]["answer"] == "Heron is a bird.\n"


def test_two_entries_of_one_name_are_refused(checkout):
    page = checkout / "docs/faq.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n## What is fingerpost?\n\nA sign.\n")
    with pytest.raises(ConfigError, match="two entries are called faq:what-is-fingerpost"):
        build(checkout)


def test_a_page_that_speaks_of_a_name_that_is_not_there_is_refused(checkout):
    page = checkout / "docs/how-to/api-by-example.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n## `QueryRouter.fly`\n\nIt flies.\n")
    with pytest.raises(ConfigError, match=r"QueryRouter\.fly, which has no docstring"):
        build(checkout)


def test_a_heading_inside_code_begins_no_entry(checkout):
    page = checkout / "docs/faq.md"
    added = "\n## Is it code?\n\nYes:\n\n```bash\n## Is this a question?\n```\n"
    page.write_text(page.read_text(encoding="utf-8") + added)
    found = {entry.id: entry for entry in build(checkout).entries}
    assert "## Is this a question?" in found["faq:is-it-code"].answer
    assert "faq:is-this-a-question" not in found


@pytest.mark.parametrize(
    ("file", "raw"),
    [("docs/faq.md", b"\xff\xfe"), ("src/fingerpost/config/schema.py", b"def (:\n")],
)
def test_a_file_of_the_checkout_that_cannot_be_read_is_named(checkout, file, raw):
    with (checkout / file).open("ab") as end:
        end.write(raw)
    with pytest.raises(ConfigError, match=f"no checkout of fingerpost: {file}: ") as caught:
        build(checkout)
    assert "--root" in caught.value.hint


def test_a_folder_that_is_no_checkout_is_refused_with_a_hint(tmp_path, capsys):
    assert _run("--root", tmp_path) == 2
    said = capsys.readouterr().err
    assert "is no checkout of fingerpost" in said
    assert "--root" in said


def test_an_installed_package_says_that_it_needs_the_sources(pristine, tmp_path):
    shutil.copytree(pristine / "src" / "fingerpost", tmp_path / "site" / "fingerpost")
    done = subprocess.run(
        [sys.executable, "-m", "fingerpost", "knowledge", "build"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "an installed package" in done.stderr
    assert "fingerpost knowledge build --root FOLDER" in done.stderr


def test_tools_and_skills_stand_in_files_of_their_own_and_stay(checkout, tmp_path, capsys):
    tools = tmp_path / "tools.json"
    schema = {"properties": {"number": {"type": "string", "description": "Of the invoice."}}}
    tool = {"name": "send_invoice", "description": "Sends an invoice.", "inputSchema": schema}
    tools.write_text(json.dumps({"tools": [tool, tool, {"description": "nameless"}]}))
    skill = tmp_path / "skills" / "billing"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: billing\ndescription: Writes invoices in the house style.\n---\n# Billing\n"
    )
    given = ("--root", checkout, "--tools", tools, "--skills", skill.parent)
    assert _run("--check", *given) == 1
    advice = f"run: fingerpost knowledge build {' '.join(map(str, given))}\n"
    assert advice in capsys.readouterr().err
    assert _run(*given) == 0
    assert "nameless" not in capsys.readouterr().out
    answer = _entries(checkout, "tools.json")["tools:send_invoice"]["answer"]
    assert answer == "Sends an invoice.\n\nIt takes:\n\n- `number`: Of the invoice.\n"
    assert _entries(checkout, "skills.json")["skills:billing"]["question"] == (
        "What does the skill `billing` do?"
    )
    assert _run("--root", checkout) == 0
    assert _run(*given, "--check") == 0
    tools.write_text(json.dumps({"tools": [{**tool, "description": "Posts an invoice."}]}))
    assert _run(*given, "--check") == 1


def test_every_file_beside_the_module_is_loaded(checkout, tmp_path):
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "send_invoice", "description": "Sends an invoice."}]))
    assert _run("--root", checkout, "--tools", tools) == 0
    code = "from fingerpost.knowledge import load_knowledge; print(load_knowledge().stats())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(checkout / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    total = len(load_knowledge().entries) + 1
    assert done.stdout.startswith(f"PlatformKnowledgeStats(total={total}, tools=1,")
