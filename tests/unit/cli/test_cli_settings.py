"""What the command line overrides of a settings file, and what it leaves as it is."""

import json

import pytest

from fingerpost.testing.provider import ProviderServer

SOURCES = """
[[sources]]
name = "handbook"
description = "leave, benefits and expenses"
path = "handbook"

[[sources]]
name = "runbooks"
description = "what to do when an alert fires"
path = "runbooks"
"""
PAGES = {
    "handbook/leave.md": "# Leave\n\nEmployees have thirty days of paid leave.\n",
    "runbooks/alert.md": "# Alerts\n\nRestart the pump when the alert fires.\n",
    "notes/pets.md": "# Pets\n\nDogs may come to the office on Fridays.\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working directory: three folders, two of them sources of the settings file."""
    monkeypatch.chdir(tmp_path)
    for name, text in PAGES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "fingerpost.toml").write_text(SOURCES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def vectors(folder):
    """Return what starts a server of vectors and puts it, and ``embed``, into the settings."""

    def vectors(server, embed):
        text = (
            f'embed = "{embed}"\nembedding_provider = "mistral"\n'
            f'embedding_model = "mistral-embed"\nembedding_api_key = "sk-canary-0123456789"\n'
            f'embedding_base_url = "{server.url}/v1"\n'
            'classifier_provider = "none"\ngeneration_provider = "none"\n'
        )
        (folder / "fingerpost.toml").write_text(text, encoding="utf-8")

    return vectors


def coverage(run_main, *arguments):
    code, _, err = run_main(*arguments)
    assert code in (0, 3, 4), err
    return json.loads(run_main("stats", "notes", "--json")[1])["vector_coverage"]


QUESTION = "When may dogs come to the office?"


@pytest.mark.parametrize(
    ("embed", "more", "expected"),
    [
        ("never", (), 0),
        ("never", ("--embed-wait", "5"), 1),
        ("background", (), 1),
        ("background", ("--embed-wait", "0"), 0),
        ("wait", (), 1),
    ],
)
def test_vectors_are_computed_as_the_settings_say_unless_the_option_says_otherwise(
    run_main, vectors, embed, more, expected
):
    with ProviderServer(dimension=1024) as server:
        vectors(server, embed)
        assert coverage(run_main, "ask", "notes", QUESTION, *more) == expected


@pytest.mark.parametrize(("embed", "expected"), [("never", 0), ("wait", 1)])
def test_verify_and_chat_hold_to_it_too(run_main, vectors, folder, monkeypatch, embed, expected):
    (folder / "answer.md").write_text("Dogs may come on Fridays.\n", encoding="utf-8")
    with ProviderServer(dimension=1024) as server:
        vectors(server, embed)
        assert coverage(run_main, "verify", "answer.md", "--sources", "notes") == expected
        monkeypatch.setattr("builtins.input", lambda _: "/quit")
        assert coverage(run_main, "chat", "notes") == expected


def test_a_path_on_the_command_line_stands_alone(run, folder):
    code, out, _ = run("index", "notes", "--json")
    assert (code, json.loads(out)["n_documents"]) == (0, 1)
    code, out, _ = run("ask", "notes", QUESTION, "--json")
    told = json.loads(out)
    assert (code, told["sources"][0]["path"]) == (0, "pets.md")
    assert told["classification"]["routing"] is None
    (folder / "answer.md").write_text("Employees have thirty days of paid leave.\n")
    code, out, _ = run("verify", "answer.md", "--sources", "notes", "--json", "--fail-on", "any")
    assert code == 4
    assert run("verify", "answer.md", "--json", "--fail-on", "any")[0] == 0


def test_without_a_path_the_sources_of_the_file_are_read(run, folder):
    code, out, _ = run("index", "--json")
    assert (code, json.loads(out)["n_documents"]) == (0, 2)


@pytest.mark.parametrize("command", ["index", "ask", "verify"])
def test_a_path_that_gives_nothing_is_named_and_nothing_else_is_read(run, folder, command):
    (folder / "answer.md").write_text("Dogs may come on Fridays.\n", encoding="utf-8")
    more = {"index": ("nowhere",), "ask": ("nowhere", QUESTION)}
    code, out, err = run(command, *more.get(command, ("answer.md", "--sources", "nowhere")))
    assert (code, out) == (2, "")
    assert "nowhere: unreadable (no such file or folder)" in err


def test_one_of_several_paths_that_gives_nothing_is_told(run, folder):
    _, _, err = run("ask", "notes", "nowhere", QUESTION)
    assert "note: nowhere gave nothing: no such file or folder" in err
    _, out, _ = run("index", "notes", "nowhere")
    assert "skipped: 1 file (1 unreadable)" in out


def test_a_source_is_named_before_its_path_where_there_are_several(run, folder):
    code, out, _ = run("ask", "How many days of paid leave do employees have?", "--explain")
    assert code == 0
    assert "[1] handbook: leave.md › Leave, lines 1-3" in out
    assert "  handbook: leave.md:1-3" in out
    _, out, _ = run("ask", "handbook", "How many days of paid leave do employees have?")
    assert "[1] leave.md › Leave, lines 1-3" in out


def test_a_conversation_names_them_too(run, folder):
    lines = "How many days of paid leave do employees have?\n/sources\n/quit\n"
    _, out, _ = run("chat", lines=lines)
    assert out.count("[1] handbook: leave.md › Leave") == 2
