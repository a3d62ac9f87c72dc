"""Wrong cases of an evaluation: in text, as JSON, on the page and one line per case."""

import json

import pytest

ROWS = {
    "tiers": [
        {"id": "t1", "text": "What port does the server use?", "tier": "T1"},
        {"id": "t2", "text": "hello", "tier": "T3", "lang": "en"},
    ],
    "claims": [
        {"id": "c1", "claim": "It is red.", "source": "It is red.", "label": "supported"},
        {"id": "c2", "claim": "It is red.", "source": "It is red.", "label": "contradicted"},
    ],
    "intents": [
        {"id": "r1", "text": "pay my credit card bill at the bank", "source": "bank"},
        {"id": "r2", "text": "pay my credit card bill at the bank", "source": "travel"},
    ],
    "intents_sources": [
        {"id": "bank", "name": "banking", "intents": ["pay_bill", "credit_card"]},
        {"id": "travel", "name": "travel", "intents": ["book_flight", "book_hotel"]},
    ],
    "docs_passages": [
        {"id": "p1", "text": "Run pip install heron."},
        {"id": "p2", "text": "Whales sing at night."},
    ],
    "docs_queries": [
        {"id": "q1", "question": "How do I install heron?", "gold": ["p1"]},
        {"id": "q2", "question": "[b]How do I[/b] install heron\u001b[31m?", "gold": ["p2"]},
    ],
}
ASKED = {
    "tiers": (["tiers", "tiers"], "t2", "T3", "T0"),
    "claims": (["grounding", "claims", "--embedder", "none"], "c2", "contradicted", "supported"),
    "intents": (
        ["routing", "--queries", "intents", "--sources", "intents_sources", "--embedder", "none"],
        "r2",
        "travel",
        "bank",
    ),
    "docs": (
        ["retrieval", "--passages", "docs_passages", "--queries", "docs_queries"],
        "q2",
        "p2",
        "p1",
    ),
}


@pytest.fixture
def measure(tmp_path, run_main):
    paths = {}
    for name, rows in ROWS.items():
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def call(name, *more):
        command, *arguments = ASKED[name][0]
        words = ["--embedder", "none"] if name == "docs" else []
        given = [str(paths.get(item, item)) for item in arguments]
        code, out, err = run_main("eval", command, *given, *words, *more)
        assert (code, err) == (0, "")
        return out

    return call


@pytest.mark.parametrize("name", ASKED)
def test_each_command_says_which_cases_were_wrong_in_every_form(measure, tmp_path, name):
    _, case_id, expected, got = ASKED[name]
    found = json.loads(measure(name, "--json"))["datasets"][name]
    assert found["n_wrong"] == 1
    (wrong,) = found["wrong"]
    assert (wrong["id"], wrong["expected"], wrong["got"][0]) == (case_id, [expected], got)
    assert wrong["scores"]
    lines, page = tmp_path / "cases.jsonl", tmp_path / "page.html"
    shown = measure(name, "--per-query", lines, "--report", page)
    row = next(row for row in shown.split("wrong cases: all 1")[1].splitlines() if case_id in row)
    assert expected in row
    assert got in row
    assert f">{case_id}</td>" in page.read_text(encoding="utf-8")
    cases = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [(one["dataset"], one["right"]) for one in cases] == [(name, True), (name, False)]
    assert cases[1] == {"dataset": name, **wrong}


def test_no_wrong_case_is_shown_when_none_is_asked_for(measure):
    assert "wrong cases" not in measure("tiers", "--wrong", "0")
    assert (
        json.loads(measure("tiers", "--json", "--wrong", "0"))["datasets"]["tiers"]["wrong"] == []
    )


def test_the_text_of_a_case_cannot_drive_the_terminal(measure):
    out = measure("docs")
    assert "[b]How do I[/b] install heron?" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("name", "measures"),
    [
        (
            "docs",
            {"n", "hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@5", "p50_ms"}
            | {"n_without_gold"},
        ),
        ("tiers", {"n", "accuracy", "macro_f1", "confusion"}),
        ("intents", {"n", "accuracy", "oos_recall", "ece"}),
        ("claims", {"n", "balanced_accuracy", "auroc", "recall"}),
    ],
)
def test_the_json_of_each_command_is_one_object_with_its_measures(measure, name, measures):
    found = json.loads(measure(name, "--json"))
    assert list(found) == ["command", "datasets", "took_ms"]
    assert found["command"] == f"eval {ASKED[name][0][0]}"
    assert list(found["datasets"]) == [name]
    assert measures <= set(found["datasets"][name])
