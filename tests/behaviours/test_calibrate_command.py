"""``fingerpost calibrate routing`` and ``eval routing --router``, over a scripted provider."""

from __future__ import annotations

import json
import random
import re
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fingerpost.cli.main import main
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.errors import ConfigError
from fingerpost.testing.provider import Decided, ProviderServer, faults
from fingerpost.types.source import Source
from fingerpost.wiring.sources import as_asked_about

NAMES = ("api", "blog", "guide")
SHY, BOLD = ((0.0, 0.2), (0.3, 0.5)), ((0.6, 0.8), (0.9, 1.0))
"""The probabilities of no and of yes of two backends."""


def write(folder, name, rows):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path):
    labels = [
        {"id": f"q{n}", "text": f"{name} {n}", "source": name if name in NAMES else None}
        for n, name in enumerate((*NAMES, "weather") * 15)
    ]
    sources = [{"id": name, "description": f"all about {name}"} for name in NAMES]
    return {
        "labels": write(tmp_path, "labels.jsonl", labels),
        "sources": write(tmp_path, "sources.jsonl", sources),
        "out": tmp_path / "thresholds.json",
    }


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


def backend(scale, model="m-1"):
    """Knows the right source, and states it on its own scale."""

    def decide(request):
        topic, number = request.input.split()
        spread = int(number) % 11 / 10
        said = []
        for question in request.questions:
            low, high = scale[topic in question.text]
            said.append(low + spread * (high - low))
        return Decided(tuple(said), model=model)

    return ProviderServer(decisions=decide)


def calibrate(files, server, *more):
    asked = ["--backend", "systemone", "--base-url", server.url, "--model", "m-1"]
    common = ["calibrate", "routing", files["labels"], "--sources", files["sources"]]
    return [*common, *asked, "--embedder", "none", *more]


def evaluate(files, server, *more):
    asked = ["--backend", "systemone", "--base-url", server.url, "--model", "m-1"]
    common = ["eval", "routing", "--queries", files["labels"], "--sources", files["sources"]]
    return [*common, *asked, "--embedder", "none", "--json", *more]


def test_thresholds_are_fitted_written_and_used_by_the_router(run, files):
    with backend(SHY) as server:
        code, out, err = run(*calibrate(files, server, "--json", "--out", files["out"]))
        assert code == 0, err
        found = json.loads(out)["datasets"]["labels"]
        assert (found["n"], found["n_out_of_scope"], found["exact"], found["cost"]) == (
            60,
            15,
            1,
            0,
        )
        assert 0.2 <= found["threshold"] <= 0.3
        assert len(server.requests) == 60
        measures = found["measures"]
        assert measures["ece"]["calibrated, cross-validated"] < 0.05
        assert measures["coverage@0.9"]["as stated, from 0.5"] < 0.3
        assert "thresholds of systemone/m-1 and this question alone" in err
        plain = json.loads(run(*evaluate(files, server, "--router", "decision"))[1])
        fitted = json.loads(
            run(*evaluate(files, server, "--router", "decision", "--thresholds", files["out"]))[1]
        )
    assert plain["datasets"]["labels"]["accuracy"] < 0.1
    assert fitted["datasets"]["labels"]["accuracy"] == 1
    assert fitted["datasets"]["labels"]["oos_recall"] == 1
    assert dict(RoutingThresholds.load(files["out"])).keys() == set(NAMES)


def test_thresholds_of_another_model_are_refused_before_all_is_asked(run, files):
    with backend(SHY) as server:
        assert run(*calibrate(files, server, "--out", files["out"]))[0] == 0
    with backend(BOLD, model="m-2") as server:
        arguments = evaluate(files, server, "--router", "decision", "--thresholds", files["out"])
        code, out, err = run(*arguments, "--at-once", "1")
        assert code == 2
        assert len(server.requests) == 1
    assert "'m-2', not 'm-1'" in err
    assert "fingerpost calibrate routing" in json.loads(out)["error"]["hint"]


def test_thresholds_of_another_question_are_refused(run, files, tmp_path):
    template = tmp_path / "question.txt"
    template.write_text("Is {{description}} of use?\n", encoding="utf-8")
    with backend(SHY) as server:
        chosen = ["--template", template]
        assert run(*calibrate(files, server, *chosen, "--out", files["out"]))[0] == 0
        assert RoutingThresholds.load(files["out"]).template == "Is {{description}} of use?"
        routed = evaluate(files, server, "--router", "decision", "--thresholds", files["out"])
        assert run(*routed, *chosen)[0] == 0
        code, _, err = run(*routed)
    assert code == 2
    assert "question template is another" in err


def test_a_table_says_which_sources_got_their_own_threshold_and_why_others_not(run, files):
    with backend(BOLD) as server:
        code, out, err = run(*calibrate(files, server))
    assert code == 0
    assert "labels, sources" in out
    assert "its own is no cheaper in cross-validation" in out
    assert "not kept: give --out FILE" in err


def test_the_page_shows_both_diagrams_before_and_after(run, files, tmp_path):
    page = tmp_path / "page.html"
    with backend(SHY) as server:
        assert run(*calibrate(files, server, "--report", page))[0] == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "as stated, from 0.5" in text
    for piece in text.split("<svg")[1:]:
        drawn = ET.fromstring("<svg" + piece.split("</svg>")[0] + "</svg>")
        assert [line.get("class") for line in drawn.iter("polyline")] == ["line l1", "line l2"]
    assert "http" not in text.replace("http://www.w3.org", "")


def test_the_plots_are_drawn_as_png(run, files, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra `plots`")
    folder = tmp_path / "plots"
    with backend(SHY) as server:
        assert run(*calibrate(files, server, "--png", folder))[0] == 0
    found = sorted(folder.iterdir())
    assert [one.name for one in found] == [
        "labels-accuracy-by-coverage.png",
        "labels-reliability.png",
    ]
    for one in found:
        picture = one.read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(picture) > 5000


def test_several_routers_stand_side_by_side_in_one_table(run, files):
    with backend(((0.0, 0.2), (0.8, 1.0))) as server:
        routers = ("words", "embedding", "decision", "cascade")
        code, out, _ = run(
            *evaluate(files, server, *(part for name in routers for part in ("--router", name)))
        )
    found = json.loads(out)["datasets"]
    assert code == 0
    assert list(found) == [f"labels/{name}" for name in routers]
    assert found["labels/decision"]["accuracy"] == 1
    assert all(
        {"n", "accuracy", "oos_recall", "ece", "p50_ms"} <= set(one) for one in found.values()
    )


def test_the_same_router_gives_the_fields_of_one_data_set_without_a_suffix(run, files):
    with backend(SHY) as server:
        _, out, _ = run(*evaluate(files, server, "--router", "words", "--router", "words"))
    assert list(json.loads(out)["datasets"]) == ["labels"]


def test_a_chat_model_that_picks_is_measured_too(run, files, monkeypatch):
    def pick(request):
        text = json.dumps(request.body)
        found = [n for n, name in enumerate(NAMES, 1) if text.count(name) > 1]
        return json.dumps({"sources": found})

    with ProviderServer(pick) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        code, out, err = run(
            "eval", "routing", "--queries", files["labels"], "--sources", files["sources"],
            "--embedder", "none", "--json", "--router", "language-model", "--base-url", server.url,
        )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)["datasets"]["labels"]
    assert (found["accuracy"], found["n_failed"]) == (1, 0)


def test_a_failing_call_counts_as_wrong_and_the_others_go_on(run, files):
    script = [faults.status(400), *[(0.9, 0.1, 0.1)] * 59]
    with ProviderServer(decisions=script) as server:
        code, out, err = run(*evaluate(files, server, "--router", "decision", "--at-once", "1"))
    found = json.loads(out)["datasets"]["labels"]
    assert (code, found["n_failed"]) == (0, 1)
    assert "1 case crashed, first q0" in err


def test_a_refused_key_ends_the_run_at_once(run, files):
    with ProviderServer(decisions=faults.status(401)) as server:
        code, _, err = run(*calibrate(files, server, "--at-once", "1"))
        assert len(server.requests) == 1
    assert code == 5
    assert "systemone" in err


def test_answers_of_two_models_are_not_mixed(run, files):
    def decide(request):
        return Decided((0.9, 0.1, 0.1), model=f"m-{int(request.input.split()[1]) % 2}")

    with ProviderServer(decisions=decide) as server:
        code, _, err = run(*calibrate(files, server))
    assert code == 1
    assert "systemone/m-0 and systemone/m-1 answered; thresholds belong to one model" in err
    assert "--model" in err


def test_a_label_of_an_unknown_source_is_refused_before_anything_is_asked(run, files, tmp_path):
    labels = write(tmp_path, "odd.jsonl", [{"id": "x", "text": "api 1", "source": "nowhere"}])
    with backend(SHY) as server:
        code, _, err = run(*calibrate({**files, "labels": labels}, server))
        assert not server.requests
    assert code == 1
    assert "x: 'nowhere' is not among the sources" in err


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_asked(run, files, tmp_path):
    for option in ("--out", "--report", "--per-query"):
        with backend(SHY) as server:
            code, _, err = run(*calibrate(files, server, option, tmp_path / "no" / "t.json"))
            assert not server.requests
        assert (code, "t.json: cannot be written" in err) == (1, True)


def test_looking_whether_a_place_can_be_written_leaves_nothing_there(run, files, tmp_path):
    kept = tmp_path / "kept.html"
    kept.write_text("old", encoding="utf-8")
    wanted = ("--out", tmp_path / "t.json", "--report", kept)
    with ProviderServer(decisions=faults.status(401)) as server:
        assert run(*calibrate(files, server, *wanted))[0] == 5
    assert not (tmp_path / "t.json").exists()
    assert kept.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_loses_neither_the_table_nor_the_thresholds_nor_the_other_files(
    run, files, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    page = tmp_path / "page.html"
    wanted = ("--out", "/dev/full", "--per-query", "/dev/full", "--report", page)
    with backend(SHY) as server:
        code, out, err = run(*calibrate(files, server, *wanted))
    assert code == 1
    assert "labels, measures" in out
    assert "/dev/full: cannot be written" in err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    spare = Path(re.search(r"the thresholds are in (\S+)", err)[1])
    assert set(RoutingThresholds.load(spare)) == set(NAMES)


def test_thresholds_that_would_cost_more_than_one_half_are_not_written_and_it_is_said(run, files):
    # Yes and no overlap so far that what is learnt of some questions misleads about others.
    def decide(request):
        topic, number = request.input.split()
        said = []
        for question in request.questions:
            name = question.text.rsplit(" ", 1)[1]
            low = 0.5 if name == topic else 0.3
            said.append(low + 0.3 * random.Random(f"4{name}{number}").random())
        return Decided(tuple(said), model="m-1")

    with ProviderServer(decisions=decide) as server:
        code, out, err = run(*calibrate(files, server, "--json", "--out", files["out"]))
    found = json.loads(out)["datasets"]["labels"]
    cost = found["measures"]["cost"]
    assert code == 0
    assert cost["fitted, not kept"] > cost["as stated, from 0.5"] == found["cost"]
    assert "0.5 is kept" in err
    assert dict(RoutingThresholds.load(files["out"])) == dict.fromkeys(NAMES, 0.5)


def test_the_command_that_a_refusal_names_makes_thresholds_that_are_accepted(run, files):
    sources = ("--sources", files["sources"])
    make = ("calibrate", "routing", files["labels"], *sources, "--out", files["out"])
    routed = ("eval", "routing", "--queries", files["labels"], *sources, "--router", "decision")
    with backend(SHY) as server:
        assert run(*calibrate(files, server, "--out", files["out"]))[0] == 0
    use = (*routed, "--embedder", "none", "--thresholds", files["out"])
    code, _, err = run(*use)
    assert code == 2
    cure = re.search(r"--sources SOURCES.jsonl (.*) --out", err)[1].split()
    assert run(*make, *cure)[0] == 0
    assert run(*use)[0] == 0


@pytest.mark.parametrize("option", [("--model", "words"), ("--base-url", "http://127.0.0.1:9")])
def test_what_the_local_decision_model_would_not_look_at_is_refused(run, files, option):
    code, _, err = run(
        "calibrate", "routing", files["labels"], "--sources", files["sources"], *option
    )
    assert code == 2
    assert "--embedder none" in err


def test_thresholds_for_a_router_that_uses_none_are_refused(run, files):
    with backend(SHY) as server:
        assert run(*calibrate(files, server, "--out", files["out"]))[0] == 0
        code, _, err = run(
            *evaluate(files, server, "--router", "words", "--thresholds", files["out"])
        )
    assert code == 2
    assert "for the routers decision and cascade; words uses none" in err


def test_routers_that_learn_nothing_from_examples_say_so(run, files):
    with backend(SHY) as server:
        routers = ("--router", "local", "--router", "decision")
        code, _, err = run(*evaluate(files, server, *routers, "--examples", "5"))
        asked = server.requests[0].questions[0].text
    assert code == 0
    assert "local learns nothing without an embedding model" in err
    assert "decision learns nothing from examples: it sees them beside the descriptions" in err
    assert "api " in asked.split("all about api")[1]


def test_sources_of_the_settings_are_asked_about_as_the_product_asks(run, files, tmp_path):
    settings = tmp_path / "fingerpost.toml"
    settings.write_text(
        "".join(
            f'[[sources]]\nname = "{name}"\ndescription = "all about {name}"\npath = "docs"\n'
            f'examples = ["Where is {name}?"]\n'
            for name in NAMES
        ),
        encoding="utf-8",
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nAll about api.\n", encoding="utf-8")
    with backend(BOLD) as server:
        told = {**files, "sources": settings}
        assert run(*calibrate(told, server, "--out", files["out"]))[0] == 0
        measured = [question.text for question in server.requests[0].questions]
    shipped = [
        as_asked_about(Source(name, f"all about {name}", "docs", (f"Where is {name}?",)))
        for name in NAMES
    ]
    assert [text.split("\n", 1)[1] for text in measured] == [one.description for one in shipped]


def test_settings_without_sources_are_refused(run, files, tmp_path):
    settings = tmp_path / "other.toml"
    settings.write_text('knowledge_corpus = ["docs"]\n', encoding="utf-8")
    with backend(BOLD) as server:
        code, _, err = run(*calibrate({**files, "sources": settings}, server))
    assert code == 1
    assert "no [[sources]]" in err


def test_a_limit_draws_the_same_questions_for_the_same_seed(run, files):
    def asked(*more):
        with backend(SHY) as server:
            assert run(*calibrate(files, server, "--limit", 40, *more))[0] == 0
            return sorted(request.input for request in server.requests)

    first = asked()
    assert len(first) == 40
    assert asked() == first
    assert asked("--seed", 1) != first


def test_examples_are_shown_to_the_router_and_not_measured(run, files):
    with backend(SHY) as server:
        _, out, _ = run(*evaluate(files, server, "--router", "words", "--examples", "5"))
        code, _, err = run(*evaluate(files, server, "--router", "words", "--examples", "15"))
    assert json.loads(out)["datasets"]["labels"]["n"] == 60 - 3 * 5
    assert code == 1
    assert "'api' has 15 questions: 15 examples leave none to measure" in err


def test_a_template_without_its_variable_is_refused(run, files, tmp_path):
    template = tmp_path / "question.txt"
    template.write_text("Does it help?", encoding="utf-8")
    with backend(SHY) as server:
        code, _, err = run(*calibrate(files, server, "--template", template))
    assert code == 2
    assert "{{description}}" in err


def test_a_switched_backend_refuses_the_thresholds_in_the_program_too(run, files):
    with backend(SHY) as server:
        assert run(*calibrate(files, server, "--out", files["out"]))[0] == 0
    fitted = RoutingThresholds.load(files["out"])
    with pytest.raises(ConfigError, match="backend is 'typesafe', not 'systemone'"):
        fitted.check("typesafe", "typesafe/m-1", fitted.template)


def test_the_page_shows_what_the_command_prints(run, tmp_path):
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "how-to" / "calibrate.md").read_text(encoding="utf-8")
    data = root / "docs" / "how-to" / "calibrate"
    sources = ("--sources", data / "fingerpost.toml")
    code, out, err = run(
        "calibrate", "routing", data / "questions.jsonl", *sources, "--embedder", "none"
    )
    assert code == 0
    assert f"````text\n{err}````" in page
    shown = re.search(r"^questions, measures\n((?:.+\n)+)", page, re.MULTILINE)[1].splitlines()
    printed = re.search(r"^questions, measures\n((?:.+\n)+)", out, re.MULTILINE)[1].splitlines()
    assert [line.split()[0] for line in shown] == [line.split()[0] for line in printed]
    missing = [line.split()[0] for line in printed if f"`{line.split()[0]}`" not in page]
    assert missing == ["measure", "coverage@0.8", "coverage@0.95"]
