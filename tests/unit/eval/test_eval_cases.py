"""Rows become cases, and a bad row is named by file and line."""

from __future__ import annotations

import json

import pytest

from fingerpost.decide import SourceDescription
from fingerpost.errors import EvaluationError
from fingerpost.eval import cases
from fingerpost.types.query import Turn


def write(path, *rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_data_set_is_named_by_the_stem_without_its_part(tmp_path):
    names = ["docsfaq_passages.jsonl", "docsfaq_queries.jsonl", "tiers.jsonl"]
    assert [cases.dataset_name(tmp_path / name) for name in names] == [
        "docsfaq",
        "docsfaq",
        "tiers",
    ]


def test_a_question_keeps_gold_grades_history_and_language(tmp_path):
    row = {
        "id": "q1",
        "question": "and for Windows?",
        "gold": ["p1", "p2"],
        "lang": "en",
        "grades": {"p1": 3},
        "history": [["user", "how on Linux?"], ["agent", "use apt"], "hm"],
        "answerability": "PARTIAL",
    }
    (case,) = cases.read_cases(write(tmp_path / "q.jsonl", row), cases.retrieval_case)
    assert case == cases.RetrievalCase(
        id="q1",
        question="and for Windows?",
        gold=frozenset({"p1", "p2"}),
        grades={"p1": 3.0, "p2": 1.0},
        language="en",
        answerability="partial",
        history=(
            Turn("user", "how on Linux?"),
            Turn("assistant", "use apt"),
            Turn("user", "hm"),
        ),
    )
    assert case.grades == {"p1": 3.0, "p2": 1.0}


def test_blank_lines_a_byte_order_mark_and_line_separators_in_strings_are_fine(tmp_path):
    path = tmp_path / "p.jsonl"
    row = json.dumps({"id": "a", "text": "one\u2028two"}, ensure_ascii=False)
    path.write_bytes(b"\xef\xbb\xbf" + row.encode() + b"\r\n\n")
    assert cases.read_cases(path, cases.passage) == [cases.Passage("a", "one\u2028two")]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{not json", "not a line of JSON"),
        ("[1]", "a JSON object is needed"),
        ({"question": "x", "gold": []}, "'id' must be text"),
        ({"id": "q", "question": " ", "gold": []}, "'question' must be text"),
        ({"id": "q", "question": "x"}, "'gold' must be a list"),
        ({"id": "q", "question": "x", "gold": [1]}, "'gold' must be a list"),
        ({"id": "q", "question": "x", "gold": ["p"], "grades": {"p": "2"}}, "'grades'"),
        ({"id": "q", "question": "x", "gold": ["p"], "history": [1]}, "'history'"),
        ({"id": "q", "question": "x", "gold": ["p"], "lang": 3}, "'lang' must be text"),
    ],
)
def test_a_bad_row_is_refused_with_file_and_line(tmp_path, row, words):
    path = write(tmp_path / "q.jsonl", {"id": "ok", "question": "x", "gold": []}, "", row)
    with pytest.raises(EvaluationError) as raised:
        cases.read_cases(path, cases.retrieval_case)
    assert f"{path}:3: " in str(raised.value)
    assert words in str(raised.value)


def test_a_file_that_is_not_utf8_is_refused_with_the_line(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"id": "a", "text": "x"}\n{"id": "b", "text": "\xff"}\n')
    with pytest.raises(EvaluationError, match=r"p\.jsonl:2: not a line of JSON"):
        cases.read_cases(path, cases.passage)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(EvaluationError, match="no rows"):
        cases.read_cases(write(tmp_path / "p.jsonl", ""), cases.passage)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(EvaluationError, match="cannot be read"):
        cases.read_cases(tmp_path / "none.jsonl", cases.passage)


def test_an_unknown_tier_or_label_is_refused(tmp_path):
    path = write(tmp_path / "t.jsonl", {"id": "a", "text": "x", "tier": "T9"})
    with pytest.raises(EvaluationError, match="T0, T1, T2, T3"):
        cases.read_cases(path, cases.tier_case)
    path = write(tmp_path / "g.jsonl", {"id": "a", "claim": "x", "source": "y", "label": "true"})
    with pytest.raises(EvaluationError, match="not_supported"):
        cases.read_cases(path, cases.claim_case)


def test_a_routing_row_may_say_that_no_source_serves_it_but_must_say_so(tmp_path):
    path = write(tmp_path / "r.jsonl", {"id": "a", "text": "x", "source": None})
    assert cases.read_cases(path, cases.routing_case)[0].source is None
    path = write(tmp_path / "r.jsonl", {"id": "a", "text": "x"})
    with pytest.raises(EvaluationError, match="'source' is missing"):
        cases.read_cases(path, cases.routing_case)


def test_a_source_has_a_name_or_a_description_and_its_intents_as_examples(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        {"id": "fiqa", "description": "Finance"},
        {"id": "bank", "name": "banking", "intents": ["pay_bill"]},
    )
    assert cases.read_cases(path, cases.source_option) == [
        SourceDescription("fiqa", description="Finance"),
        SourceDescription("bank", "banking", examples=("pay_bill",)),
    ]
    with pytest.raises(EvaluationError, match=r"s\.jsonl:1: a source needs"):
        cases.read_cases(write(tmp_path / "s.jsonl", {"id": "x"}), cases.source_option)


def test_whole_answers_become_one_case_for_each_author(tmp_path):
    row = {
        "id": "f1",
        "sources": ["s"],
        "answers": [
            {"model": "m", "text": "A.", "mean": 4.0},
            {"model": "n", "text": "B.", "mean": 2},
        ],
    }
    assert cases.is_answer_row(row)
    (built,) = cases.read_cases(write(tmp_path / "f.jsonl", row), cases.answer_cases)
    assert built == [
        cases.AnswerCase("f1/m", "A.", ("s",), 4.0),
        cases.AnswerCase("f1/n", "B.", ("s",), 2.0),
    ]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ('{"id": "x", "text": "y", "source": null, "n": ' + "1" * 5000 + "}", "not a line of JSON"),
        ('{"id": "x", "text": "\\ud800", "source": null}', "half of a surrogate pair"),
        ('{"id": "x", "text": "y", "source": null, "\\uDfff": 1}', "half of a surrogate pair"),
    ],
)
def test_a_row_that_python_cannot_hold_or_write_is_refused_with_its_line(tmp_path, row, what):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "text": "b", "source": null}\n' + row + "\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match=rf"rows\.jsonl:2: {what}"):
        cases.read_cases(path, cases.routing_case)


def test_a_whole_surrogate_pair_is_text(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "text": "\\ud83d\\ude00", "source": null}\n', encoding="utf-8")
    assert cases.read_cases(path, cases.routing_case)[0].text == "\U0001f600"
