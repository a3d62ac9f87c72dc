"""What a command says when it was not told where the documents are."""

import json
import subprocess
import sys

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


@pytest.mark.parametrize("command", [("ask", "bare", "What is it?"), ("chat", "bare")])
def test_a_folder_without_text_is_refused_once(command, tmp_path):
    (tmp_path / "bare").mkdir()
    ran = subprocess.run(  # a process of its own: only there the command line sets up logging
        [sys.executable, "-m", "fingerpost", *command, "--embedder", "none"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: no text was found in the corpus: bare: empty")
    assert "only questions about fingerpost" not in ran.stderr


def test_a_source_about_fingerpost_itself_does_not_look_like_a_file(run_main, tmp_path):
    (tmp_path / "birds.md").write_text("# Birds\n\nA page about birds.\n")
    question = "Which file formats does fingerpost read?"
    code, out, _ = run_main("ask", tmp_path, question, "--embedder", "none", "--explain")
    entry = "platform:faq/which-file-formats-does-fingerpost-read"
    assert code == 0
    assert f"\n  [1] {entry} › " in out
    assert f"{entry}:1-" in out.split(" candidates")[1]


@pytest.mark.parametrize("written", ["3", "T3", "t3", " T3 "])
def test_a_tier_is_taken_as_a_number_and_as_results_tell_it(run, corpus, written):
    code, out, _ = run("ask", corpus, "Which is the default mode?", "--tier", written)
    assert (code, "T3 research (forced" in out) == (0, True)
    _, out, _ = run("ask", corpus, "Which is the default mode?", "--max-tier", "t1", "--json")
    assert json.loads(out)["classification"]["tier"] <= 1


@pytest.mark.parametrize("written", ["4", "T4", "-1", "TT1", "T", "", "1.0", "research"])
def test_a_tier_that_is_none_is_refused_with_those_that_are(run, corpus, written):
    code, _, err = run("ask", corpus, "Which is the default mode?", f"--tier={written}")
    assert (code, "write 0 to 3, or T0 to T3" in err) == (2, True)
