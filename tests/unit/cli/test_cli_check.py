"""The check command."""

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from fingerpost.lint import RULES


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    """Return a folder with an error, a warning and fifteen findings of one rule."""
    folder = tmp_path / "docs"
    folder.mkdir()
    links = "".join(f"[x](gone{number}.md)\n" for number in range(15))
    (folder / "a.md").write_text(f"# Overview\n\nWords.\n\n{links}")
    monkeypatch.chdir(tmp_path)
    return folder


def test_findings_are_shown_with_place_and_remedy_and_an_error_exits_with_one(run_main, faulty):
    code, out, _ = run_main("check", "docs")
    assert code == 1
    assert "docs/a.md:5: there is no gone0.md" in out
    assert "… and 5 more" in out
    assert "gone14" not in out
    assert "warning vague-title" in out
    assert "\n1 page in " in out


def test_all_are_printed_on_demand(run_main, faulty):
    assert "gone14" in run_main("check", "docs", "--all")[1]


def test_warnings_alone_exit_with_zero(run_main, faulty):
    code, out, _ = run_main("check", "docs", "--ignore", "broken-link")
    assert code == 0
    assert "vague-title" in out


def test_the_name_of_a_page_is_printed_on_one_line(run_main, faulty):
    (faulty / "a.md").rename(faulty / "a\nerror b\tc.md")
    out = run_main("check", "docs")[1]
    assert r"docs/a\nerror b\tc.md:5: there is no gone0.md" in out
    assert "\nerror b" not in out


def test_a_clean_corpus_says_so(run_main, corpus):
    code, out, _ = run_main("check", corpus)
    assert code == 0
    assert "42 pages" in out
    assert "nothing found" in out


def test_json_holds_every_finding_and_the_counts(run_main, faulty):
    code, out, _ = run_main("check", "docs", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["counts"] == {"broken-link": 15, "vague-title": 1}
    assert found["findings"][0] == {
        "rule": "broken-link",
        "severity": "error",
        "path": "docs/a.md",
        "line": 5,
        "what": "there is no gone0.md",
        "todo": RULES["broken-link"].remedy,
    }


def test_the_page_of_html_escapes_what_documents_say(run_main, tmp_path, faulty):
    (faulty / "b.md").write_text(
        "# B\n\nWords.\n\n## <script>alert(1)</script>\n\n## C\n\nWords.\n"
    )
    page = tmp_path / "report.html"
    run_main("check", "docs", "--html", page)
    text = page.read_text("utf-8")
    assert "gone14" in text
    assert "<script" not in text


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_explained(run_main, rule):
    code, out, _ = run_main("check", "--explain", rule)
    assert code == 0
    assert RULES[rule].why in out


@pytest.mark.parametrize("option", ["--only", "--ignore", "--explain"])
def test_an_unknown_rule_is_a_usage_error_that_names_the_rules(run_main, faulty, option):
    code, _, err = run_main("check", "docs", option, "nonsense")
    assert code == 2
    assert "vague-title" in err


def test_a_folder_that_is_not_there_is_told_as_such(run_main, tmp_path):
    code, _, err = run_main("check", tmp_path / "none")
    assert (code, "there is no folder or file" in err) == (2, True)
    code, _, err = run_main("check", tmp_path)
    assert (code, "no page in" in err) == (2, True)


def test_a_path_without_pages_is_a_usage_error(run_main, tmp_path):
    assert run_main("check", tmp_path / "none")[0] == 2


def test_ctrl_c_ends_it_with_the_code_of_an_interruption(tmp_path):
    for number in range(3000):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\n" + f"Words {number}. " * 500)
    terminal, other_end = pty.openpty()  # progress is drawn on a terminal only
    command = [sys.executable, "-m", "fingerpost", "check", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=other_end) as running:
        os.close(other_end)
        said = b""
        while b"reading" not in said:
            said += os.read(terminal, 4096)
        running.send_signal(signal.SIGINT)
        try:
            out, _ = running.communicate(timeout=20)
        finally:
            running.kill()
    said += _rest(terminal)
    assert running.returncode == 130
    assert out == b""
    assert b"interrupted" in said
    assert b"Traceback" not in said


def _rest(terminal):
    """Return what is left to read of a terminal whose other end is closed."""
    parts = []
    with suppress(OSError):
        while part := os.read(terminal, 4096):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)
