"""``fingerpost capabilities``, and ``ask`` with tools and skills."""

import json
import re

import pytest

from fingerpost.cli.failure import ABSTAINED, ANSWERED
from fingerpost.cli.main import main

TOOLS = {"tools": [{"name": "send_mail", "description": "Sends a mail to somebody."}, {"name": 5}]}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "skills" / "mail-style").mkdir(parents=True)
    skill = "---\nname: mail-style\ndescription: How a mail is worded.\n---\n"
    (tmp_path / "skills" / "mail-style" / "SKILL.md").write_text(skill)
    (tmp_path / "extensions.json").write_text('[{"id": "spam", "summary": "Keeps mail clean."}]')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mail.md").write_text(
        "# Mail\n\nTo send a mail, press the button of the outbox.\n"
    )
    return tmp_path


@pytest.fixture
def run(place, capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*arguments])
        told = capsys.readouterr()
        return end.value.code, told.out, told.err

    return call


GIVEN = ("--tools", "tools.json", "--skills", "skills", "--extensions", "extensions.json")


def test_what_may_help_is_printed_with_why_and_what_was_skipped(run):
    code, out, err = run("capabilities", "send a mail", *GIVEN, "--embedder", "none")
    assert code == ANSWERED
    assert out.splitlines()[0].endswith("  tool:send_mail")
    assert "name holds 'send', 'mail'" in out.splitlines()[1]
    assert "skill:mail-style" in out
    assert err == "note: tools.json #2: it has no name\n"


def test_json_holds_all_of_it(run):
    arguments = ("--exclude", "tool:send_mail", "--top-k", "1", "--json", "--embedder", "none")
    code, out, _ = run("capabilities", "send a mail in good style", *GIVEN, *arguments)
    found = json.loads(out)
    assert (code, found["offered"], len(found["recommendations"])) == (ANSWERED, 3, 1)
    assert found["recommendations"][0]["id"] in ("mail-style", "spam")
    assert found["skipped"] == [{"where": "tools.json #2", "reason": "it has no name"}]


def test_nothing_that_helps_is_said_and_has_a_code_of_its_own(run):
    code, out, _ = run("capabilities", "bake bread", *GIVEN, "--embedder", "none")
    assert (code, out) == (ABSTAINED, "none of 3 capabilities seems to help\n")


def test_without_any_capability_the_usage_is_told(run):
    code, _, err = run("capabilities", "bake bread")
    assert code == 2
    assert "--skills, --tools and --extensions" in err


@pytest.mark.parametrize("option", ["--tools", "--skills", "--extensions"])
@pytest.mark.parametrize("command", [("capabilities",), ("ask", "docs")])
def test_a_path_that_is_not_there_is_wrong_usage(command, option, run):
    code, out, err = run(*command, "send a mail", option, "nowhere")
    assert (code, out) == (2, "")
    assert f"'{option}'" in err
    assert "nowhere: No such file or directory" in err


def test_an_answer_names_what_may_help(run):
    arguments = ("docs", "How do I send a mail?", *GIVEN, "--embedder", "none")
    code, out, err = run("ask", *arguments)
    assert code == ANSWERED
    assert re.search(r"May help\n  [01]\.\d\d  tool:send_mail\n", out)
    assert "tool:send_mail" in out.split("May help")[1]
    assert "note: tools.json #2" in err
    _, out, _ = run("ask", *arguments, "--json")
    recommended = [item["id"] for item in json.loads(out)["recommendations"]]
    assert recommended[0] == "send_mail"


def test_an_answer_without_capabilities_names_none(run):
    _, out, _ = run("ask", "docs", "How do I send a mail?", "--embedder", "none")
    assert "May help" not in out
