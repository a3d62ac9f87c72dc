"""The command line as a user meets it: in a process of its own."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fingerpost.cli.main import main
from fingerpost.testing.provider import ProviderServer
from fingerpost.testing.provider.faults import status

COMMAND = (sys.executable, "-m", "fingerpost")
WORDS = ("--embedder", "none")


def _run(*arguments, **settings):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        **settings,
    )


def test_an_answer_shows_sources_tier_fallbacks_and_verdicts(corpus):
    done = _run("ask", corpus, "What does error E1042 mean?", *WORDS)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "The license file has expired [1]. Renew it with `heron license renew` [1]."
    )
    assert lines[lines.index("Sources") + 1].strip() == (
        "[1] guides/errors.md › Errors › E1042, lines 11-13"
    )
    verdict = lines[lines.index("Verdicts") + 1]
    assert verdict.split() == ["✓", "supported", "The", "license", "file", "has", "expired.", "[1]"]
    assert re.fullmatch(
        r"T1 lookup \(local, confidence 0\.\d\d\) · extractive · grounded: 2 of 2 claims supported"
        r" · fallbacks: keyword-fallback · words alone · \d+ ms",
        lines[-1].strip() or lines[-2].strip(),
    )


def test_json_is_one_object_with_the_whole_result(corpus):
    done = _run("ask", corpus, "What is the default mode?", "--json", "--explain", *WORDS)
    result = json.loads(done.stdout)
    assert result["sources"][0]["path"] == "guides/modes.md"
    assert result["classification"]["scores"]
    assert {"lexical_rank", "vector_rank", "fused_rank"} <= set(result["candidates"][0])
    assert result["query"]["text"] == "What is the default mode?"


def test_explain_shows_why_the_tier_and_every_candidate_with_all_its_ranks(corpus, runtime, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["ask", str(corpus), "What is the default mode?", "--explain"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    why = "\n".join(lines[lines.index("Why this tier") :])
    assert "threshold 0.70" in why
    shares = re.search(r"probabilities: T0 (\S+), T1 (\S+), T2 (\S+), T3 (\S+)", why).groups()
    assert sum(map(float, shares)) == pytest.approx(1, abs=0.03)
    assert len(re.findall(r"(?m)^  [+-]\d\.\d\d  \w+:", why)) > 3
    assert re.search(r"words 0\.\d\d, vectors 0\.\d\d", why)
    (header,) = [line for line in lines if {"fused", "words", "vector"} <= set(line.split())]
    assert header.split()[-5:] == ["fused", "words", "vector", "score", "place"]
    ranks = r"#(\d+) +(#\d+ \(\d+\.\d\d\)|-) +#\d+ \(-?\d\.\d\d\) +\d\.\d{3}  (\S+:\d+-\d+) "
    rows = [match for line in lines if (match := re.search(ranks, line))]
    assert [int(row[1]) for row in rows] == list(range(1, 8))
    assert rows[0][3] == "guides/modes.md:1-11"
    assert rows[0][2].startswith("#1 ")
    assert len({row[3] for row in rows}) == 7


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
        (("ask", "CORPUS", "What?", "--config", "NOWHERE"), 2),
        (("ask", "CORPUS", "What?", "--tier", "1", "--filter", "path=none/**"), 3),
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


def test_an_index_of_another_version_ends_with_six_and_says_what_cures_it(corpus):
    assert _run("index", corpus, *WORDS).returncode == 0
    with closing(sqlite3.connect(corpus / ".fingerpost" / "index.sqlite")) as database:
        database.execute("PRAGMA user_version = 99")
    for command in (("ask", corpus, "What is the default mode?"), ("stats", corpus)):
        done = _run(*command, *WORDS)
        assert (done.returncode, "--rebuild" in done.stderr) == (6, True)
    assert _run("index", corpus, "--rebuild", *WORDS).returncode == 0
    assert _run("stats", corpus, *WORDS).returncode == 0


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--require-grounded",), 4)])
def test_a_claim_that_no_page_makes_is_shown_and_ends_with_four_where_that_is_wanted(
    corpus, flags, code
):
    with ProviderServer("The default mode is safe [1]. Heron has nine modes [1].") as server:
        settings = {
            "FINGERPOST_BASE_URL": server.url,
            "FINGERPOST_API_KEY": "sk-of-a-test",
            "FINGERPOST_GENERATION_PROVIDER": "openai",
            "FINGERPOST_GENERATION_MODEL": "scripted",
        }
        done = _run(
            *("ask", corpus, "What is the default mode?", *flags, *WORDS),
            env={**os.environ, **settings},
        )
    assert done.returncode == code, done.stderr
    assert "✓ supported    The default mode is safe." in done.stdout
    assert "✗ contradicted Heron has nine modes." in done.stdout
    assert "NOT grounded: 1 of 2 claims supported" in done.stdout
    assert "sk-of-a-test" not in done.stdout + done.stderr


def test_a_provider_that_fails_while_vectors_are_computed_ends_with_five_and_words_stay(corpus):
    with ProviderServer(embeddings=[None, *[status(401)] * 20]) as server:
        settings = {
            "FINGERPOST_EMBEDDING_BASE_URL": server.url,
            "FINGERPOST_EMBEDDING_API_KEY": "sk-of-a-test",
            "FINGERPOST_EMBEDDING_PROVIDER": "openai",
            "FINGERPOST_EMBEDDING_MODEL": "scripted",
        }
        environment = {**os.environ, **settings}
        indexed = _run("index", corpus, env=environment)
        asked = _run("ask", corpus, "What is the default mode?", env=environment)
    assert (indexed.returncode, "401" in indexed.stderr) == (5, True)
    assert "embedding_api_key" in indexed.stderr
    assert (asked.returncode, "The default mode is safe [1]." in asked.stdout) == (0, True)
    assert "keyword-fallback" in asked.stdout
    for done in (indexed, asked):
        assert "sk-of-a-test" not in done.stdout + done.stderr
        assert "fault of fingerpost" not in done.stderr


def test_an_error_in_json_is_an_object_with_a_hint(tmp_path):
    done = _run("ask", tmp_path / "nowhere", "What?", "--json", *WORDS)
    error = json.loads(done.stdout)["error"]
    assert (error["type"], bool(error["hint"])) == ("EmptyCorpusError", True)


def test_index_tells_what_was_read_and_what_was_skipped_and_why(corpus):
    (corpus / "binary.md").write_bytes(b"a\0b" * 100)
    (corpus / "book.doc").write_bytes(b"%PDF-1.4")
    done = _run("index", corpus, *WORDS)
    assert "4 documents" in done.stdout
    assert "binary.md: binary" in done.stdout
    assert "book.doc: unsupported" in done.stdout
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
        done = _run_into(full, corpus)
    assert (done.returncode, "cannot write the output" in done.stderr) == (1, True)
    reading, writing = os.pipe()
    os.close(reading)
    closed = _run_into(writing, corpus)
    os.close(writing)
    assert (closed.returncode, closed.stderr) == (0, "")


def _run_into(output, corpus):
    return subprocess.run(
        [*COMMAND, "ask", str(corpus), "What is the default mode?", *WORDS],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
        check=False,
    )


def test_summaries_are_made_when_asked_for_and_an_overview_follows_them(corpus, tmp_path):
    place = ("--index-dir", tmp_path / "index")
    plain = _run("index", corpus, "--json", "--no-embed", *place)
    assert json.loads(plain.stdout)["n_summaries"] == 0
    made = _run("index", corpus, "--json", "--no-embed", "--summaries", *place)
    assert json.loads(made.stdout)["n_summaries"] >= 1
    question = ("What is this documentation about?", "--json", "--explain", *WORDS)
    result = json.loads(_run("ask", corpus, *question, *place).stdout)
    assert result["candidates"][0]["note"].startswith("stands for")
