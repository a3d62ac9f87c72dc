"""What ``index`` and ``doctor`` say when a provider gives no vectors."""

import json

import pytest

from fingerpost.testing.provider import ProviderServer, faults

KEY = "sk-canary-0123456789"
NO, FEW = faults.status(401), 64  # texts of a request


@pytest.fixture
def at(monkeypatch, tmp_path, corpus):
    """Return what takes vectors from a server; the corpus has three requests of texts."""
    for number in range(2 * FEW):
        (corpus / f"more{number}.md").write_text(f"# More {number}\n\nPump {number} is good.\n")

    def at(server, model="mistral-embed"):
        monkeypatch.chdir(tmp_path)
        for name, value in {
            "EMBEDDING_PROVIDER": "mistral",
            "EMBEDDING_MODEL": model,
            "EMBEDDING_API_KEY": KEY,
            "EMBEDDING_BASE_URL": f"{server.url}/v1",
            "CLASSIFIER_PROVIDER": "none",
            "GENERATION_PROVIDER": "none",
        }.items():
            monkeypatch.setenv(f"FINGERPOST_{name}", value)

    return at


@pytest.mark.parametrize(
    ("model", "script", "n_kept"),
    [
        ("mistral-embed", [NO] * 9, 0),
        ("a-model-of-unknown-dimension", [NO] * 9, 0),
        ("mistral-embed", [None, *[NO] * 9], FEW),
        ("a-model-of-unknown-dimension", [None, None, *[NO] * 9], FEW),
    ],
)
def test_whenever_the_provider_fails_words_and_the_vectors_so_far_are_kept_and_the_code_is_five(
    run_main, corpus, at, model, script, n_kept
):
    with ProviderServer(dimension=1024, embeddings=script) as server:
        at(server, model)
        code, out, err = run_main("index", corpus, "--json")
    told = json.loads(out)
    assert code == 5
    assert told["n_documents"] == 42 + 2 * FEW
    assert told["n_embedded"] == n_kept
    assert round(told["vector_coverage"] * told["n_chunks"]) == n_kept
    assert "answered 401" in told["embedding_error"]
    assert "answered 401" in err
    assert "Words are indexed all the same" in err
    assert KEY not in out + err


def test_the_next_run_goes_on_where_the_provider_failed(run_main, corpus, at):
    with ProviderServer(dimension=1024, embeddings=[None, *[NO] * 4]) as server:
        at(server)
        assert run_main("index", corpus, "--json")[0] == 5
    with ProviderServer(dimension=1024) as server:
        at(server)
        code, out, err = run_main("index", corpus, "--json")
    told = json.loads(out)
    assert (code, err, told["embedding_error"], told["vector_coverage"]) == (0, "", "", 1)
    assert told["n_embedded"] == told["n_chunks"] - FEW


def test_a_provider_none_of_whose_vectors_can_be_used_has_failed(run_main, corpus, at):
    nothing = faults.wrong_vectors(lambda right: [(i, [0.0] * 1024) for i, _ in right])
    for page in corpus.glob("*/*.md"):
        page.unlink()
    for page in corpus.glob("more*.md"):
        page.unlink()
    with ProviderServer(dimension=1024, embeddings=[nothing] * 99) as server:
        at(server)
        code, out, err = run_main("index", corpus)
    assert code == 5
    assert "no vector that can be used" in err
    assert "0% of chunks" in out


def test_an_answer_says_of_how_many_chunks_there_were_vectors(run_main, corpus, at):
    with ProviderServer(dimension=1024, embeddings=[None, *[NO] * 4]) as server:
        at(server)
        run_main("index", corpus)
    with ProviderServer(dimension=1024) as server:
        at(server)
        ask = ("ask", corpus, "What is the default mode?", "--embed-wait")
        partly, all_of_them = (run_main(*ask, seconds)[1] for seconds in (0, 60))
    assert " · words, and vectors of 37% of chunks · " in partly
    assert " · words and vectors · " in all_of_them


def test_words_alone_by_wish_are_no_failure(run_main, corpus, at):
    with ProviderServer(dimension=1024, embeddings=[NO] * 9) as server:
        at(server)
        code, out, err = run_main("index", corpus, "--json", "--no-embed")
    assert (code, err, json.loads(out)["embedding_error"]) == (0, "", "")


def test_the_doctor_claims_nothing_of_a_provider_that_it_did_not_call(run_main, corpus, at):
    with ProviderServer(dimension=1024, embeddings=[NO] * 9) as server:
        at(server)
        run_main("index", corpus)
        n_requests = len(server.requests)
        _, out, _ = run_main("doctor", corpus)
        assert len(server.requests) == n_requests
        code, called, _ = run_main("doctor", corpus, "--call")
    assert out.splitlines()[-1] == (
        "Nothing is broken. Something is left to do, see what is marked !: index. "
        "Not called, so not known to work: embedding (--call calls them)."
    )
    assert "all is searched by words alone until 'fingerpost index' with the same paths" in out
    assert code == 1
    assert "answered 401" in called
    assert called.splitlines()[-1] == "something does not work"


def test_the_doctor_says_that_all_works_when_it_has_called_whom_it_can(run_main, corpus, at):
    with ProviderServer(dimension=1024, models=["mistral-embed"]) as server:
        at(server)
        run_main("index", corpus)
        code, out, _ = run_main("doctor", corpus, "--call")
    assert (code, out.splitlines()[-1]) == (0, "all that is needed works")
