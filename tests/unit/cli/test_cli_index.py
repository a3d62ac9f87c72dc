"""The index command for machines."""

import json
import queue
import signal
import subprocess
import sys
import threading

import pytest


@pytest.fixture
def watching(corpus):
    """Return a command that watches and a queue of the lines that it prints."""
    command = [sys.executable, "-m", "fingerpost", "index", str(corpus), "--watch", "--json"]
    with subprocess.Popen(
        [*command, "--embedder", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        lines = queue.Queue()
        reader = threading.Thread(target=lambda: [lines.put(line) for line in running.stdout])
        reader.start()
        try:
            yield lines
            running.send_signal(signal.SIGINT)
            assert running.wait(5) == 0
        finally:
            running.kill()
            reader.join(5)


def test_with_watch_and_json_each_line_is_one_object(corpus, watching):
    first = json.loads(watching.get(timeout=30))
    assert (first["n_documents"], first["n_added"]) == (42, 42)
    (corpus / "new.md").write_text("# New\n\nA page.\n", encoding="utf-8")
    change = json.loads(watching.get(timeout=5))
    assert (change["n_added"], change["n_unchanged"]) == (1, 42)


def test_the_formats_that_were_read_are_counted(run, corpus):
    (corpus / "page.html").write_text("<h1>Page</h1><p>Words.</p>")
    (corpus / "api.json").write_text(
        '{"openapi": "3.1.0", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": {}}}}'
    )
    assert "formats: 42 markdown, 1 html, 1 openapi\n" in run("index", corpus)[1]
    told = json.loads(run("index", corpus, "--json")[1])
    assert told["formats"] == {"markdown": 42, "html": 1, "openapi": 1}
