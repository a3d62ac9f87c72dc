"""The gaps command: from questions that were asked to the pages that are missing."""

import json
import os
import stat

import pytest

from fingerpost import QueryRouter

KEYS = ("How do I rotate the signing key?", "rotate the signing key of the vault")
PLANS = ("What does the enterprise plan cost?",)


@pytest.fixture
def log(corpus, tmp_path):
    """Return the log of three questions that the corpus does not answer, one asked twice."""
    path = tmp_path / "gaps.jsonl"
    with QueryRouter(
        knowledge_corpus=[str(corpus)], embedding_provider="none", gap_log=path
    ) as router:
        for question in (*KEYS, *PLANS, KEYS[0]):
            assert router.route_sync(question).abstention is not None
    return path


def test_the_pages_that_are_missing_are_shown_most_wanted_first(run, log):
    code, out, _ = run("gaps", log)
    assert code == 0
    assert out.index("Rotate the signing key") < out.index("Enterprise plan cost")
    assert "   3 × Rotate the signing key" in out
    assert "“How do I rotate the signing key?” (2 times)" in out
    assert "4 questions without an answer, pages missing: 2 (grouped by words alone)" in out


def test_json_tells_the_same(run, log):
    code, out, _ = run("gaps", log, "--json")
    found = json.loads(out)
    assert code == 0
    assert [page["n_asked"] for page in found["pages"]] == [3, 1]
    assert [one["question"] for one in found["pages"][0]["questions"]] == [*KEYS]
    assert found["by_meaning"] is False


def test_asking_again_tells_which_are_answered_now(run, log, corpus):
    before = log.read_bytes()
    (corpus / "keys.md").write_text(
        "# Signing keys\n\nRotate the signing key of the vault with `heron keys rotate`.\n"
    )
    code, out, _ = run("gaps", log, "--recheck", corpus, "--json")
    keys, plans = json.loads(out)["pages"]
    assert code == 0
    assert [one["path"] for one in keys["answered_now"]] == ["keys.md"] * 2
    assert (plans["n_asked_again"], plans["answered_now"]) == (1, [])
    assert log.read_bytes() == before


def test_a_page_of_html_shows_what_was_asked_and_runs_nothing(run, tmp_path):
    log, page = tmp_path / "gaps.jsonl", tmp_path / "gaps.html"
    near = {"source": "s", "path": "a.md", "line": 3, "uri": "javascript:alert(1)"}
    line = {"at": 1.0, "question": "<script>alert(1)</script> key?", "reason": "uncovered",
            "near": [near]}  # fmt: skip
    log.write_text(json.dumps(line) + "\n")
    code, _, err = run("gaps", log, "--html", page)
    assert (code, f"wrote {page}" in err) == (0, True)
    text = page.read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; key?" in text
    assert "<script" not in text
    assert "javascript:" not in text
    assert "default-src 'none'" in text


def test_only_questions_since_a_date_are_counted(run, log):
    none = run("gaps", log, "--since", "2999-01-01")
    assert none[:2] == (0, "no question went unanswered since 2999-01-01\n")
    assert "4 questions" in run("gaps", log, "--since", "2d")[1]
    assert "4 questions" in run("gaps", log, "--since", "999999w")[1]


@pytest.mark.parametrize("since", ["yesterday", "9999-12-31T23:59:59-14:00"])
def test_a_date_that_is_none_is_wrong_usage(run, tmp_path, since):
    (tmp_path / "gaps.jsonl").touch()
    code, _, err = run("gaps", tmp_path / "gaps.jsonl", "--since", since)
    assert code == 2
    assert "7d" in err


@pytest.mark.parametrize("since", ["999999w", "0001-01-01", "0001-01-01T00:00:00-14:00"])
def test_before_all_dates_is_no_date(run, tmp_path, since):
    (tmp_path / "gaps.jsonl").touch()
    ran = run("gaps", tmp_path / "gaps.jsonl", "--since", since)
    assert ran[:2] == (0, "no question went unanswered yet\n")


def test_what_is_one_is_told_as_one(run, tmp_path):
    log, kept = tmp_path / "gaps.jsonl", {"at": 1.0, "reason": "uncovered", "near": []}
    asked = ("pump", "pumps", "a pump", "the pump?", "?")
    log.write_text("".join(json.dumps(kept | {"question": one}) + "\n" for one in asked) + "no")
    out = run("gaps", log)[1]
    assert "… and 1 other question\n" in out
    assert "1 line could not be read\n" in out
    assert "1 × ?\n" in out


def test_the_settings_name_the_log(run, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fingerpost.toml").write_text('knowledge_corpus = ["docs"]\ngap_log = "gaps.jsonl"')
    assert "4 questions" in run("gaps")[1]


def test_a_log_of_the_settings_that_is_not_there_yet_holds_no_question(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fingerpost.toml").write_text('gap_log = "gaps.jsonl"')
    assert run("gaps")[:2] == (0, "no question went unanswered yet\n")


def test_without_a_log_the_command_says_what_to_set(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("gaps")
    assert (code, "gap_log" in err) == (2, True)
    code, _, err = run("gaps", "none.jsonl")
    assert (code, "gap_log" in err) == (1, True)


def test_the_ask_command_keeps_gaps_where_the_settings_say(run, corpus, tmp_path, monkeypatch):
    kept = tmp_path / "kept.jsonl"
    monkeypatch.setenv("FINGERPOST_GAP_LOG", str(kept))
    assert run("ask", corpus, PLANS[0])[0] == 3
    assert json.loads(kept.read_text())["question"] == PLANS[0]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["gaps.jsonl", "gaps.jsonl.1"])
def test_a_pipe_is_refused_and_not_waited_for(run, tmp_path, name):
    os.mkfifo(tmp_path / name)
    code, _, err = run("gaps", tmp_path / "gaps.jsonl")
    assert (code, "no regular file" in err) == (1, True)


@pytest.mark.parametrize("how", [(), ("--json",), ("--html", "page.html")])
def test_a_damaged_line_is_counted_and_breaks_no_report(run, tmp_path, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    good = '{"at": 1.0, "question": "Is there a key?", "reason": "uncovered"}'
    near = '"near": [{"source": "s", "path": "p", "uri": "u", "line": Infinity}]'
    damaged = [good.replace("1.0", at) for at in ("1e18", "Infinity", "NaN", "-1e18", "1" * 400)]
    damaged += [good[:-1] + f", {near}}}", "[1]", "x" * 200_000, '{"at": 1.0, "near": [']
    (tmp_path / "g").write_text("\n".join([*damaged, good, ""]))
    code, out, _ = run("gaps", "g", *how)
    assert code == 0
    assert "9 lines could not be read" in out or json.loads(out)["n_unreadable"] == 9
