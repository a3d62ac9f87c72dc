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
