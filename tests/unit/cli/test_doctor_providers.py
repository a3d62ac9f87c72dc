"""``fingerpost doctor`` on providers: who is asked, what came back, which names are gone."""

import json

import pytest

from fingerpost.cli import main
from fingerpost.testing.provider import Answer, ProviderServer, faults

KEY = "sk-canary-0123456789"
LISTED = ("gpt-4o-mini", "gpt-4o", "text-embedding-3-small")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the command in an empty folder with variables; return exit code and report."""

    def run(*arguments, **variables):
        monkeypatch.chdir(tmp_path)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as stopped:
            main.main(["doctor", "--json", *arguments])
        told = capsys.readouterr().out
        assert KEY not in told
        return stopped.value.code, json.loads(told)

    return run


def _finding(report, name):
    return next(item for item in report["findings"] if item["name"] == name)


def test_the_picture_names_provider_model_host_and_variable(run):
    code, report = run(GROQ_API_KEY=KEY, FINGERPOST_FAILOVER_PROVIDERS="ollama")
    assert code == 0
    rows = {row["role"]: row for row in report["credentials"]}
    assert rows["generator deep"] == {
        "role": "generator deep",
        "provider": "groq",
        "model": "openai/gpt-oss-120b",
        "host": "api.groq.com",
        "key": "GROQ_API_KEY",
        "reason": "GROQ_API_KEY is the first key found",
    }
    assert rows["classifier, failover 1"]["host"] == "localhost:11434"
    assert rows["embedding"]["provider"] == "local"
    assert _finding(report, "generator")["detail"] == (
        "groq openai/gpt-oss-20b at api.groq.com, key of GROQ_API_KEY: "
        "GROQ_API_KEY is the first key found"
    )


def test_without_a_key_it_says_that_no_model_is_asked(run):
    code, report = run("--call")
    assert code == 0
    assert _finding(report, "generator")["detail"].startswith("no model: no key is set")
    assert not [item for item in report["findings"] if item["name"].startswith("call")]


def test_what_the_settings_leave_open_is_a_failure_that_names_the_variable(run):
    code, report = run("--call", FINGERPOST_GENERATION_PROVIDER="xai")
    finding = _finding(report, "providers")
    assert (code, finding["status"], report["credentials"]) == (1, "failure", [])
    assert "XAI_API_KEY" in finding["detail"]


def test_a_call_says_what_came_back_and_asks_each_endpoint_once(run):
    answer = Answer("ready", usage=(12, 3))
    with ProviderServer(answer, models=LISTED, dimension=1536) as server:
        code, report = run("--call", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
        asked = [(request.kind, request.model) for request in server.requests]
    assert code == 0
    assert asked == [
        ("chat", "gpt-4o-mini"),
        ("chat", "gpt-4o"),
        ("embed", "text-embedding-3-small"),
        ("models", ""),
    ]
    said = _finding(report, "call: classifier, generator")["detail"]
    assert said.startswith("openai gpt-4o-mini said 'ready' (12 + 3 tokens) in ")
    assert "vector of 1,536 dimensions" in _finding(report, "call: embedding")["detail"]
    assert _finding(report, "models of openai")["status"] == "ok"


def test_a_failed_call_is_told_by_its_error_and_what_to_do(run):
    with ProviderServer(faults.status(401, message=f"wrong key {KEY}"), models=LISTED) as server:
        code, report = run(
            "--call",
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.url,
            FINGERPOST_EMBEDDING_PROVIDER="none",
        )
    finding = _finding(report, "call: generator deep")
    assert (code, finding["status"]) == (1, "failure")
    assert "AuthenticationError" in finding["detail"]


def test_a_name_that_is_gone_is_told_with_the_settings_to_change(run):
    gone = faults.status(404, message="no such model")
    script = [Answer("ready"), gone]
    with ProviderServer(script, models=("gpt-4o-mini", "gpt-9")) as server:
        _, report = run(
            "--call",
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.url,
            FINGERPOST_EMBEDDING_PROVIDER="none",
        )
    finding = _finding(report, "models of openai")
    assert finding["status"] == "warning"
    assert "not among the 2 listed: gpt-4o." in finding["detail"]
    assert "generation_model_deep" in finding["detail"]


def test_a_name_that_answers_though_it_is_not_listed_is_not_called_gone(run):
    with ProviderServer("ready", models=("gpt-9",)) as server:
        code, report = run(
            "--call",
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.url,
            FINGERPOST_EMBEDDING_PROVIDER="none",
        )
    finding = _finding(report, "models of openai")
    assert (code, finding["status"]) == (0, "note")
    assert "yet answering: gpt-4o-mini, gpt-4o" in finding["detail"]


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "claude-x"), ("gemini", "gemini-x"), ("groq", "g"), ("ollama", "llama3.2")],
)
def test_every_api_lists_its_models(run, provider, model):
    served = f"{model}:latest" if provider == "ollama" else model
    with ProviderServer("ready", models=(served,)) as server:
        code, report = run(
            "--call",
            **{f"{provider.upper()}_API_KEY": KEY, f"{provider.upper()}_BASE_URL": server.url},
            FINGERPOST_GENERATION_PROVIDER=provider,
            FINGERPOST_CLASSIFIER_MODEL=model,
            FINGERPOST_GENERATION_MODEL=model,
            FINGERPOST_GENERATION_MODEL_DEEP=model,
            FINGERPOST_EMBEDDING_PROVIDER="none",
        )
    assert code == 0
    assert _finding(report, f"models of {provider}")["detail"] == f"listed: {model}"


def test_people_read_the_same(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XAI_API_KEY", KEY)
    with pytest.raises(SystemExit):
        main.main(["doctor"])
    told = capsys.readouterr().out
    assert "xai grok-4.3 at api.x.ai, key of XAI_API_KEY" in told
    assert KEY not in told


def test_the_decision_model_is_told_and_called_like_any_other(run):
    with ProviderServer(decisions=(0.97,), models=("jev-latest",)) as server:
        code, report = run("--call", TYPESAFE_API_KEY=KEY, TYPESAFE_BASE_URL=server.url)
        asked = [(request.kind, request.model, request.path) for request in server.requests]
    row = next(row for row in report["credentials"] if row["role"] == "decision model")
    assert (row["provider"], row["model"], row["key"]) == (
        "typesafe",
        "jev-latest",
        "TYPESAFE_API_KEY",
    )
    assert code == 0
    assert asked == [("decide", "jev-latest", "/v1/systemone"), ("models", "", "/v1/models")]
    said = _finding(report, "call: decision model")["detail"]
    assert said.startswith("typesafe jev-latest said yes with 0.97 (11 + 0 tokens) in ")
    assert _finding(report, "models of typesafe")["status"] == "ok"


@pytest.mark.parametrize(
    ("provider", "served", "path"),
    [
        ("ollama", "nimble:latest", "/api/tags"),
        ("openrouter", "typesafe/jev-1.14", "/v1/models?output_modalities=decisions"),
        ("gemini", "gemini-decision-1", "/v1beta/models?pageSize=1000"),
        ("openai", "gpt-6-luna", "/v1/models"),
    ],
)
def test_every_provider_of_decision_models_can_be_called(run, provider, served, path):
    with ProviderServer(models=(served,)) as server:
        code, report = run(
            "--call",
            **{f"{provider.upper()}_API_KEY": KEY, f"{provider.upper()}_BASE_URL": server.url},
            FINGERPOST_DECISION_PROVIDER=provider,
            FINGERPOST_GENERATION_PROVIDER="none",
            FINGERPOST_CLASSIFIER_PROVIDER="none",
            FINGERPOST_EMBEDDING_PROVIDER="none",
        )
        assert [r.path for r in server.requests if r.kind == "models"] == [path]
    assert (code, _finding(report, "call: decision model")["status"]) == (0, "ok")
    assert _finding(report, f"models of {provider}")["status"] == "ok"


def test_a_decision_model_that_runs_here_is_told_without_a_host(run):
    _, report = run(FINGERPOST_DECISION_PROVIDER="local")
    assert _finding(report, "decision model")["detail"] == (
        "local of the local embedding model: decision_provider names it"
    )


def test_a_reranker_is_told_and_with_call_asked_for_scores(run):
    with ProviderServer(rankings=(0.9, 0.1)) as server:
        settings = {"FINGERPOST_RERANK_PROVIDER": "cohere", "COHERE_API_KEY": KEY}
        settings["FINGERPOST_RERANK_BASE_URL"] = server.url
        _, quiet = run(**settings)
        code, report = run("--call", **settings)
        asked = [(request.kind, request.model) for request in server.requests]
    assert _finding(quiet, "reranker")["status"] == "not-called"
    row = next(row for row in report["credentials"] if row["role"] == "reranker")
    assert (row["provider"], row["model"], row["key"]) == (
        "cohere",
        "rerank-v4.0-fast",
        "COHERE_API_KEY",
    )
    assert code == 0
    assert asked == [("rerank", "rerank-v4.0-fast")]
    said = _finding(report, "call: reranker")["detail"]
    assert said.startswith("cohere rerank-v4.0-fast gave scores of 0.90 and 0.10 in ")


def test_a_folder_without_a_cross_encoder_fails_when_it_is_called(run, tmp_path):
    _, quiet = run(FINGERPOST_RERANK_FOLDER=str(tmp_path))
    code, report = run("--call", FINGERPOST_RERANK_FOLDER=str(tmp_path))
    assert _finding(quiet, "reranker")["status"] == "not-called"
    assert (code, _finding(report, "call: reranker")["status"]) == (1, "failure")
    assert "model.onnx" in _finding(report, "call: reranker")["detail"]
