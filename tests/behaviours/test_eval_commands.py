"""``fingerpost eval``, run as a user runs it, over small data sets written for these tests."""

from __future__ import annotations

import json

import pytest

from fingerpost.cli.main import main

PASSAGES = [
    {"id": "p-install", "title": "Installing", "text": "Run pip install fingerpost to install it."},
    {"id": "p-guard", "title": "Guardrails", "text": "A guardrail is configured in guard.toml."},
    {"id": "p-proxy", "title": "Proxies", "text": "Set HTTPS_PROXY when a proxy is in the way."},
    {"id": "p-cache", "title": "Cache", "text": "The cache keeps results for ten minutes."},
]
QUERIES = [
    {"id": "q1", "question": "How do I install fingerpost?", "gold": ["p-install"], "lang": "en"},
    {"id": "q2", "question": "Wo steht guard.toml?", "gold": ["p-guard"], "lang": "de"},
    {"id": "q3", "question": "What is HTTPS_PROXY for?", "gold": ["p-proxy"], "lang": "en"},
    {"id": "q4", "question": "zyzzyva quux frobnicate?", "gold": [], "lang": "en"},
]
CLAIMS = [
    {
        "id": "c1",
        "claim": "The cache keeps results for ten minutes.",
        "source": "The cache keeps results for ten minutes.",
        "label": "supported",
    },
    {
        "id": "c2",
        "claim": "The cache keeps results for ninety minutes.",
        "source": "The cache keeps results for ten minutes.",
        "label": "contradicted",
    },
    {
        "id": "c3",
        "claim": "Whales sing in the deep ocean at night.",
        "source": "The cache keeps results for ten minutes.",
        "label": "not_supported",
    },
]
ROUTED = [
    {"id": "r1", "text": "How do I pay my credit card bill at the bank?", "source": "bank"},
    {"id": "r2", "text": "Book a flight and a hotel for my holiday travel", "source": "travel"},
    {"id": "r3", "text": "zyzzyva quux", "source": None},
]
SOURCES = [
    {"id": "bank", "name": "banking", "intents": ["pay_bill", "credit_card"]},
    {"id": "travel", "name": "travel", "intents": ["book_flight", "book_hotel"]},
]
TIERS = [
    {"id": "t1", "text": "hello", "tier": "T0", "source": "a", "label_confidence": "high"},
    {"id": "t2", "text": "thanks a lot", "tier": "T0", "source": "a"},
    {"id": "t3", "text": "What port does the server use?", "tier": "T1", "source": "b"},
    {"id": "t4", "text": "odd", "tier": "T3", "source": "b", "label_confidence": "low"},
]


def write(folder, name, rows):
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path):
    return {
        "passages": write(tmp_path, "docs_passages", PASSAGES),
        "queries": write(tmp_path, "docs_queries", QUERIES),
        "claims": write(tmp_path, "claims", CLAIMS),
        "routed": write(tmp_path, "intents", ROUTED),
        "sources": write(tmp_path, "intents_sources", SOURCES),
        "tiers": write(tmp_path, "tiers", TIERS),
    }


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["eval", *arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


def retrieval(files, *more):
    pair = ["--passages", files["passages"], "--queries", files["queries"]]
    return ["retrieval", *pair, "--embedder", "none", *more]


def test_retrieval_prints_one_json_object_with_the_measures_of_the_data_set(run, files):
    code, out, _ = run(*retrieval(files, "--json"))
    found = json.loads(out)
    assert code == 0
    assert found["command"] == "eval retrieval"
    assert found["took_ms"] > 0
    assert list(found["datasets"]) == ["docs"]
    docs = found["datasets"]["docs"]
    assert {"hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@5", "p50_ms"} <= set(docs)
    assert (docs["n"], docs["n_without_gold"], docs["n_failed"]) == (3, 1, 0)
    assert (docs["hit@1"], docs["mrr"], docs["recall@5"]) == (1.0, 1.0, 1.0)
    assert docs["abstained"] == 1.0
    assert docs["languages"]["de"]["n"] == 1


@pytest.mark.parametrize("tier", ["1", "2", "3"])
def test_retrieval_runs_a_whole_tier_when_asked(run, files, tier):
    code, out, _ = run(*retrieval(files, "--json", "--tier", tier))
    assert code == 0
    assert json.loads(out)["datasets"]["docs"]["hit@1"] == 1.0


def test_retrieval_prints_a_table_for_people(run, files):
    code, out, _ = run(*retrieval(files))
    assert code == 0
    assert out.splitlines()[0] == "eval retrieval"
    assert "hit@1" in out
    assert "docs, by language" in out


def test_retrieval_records_every_question_when_asked(run, files, tmp_path):
    lines = tmp_path / "lines.jsonl"
    assert run(*retrieval(files, "--per-query", str(lines), "--limit", "2"))[0] == 0
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["q1", "q2"]
    assert rows[0]["place"] == 1
    assert rows[0]["got"][0] == "p-install"


def test_a_cached_index_gives_the_same_ranking_and_follows_a_changed_collection(
    run, files, tmp_path
):
    cache = str(tmp_path / "cache")
    numbers = ("n", "hit@1", "mrr", "ndcg@10")

    def measured():
        _, out, _ = run(*retrieval(files, "--json", "--cache", cache))
        docs = json.loads(out)["datasets"]["docs"]
        return {name: docs[name] for name in numbers}

    first = measured()
    assert measured() == first
    write(tmp_path, "docs_passages", PASSAGES[1:])
    assert measured()["hit@1"] == pytest.approx(2 / 3, abs=1e-3)


def test_a_damaged_cache_is_made_anew_and_said_so(run, files, tmp_path, caplog):
    cache = tmp_path / "cache"
    assert run(*retrieval(files, "--cache", str(cache)))[0] == 0
    (database,) = cache.rglob("index.sqlite")
    database.write_bytes(b"not a database" * 1000)
    code, out, _ = run(*retrieval(files, "--json", "--cache", str(cache)))
    assert (code, json.loads(out)["datasets"]["docs"]["hit@1"]) == (0, 1.0)
    assert "made anew" in caplog.text


def test_the_history_of_a_question_reaches_the_rewriting(run, tmp_path):
    passages = write(tmp_path, "talk_passages", PASSAGES)
    asked = {
        "id": "q",
        "question": "and where is it configured?",
        "gold": ["p-guard"],
        "history": [["user", "What is a guardrail?"], ["agent", "A check."]],
    }
    queries, lines = write(tmp_path, "talk_queries", [asked]), tmp_path / "lines.jsonl"
    code, out, _ = run(
        "retrieval",
        "--passages",
        passages,
        "--queries",
        queries,
        "--embedder",
        "none",
        "--json",
        "--per-query",
        str(lines),
    )
    assert code == 0
    assert json.loads(out)["datasets"]["talk"]["hit@1"] == 1.0
    assert "guardrail" in json.loads(lines.read_text(encoding="utf-8"))["searched"]


def test_several_pairs_give_one_data_set_each(run, files, tmp_path):
    more = [write(tmp_path, "more_passages", PASSAGES), write(tmp_path, "more_queries", QUERIES)]
    code, out, _ = run(*retrieval(files, "--json", "--passages", more[0], "--queries", more[1]))
    assert code == 0
    assert list(json.loads(out)["datasets"]) == ["docs", "more"]


def test_an_odd_number_of_files_or_a_name_twice_is_a_usage_error(run, files):
    code, _, err = run(*retrieval(files, "--passages", files["passages"]))
    assert (code, "need as many --queries" in err) == (2, True)
    again = ["--passages", files["passages"], "--queries", files["queries"]]
    code, _, err = run(*retrieval(files, *again))
    assert (code, "Two files are named docs" in err) == (2, True)
    assert run("retrieval", "--passages", "nowhere.jsonl", "--queries", "nowhere.jsonl")[0] == 2


def test_a_bad_row_ends_the_run_with_file_and_line(run, files, tmp_path):
    queries = write(tmp_path, "bad_queries", [*QUERIES, {"id": "q9", "question": "x"}])
    code, _, err = run("retrieval", "--passages", files["passages"], "--queries", queries)
    assert code == 1
    assert "bad_queries.jsonl:5: 'gold' must be a list of texts" in err


def test_questions_whose_gold_is_in_no_passage_are_refused(run, files, tmp_path):
    queries = write(tmp_path, "odd_queries", [{"id": "q", "question": "x y", "gold": ["nowhere"]}])
    code, _, err = run("retrieval", "--passages", files["passages"], "--queries", queries)
    assert code == 1
    assert "nowhere" in err


def test_tiers_are_scored_without_low_labels_unless_asked(run, files):
    code, out, _ = run("tiers", files["tiers"], "--json")
    tiers = json.loads(out)["datasets"]["tiers"]
    assert (code, tiers["n"]) == (0, 3)
    assert set(tiers["confusion"]) == {"T0", "T1", "T2", "T3"}
    assert sum(sum(row.values()) for row in tiers["confusion"].values()) == 3
    assert tiers["sources"]["a"]["accuracy"] == 1.0
    _, out, _ = run("tiers", files["tiers"], "--json", "--include-low")
    assert json.loads(out)["datasets"]["tiers"]["n"] == 4


def test_routing_is_scored_with_abstention_and_calibration(run, files):
    code, out, _ = run(
        "routing",
        "--queries",
        files["routed"],
        "--sources",
        files["sources"],
        "--json",
        "--embedder",
        "none",
    )
    intents = json.loads(out)["datasets"]["intents"]
    assert code == 0
    assert {"n", "accuracy", "oos_recall", "ece"} <= set(intents)
    assert (intents["n"], intents["n_out_of_scope"]) == (3, 1)
    assert intents["accuracy_forced"] == 1.0


def test_questions_whose_sources_are_all_unknown_are_refused(run, files, tmp_path):
    queries = write(tmp_path, "odd", [{"id": "r", "text": "x", "source": "nowhere"}])
    code, _, err = run("routing", "--queries", queries, "--sources", files["sources"])
    assert code == 1
    assert "nowhere" in err


def test_grounding_tells_support_from_its_absence(run, files):
    code, out, _ = run("grounding", files["claims"], "--json", "--embedder", "none")
    claims = json.loads(out)["datasets"]["claims"]
    assert code == 0
    assert (claims["n"], claims["balanced_accuracy"], claims["auroc"]) == (3, 1.0, 1.0)
    assert claims["recall"] == {"supported": 1.0, "contradicted": 1.0, "not_supported": 1.0}


def test_whole_answers_with_human_marks_are_verified_against_their_sources(run, tmp_path):
    source = "The cache keeps results for ten minutes. The server listens on port 8080."
    good = "The server listens on port 8080. The cache keeps results for ten minutes."
    bad = "Whales sing in the deep ocean at night. The moon is made of cheese."
    answers = [{"model": "a", "text": good, "mean": 4}, {"model": "b", "text": bad, "mean": 1}]
    path = write(tmp_path, "faith", [{"id": "f", "sources": [source], "answers": answers}])
    code, out, _ = run("grounding", path, "--json", "--embedder", "none")
    faith = json.loads(out)["datasets"]["faith"]
    assert code == 0
    assert (faith["n"], faith["auroc"], faith["balanced_accuracy"]) == (2, 1.0, 1.0)


def test_a_report_is_written_beside_the_table(run, files, tmp_path):
    page = tmp_path / "report.html"
    assert run("tiers", files["tiers"], "--report", str(page))[0] == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") == 4


def test_a_report_that_cannot_be_written_says_so(run, files, tmp_path):
    code, _, err = run("tiers", files["tiers"], "--report", str(tmp_path / "no" / "r.html"))
    assert code == 1
    assert "cannot be written" in err


def test_numbers_do_not_change_from_run_to_run(run, files):
    def numbers():
        _, out, _ = run(*retrieval(files, "--json"))
        docs = json.loads(out)["datasets"]["docs"]
        return {k: v for k, v in docs.items() if not k.endswith("_ms") and k != "languages"}

    assert numbers() == numbers()
