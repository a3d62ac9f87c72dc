"""What fingerpost knows about itself is what its sources say, and what its code does."""

import io
import os
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fingerpost import errors
from fingerpost.config.providers import ADDRESSES
from fingerpost.knowledge import load_knowledge, to_json
from fingerpost.knowledge.build import build

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "src" / "fingerpost" / "knowledge" / "platform.json"
ENTRIES = load_knowledge().entries


def _with_code(category):
    return [
        pytest.param(entry, id=entry.id)
        for entry in ENTRIES
        if entry.category == category and entry.code
    ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a copy of a few pages, as the code of an entry expects it."""
    for page in ("how-to/command-line.md", "how-to/filters.md", "how-it-works/tiers.md"):
        (tmp_path / "docs" / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "docs" / page, tmp_path / "docs" / page)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(code):
    said = io.StringIO()
    kept = dict(os.environ)
    try:
        with redirect_stdout(said):
            exec(compile(code, "<entry>", "exec"), {"__name__": "__main__"})
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return said.getvalue()


def test_what_ships_is_what_the_sources_say_now():
    stale = SHIPPED.read_text(encoding="utf-8") != to_json(build(ROOT))
    assert not stale, "run: fingerpost knowledge build"


def test_there_are_as_many_entries_as_promised():
    found = load_knowledge().stats()
    assert (found.faq >= 38, found.api >= 15, found.troubleshooting >= 15) == (True, True, True)
    assert found.total == len(ENTRIES) == len({entry.id for entry in ENTRIES})


def test_each_provider_of_the_table_has_an_entry_that_names_its_key():
    by_id = {entry.id: entry for entry in ENTRIES}
    for provider in ADDRESSES:
        answer = by_id[f"faq:setup-{provider.name}"].answer
        assert provider.key_variable in answer
        assert "export =" not in answer
    assert {"faq:setup-credentials-general", "faq:find-credential-files"} <= by_id.keys()


@pytest.mark.parametrize("entry", _with_code("api") + _with_code("faq"))
def test_the_code_of_an_entry_runs_and_says_something(entry, place):
    assert _run(entry.code).strip()


def test_every_api_entry_has_code():
    assert [entry.id for entry in ENTRIES if entry.category == "api" and not entry.code] == []


@pytest.mark.parametrize("entry", _with_code("troubleshooting"))
def test_the_code_of_an_entry_really_raises_its_error(entry, place):
    assert issubclass(getattr(errors, entry.error), errors.FingerpostError)
    assert entry.id == f"troubleshooting:{entry.error}"
    assert _run(entry.code).split()[0] == entry.error


def test_every_troubleshooting_entry_has_code():
    without = [e.id for e in ENTRIES if e.category == "troubleshooting" and not e.code]
    assert without == []


def test_no_entry_leads_to_a_page_that_a_package_does_not_have():
    assert [entry.id for entry in ENTRIES if "](" in entry.answer] == []
