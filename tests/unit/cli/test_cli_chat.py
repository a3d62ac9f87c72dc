"""Talking in the terminal."""

import json


def test_a_command_before_the_first_question_says_that_nothing_was_asked(run, corpus):
    code, out, _ = run("chat", corpus, lines="/sources\n/explain\n/quit\n")
    assert (code, out.count("nothing was asked yet")) == (0, 2)


def test_explain_in_a_conversation_shows_every_candidate(run, corpus):
    question = "What do the notes say of modes and errors?"
    _, out, _ = run("chat", corpus, lines=f"{question}\n/explain\n")
    asked = ("ask", corpus, question, "--explain", "--json")
    listed = json.loads(run(*asked)[1])["candidates"]
    assert f"\n{len(listed)} candidates" in out


def test_with_json_stdout_holds_one_object_per_question_and_nothing_else(run, corpus):
    lines = "What is the default mode?\n\n/sources\n/new\nWhat does E1042 mean?\n/quit\nlost\n"
    code, out, err = run("chat", corpus, "--json", lines=lines)
    results = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [one["query"]["text"] for one in results] == [
        "What is the default mode?",
        "What does E1042 mean?",
    ]
    assert results[1]["query"]["history"] == []
    assert "42 documents" in err


def test_with_json_a_question_that_fails_is_an_object_too_and_the_talk_goes_on(run, corpus):
    code, out, _ = run("chat", corpus, "--json", lines=f"{'x' * 9000}\nhello\n")
    failed, answered = map(json.loads, out.splitlines())
    assert (code, failed["error"]["type"]) == (0, "InvalidQueryError")
    assert answered["query"]["text"] == "hello"
