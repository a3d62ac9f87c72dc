"""``fingerpost doctor`` on described sources: what they hold, who routes, whose thresholds."""

import json

import pytest

from fingerpost.decide.query_router import DEFAULT_QUESTION_TEMPLATE
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.errors import EmbeddingError
from fingerpost.testing.provider import ProviderServer

WORDS = 'embedding_provider = "none"\n'
SOURCES = """
[[sources]]
name = "handbook"
description = "leave, benefits and expenses"
path = "handbook"

[[sources]]
name = "runbooks"
description = "what to do when an alert fires"
path = "{runbooks}"
"""


@pytest.fixture
def doctor(run_main, tmp_path, monkeypatch):
    """Return what runs the command with settings over two folders: (exit code, findings)."""
    monkeypatch.chdir(tmp_path)
    for name in ("handbook", "runbooks"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# About\n\nThe {name} say what to do.\n")

    def doctor(settings="", *arguments, runbooks="runbooks"):
        text = WORDS + settings + SOURCES.format(runbooks=runbooks)
        (tmp_path / "fingerpost.toml").write_text(text)
        code, out, err = run_main("doctor", "--json", *arguments)
        assert err == ""
        return code, {item["name"]: item for item in json.loads(out)["findings"]}

    return doctor


def fitted(tmp_path, backend, model):
    thresholds = RoutingThresholds(backend, model, DEFAULT_QUESTION_TEMPLATE, 0.4, {})
    thresholds.save(tmp_path / "t.json")
    return 'source_thresholds = "t.json"\n'


def test_each_source_is_told_with_its_folder_and_its_documents(doctor, run_main):
    _, before = doctor()
    assert before["source handbook"]["detail"] == "handbook: not indexed"
    assert run_main("index")[0] == 0
    code, found = doctor()
    assert code == 0
    assert found["source handbook"] == {
        "name": "source handbook",
        "status": "ok",
        "detail": "handbook: 1 document in the index",
    }
    assert found["source runbooks"]["status"] == "ok"


def test_a_source_that_is_not_there_is_a_failure(doctor):
    code, found = doctor(runbooks="no-such-folder")
    finding = found["source runbooks"]
    assert (code, finding["status"]) == (1, "failure")
    assert finding["detail"] == "no-such-folder: no such file or folder"


def test_a_source_without_a_document_is_to_be_looked_at(doctor, run_main, tmp_path):
    (tmp_path / "empty").mkdir()
    doctor(runbooks="empty")
    assert run_main("index")[0] == 0
    _, found = doctor(runbooks="empty")
    assert found["source runbooks"] == {
        "name": "source runbooks",
        "status": "warning",
        "detail": "empty: 0 documents in the index",
    }


def test_without_a_decision_model_it_says_that_the_local_one_routes(doctor, run_main):
    doctor()
    assert run_main("index")[0] == 0
    _, found = doctor()
    assert found["source routing"]["detail"] == "the local decision model, by words alone"
    assert found["decision model"]["detail"].endswith("; the local one routes")


def test_a_decision_model_that_routes_is_named(doctor):
    with ProviderServer() as server:
        address = f'decision_base_url = "{server.url}"\ndecision_model = "m-1"\n'
        _, found = doctor(address)
        assert server.requests == ()
    assert found["source routing"]["detail"] == "the decision model systemone/m-1"


@pytest.mark.parametrize("content", [None, "", "[]", '{"kind": "fingerpost routing thresholds"}'])
def test_a_file_of_thresholds_that_cannot_be_read_is_a_failure(doctor, tmp_path, content):
    if content is not None:
        (tmp_path / "t.json").write_text(content)
    code, found = doctor('source_thresholds = "t.json"\n')
    assert (code, found["source thresholds"]["status"]) == (1, "failure")
    assert "t.json" in found["source thresholds"]["detail"]


@pytest.mark.parametrize(("backend", "model"), [("systemone", "m-1"), ("local", "minilm-l6")])
def test_thresholds_of_another_than_the_local_model_are_a_failure(
    doctor, run_main, tmp_path, backend, model
):
    doctor()
    assert run_main("index")[0] == 0
    code, found = doctor(fitted(tmp_path, backend, model))
    assert (code, found["source thresholds"]["status"]) == (1, "failure")
    assert "fingerpost calibrate routing" in found["source thresholds"]["detail"]
    asked, _, err = run_main("ask", "What do the handbook say?")
    assert (asked, "cannot be used" in err) == (2, True)  # as every question would


def test_thresholds_of_the_model_in_use_are_told_with_whom_they_belong_to(
    doctor, run_main, tmp_path
):
    doctor()
    assert run_main("index")[0] == 0
    code, found = doctor(fitted(tmp_path, "local", "words"))
    finding = found["source thresholds"]
    assert (code, finding["status"]) == (0, "ok")
    assert finding["detail"] == "t.json: bound to local/words"


@pytest.mark.parametrize(("model", "status"), [("m-1", "note"), ("m-2", "warning")])
def test_of_thresholds_of_a_server_nothing_is_claimed_that_only_its_answer_tells(
    doctor, tmp_path, model, status
):
    address = 'decision_base_url = "http://127.0.0.1:9"\ndecision_model = "m-1"\n'
    _, found = doctor(address + fitted(tmp_path, "systemone", model))
    assert found["source thresholds"]["status"] == status
    code, found = doctor(address + fitted(tmp_path, "local", "words"))
    assert (code, found["source thresholds"]["status"]) == (1, "failure")


def test_a_server_that_says_no_is_not_told_to_have_said_yes(doctor):
    with ProviderServer(decisions=(0.1,), models=("m-1",)) as server:
        address = f'decision_base_url = "{server.url}"\ndecision_model = "m-1"\n'
        _, found = doctor(address, "--call")
    assert "systemone m-1 said no with 0.90 (" in found["call: decision model"]["detail"]


def test_a_server_that_is_not_there_is_told_without_holes(doctor):
    address = 'decision_base_url = "http://127.0.0.1:9"\ndecision_model = "m-1"\n'
    code, found = doctor(address, "--call")
    assert code == 1
    detail = found["models of systemone"]["detail"]
    assert "systemone could not be reached (ConnectError). Check that 127.0.0.1:" in detail


def test_an_error_that_ends_in_a_stop_gets_no_second_one():
    error = EmbeddingError("minilm is not installed.", hint="Install the extra.")
    assert error.advice == "minilm is not installed. Install the extra."
    assert EmbeddingError("minilm is broken").advice == "minilm is broken"
