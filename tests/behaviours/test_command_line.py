"""The command line as a user meets it: in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = ("--embedder", "none")


def _run(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "fingerpost", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        **settings,
    )


def test_an_answer_shows_sources_tier_fallbacks_and_verdicts(corpus):
    done = _run("ask", corpus, "What does error E1042 mean?", *WORDS)
    assert done.returncode == 0, done.stderr
    for wanted in (
        "expired [1]",
        "Sources",
        "guides/errors.md › Errors › E1042, lines",
        "Verdicts",
        "✓ supported",
        "fallbacks: ",
        "T",
    ):
        assert wanted in done.stdout


def test_json_is_one_object_with_the_whole_result(corpus):
    done = _run("ask", corpus, "What is the default mode?", "--json", "--explain", *WORDS)
    result = json.loads(done.stdout)
    assert result["sources"][0]["path"] == "guides/modes.md"
    assert result["classification"]["scores"]
    assert {"lexical_rank", "vector_rank", "fused_rank"} <= set(result["candidates"][0])
    assert result["query"]["text"] == "What is the default mode?"


def test_explain_shows_the_ranks_and_why_the_tier(corpus):
    done = _run("ask", corpus, "What is the default mode?", "--explain", *WORDS)
    assert "Why this tier" in done.stdout
    assert "probabilities: T0" in done.stdout
    assert "#1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("ask", "CORPUS", "zzqx plugh xyzzy?"), 3),
        (("ask", "CORPUS", "What is the default mode?", "--require-grounded"), 0),
        (("ask", "CORPUS", "What is the default mode?", "--require-grounded", "--no-verify"), 4),
        (("ask", "CORPUS", "What is the default mode?", "--deadline", "0.0000001"), 7),
        (("ask", "CORPUS", " "), 2),
        (("ask", "CORPUS"), 2),
        (("ask", "NOWHERE", "What?"), 2),
        (("ask", "CORPUS", "What?", "--filter", "path"), 2),
        (("ask", "CORPUS", "What?", "--tier", "9"), 2),
        (("stats", "CORPUS", "--index-dir", "NOWHERE"), 6),
        (("doctor", "NOWHERE"), 1),
        (("nonsense",), 2),
    ],
)
def test_exit_codes_are_those_of_the_documentation(corpus, tmp_path, arguments, code):
    places = {"CORPUS": str(corpus), "NOWHERE": str(tmp_path / "nowhere")}
    words = () if arguments[0] == "nonsense" else WORDS
    done = _run(*(places.get(item, item) for item in arguments), *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "fault of fingerpost" not in done.stderr


def test_an_error_in_json_is_an_object_with_a_hint(tmp_path):
    done = _run("ask", tmp_path / "nowhere", "What?", "--json", *WORDS)
    error = json.loads(done.stdout)["error"]
    assert (error["type"], bool(error["hint"])) == ("EmptyCorpusError", True)


def test_index_tells_what_was_read_and_what_was_skipped_and_why(corpus):
    (corpus / "binary.md").write_bytes(b"a\0b" * 100)
    (corpus / "book.pdf").write_bytes(b"%PDF-1.4")
    done = _run("index", corpus, *WORDS)
    assert "4 documents" in done.stdout
    assert "binary.md: binary" in done.stdout
    assert "book.pdf: unsupported" in done.stdout
    again = json.loads(_run("index", corpus, "--json", *WORDS).stdout)
    assert (again["n_added"], again["n_unchanged"]) == (0, 4)
    stats = json.loads(_run("stats", corpus, "--json", *WORDS).stdout)
    assert (stats["document_count"], len(stats["skipped"])) == (4, 2)


def test_a_conversation_understands_a_follow_up(corpus):
    lines = "How do I install Heron on Windows?\nand on macOS?\n/sources\n/nonsense\n/quit\n"
    done = _run("chat", corpus, *WORDS, input=lines)
    assert done.returncode == 0, done.stderr
    assert "brew install heron" in done.stdout
    assert "asked as: " in done.stdout
    assert "/nonsense is no command" in done.stdout


def test_settings_come_from_a_file_in_the_working_folder(corpus, tmp_path):
    (tmp_path / "fingerpost.toml").write_text(
        f'knowledge_corpus = ["{corpus}"]\nembedding_provider = "none"\n'
    )
    done = _run("ask", "What is the default mode?", cwd=tmp_path)
    assert "default mode is safe" in done.stdout
    assert "file fingerpost.toml" in _run("doctor", cwd=tmp_path).stdout


def test_terminal_escapes_of_a_document_do_not_reach_the_terminal(corpus):
    (corpus / "evil.md").write_text(
        "# Widget\n\nThe widget port is \x1b[31m9090\x1b[0m\u202e and ![x](http://evil.example/x.png).\n"
    )
    done = _run("ask", corpus, "What is the widget port?", *WORDS)
    assert "9090" in done.stdout
    for forbidden in ("\x1b", "\u202e", "![x]"):
        assert forbidden not in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_output_is_said_and_a_closed_one_is_no_fault(corpus):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "fingerpost",
                "ask",
                str(corpus),
                "What is the default mode?",
                *WORDS,
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=100,
            check=False,
        )
    assert (done.returncode, "cannot write the output" in done.stderr) == (1, True)
    reading, writing = os.pipe()
    os.close(reading)
    closed = subprocess.run(
        [
            sys.executable,
            "-m",
            "fingerpost",
            "ask",
            str(corpus),
            "What is the default mode?",
            *WORDS,
        ],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
        check=False,
    )
    os.close(writing)
    assert (closed.returncode, closed.stderr) == (0, "")
