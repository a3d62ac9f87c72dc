"""What a command says when it was not told where the documents are."""

import json

import pytest


@pytest.mark.parametrize("command", ["index", "stats", "chat"])
def test_without_a_path_a_command_says_what_to_give_on_the_command_line(run_main, command):
    code, out, err = run_main(command)
    assert (code, out) == (2, "")
    assert "give a PATH: a folder, a file or a glob" in err


def test_a_single_argument_of_ask_is_taken_as_the_question_and_that_is_said(run_main):
    code, _, err = run_main("ask", "docs")
    assert (code, "'docs' alone was taken as the question" in err) == (2, True)


def test_a_usage_error_in_json_is_an_object_too(run_main):
    code, out, err = run_main("stats", "--json")
    assert (code, json.loads(out)["error"]["type"]) == (2, "NoPathError")
    assert "give a PATH" in err
    code, out, _ = run_main("ask", "--json")
    assert (code, json.loads(out)["error"]["message"]) == (
        2,
        "Missing argument '[PATH]... QUESTION'.",
    )


def test_a_wrong_setting_is_not_taken_for_a_missing_path(run_main, tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_MAX_TIER", "9")
    code, _, err = run_main("stats", tmp_path)
    assert (code, "max_tier" in err) == (2, True)


def test_the_doctor_needs_no_path(run_main, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run_main("doctor")
    assert (code, "no PATH given" in out) == (0, True)
