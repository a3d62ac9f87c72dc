"""What ``--explain`` shows."""

import json
import re

import pytest

QUESTION = "What do the notes say of modes and errors?"


def _candidates(text):
    head, *rows = text.split(" candidates")[1].split("\n\n")[0].splitlines()[1:]
    return head, rows


@pytest.mark.parametrize("tier", ["1", "2", "3"])
def test_explain_shows_every_candidate_that_the_json_form_lists(run, corpus, tier):
    asked = ("ask", corpus, QUESTION, "--tier", tier, "--explain")
    _, out, _ = run(*asked)
    listed = json.loads(run(*asked, "--json")[1])["candidates"]
    head, rows = _candidates(out)
    assert head.split() == ["source", "part", "fused", "words", "vector", "score", "place"]
    shown = [re.search(r"\S+:\d+-\d+", row)[0] for row in rows]
    assert shown == [f"{c['path']}:{c['line_start']}-{c['line_end']}" for c in listed]
    assert len(shown) > 25
    assert f"\n{len(listed)} candidates" in out


def test_each_row_holds_the_ranks_of_its_candidate(run, corpus):
    asked = ("ask", corpus, "What does E1042 mean?", "--tier", "1", "--explain")
    _, out, _ = run(*asked)
    result = json.loads(run(*asked, "--json")[1])
    first = result["candidates"][0]
    row = _candidates(out)[1][0]
    assert row.split() == [
        "[1]",
        "-",
        f"#{first['fused_rank']}",
        f"#{first['lexical_rank']}",
        f"({first['lexical_score']:.2f})",
        "-",
        f"{first['score']:.3f}",
        f"errors.md:{first['line_start']}-{first['line_end']}",
        "Errors",
        "›",
        "E1042",
    ]


def test_a_candidate_names_the_part_of_the_question_that_found_it(run, corpus):
    question = "Compare the default mode with E1042, and what does note 7 say?"
    asked = ("ask", corpus, question, "--tier", "3", "--explain")
    result = json.loads(run(*asked, "--json")[1])
    rows = _candidates(run(*asked)[1])[1]
    assert len(result["sub_queries"]) > 1
    numbers = {part: str(n) for n, part in enumerate(result["sub_queries"], start=1)}
    expected = [numbers.get(one["sub_query"], "-") for one in result["candidates"]]
    assert [row.split()[1] for row in rows] == expected
    assert set(expected) > {"-"}


def test_explain_says_who_decided_and_by_which_threshold(run, corpus):
    _, out, _ = run("ask", corpus, QUESTION, "--explain")
    assert re.search(r"decided by local, confidence 0\.\d\d, threshold 0\.70", out)
    _, forced, _ = run("ask", corpus, QUESTION, "--explain", "--tier", "2")
    assert "decided by forced, confidence 1.00\n" in forced


def test_explain_ends_with_the_record_of_the_run(run, corpus):
    asked = ("ask", corpus, QUESTION, "--explain")
    result = json.loads(run(*asked, "--json")[1])
    last = run(*asked)[1].splitlines()[-1]
    assert f"index {result['fingerprints']['index']}" in last
    assert f"config {result['fingerprints']['config']}" in last
    assert result["query"]["text"] == QUESTION


def test_verdicts_are_counted_and_what_was_measured_is_shown_only_when_asked_for(run, corpus):
    question = "What is the default mode?"
    _, plain, _ = run("ask", corpus, question, "--json")
    _, full, _ = run("ask", corpus, question, "--json", "--explain")
    _, told, _ = run("ask", corpus, question, "--explain")
    for out, shown in ((plain, False), (full, True)):
        grounding = json.loads(out)["grounding"]
        assert grounding["counts"]["claims"] == len(grounding["claims"]) > 0
        assert grounding["counts"]["missing_citation"] == 0
        assert ("features" in grounding["claims"][0]) == shown
    assert "Why each verdict" in told
    assert "confidence 0.98" in told
