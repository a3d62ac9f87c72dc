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
        yield lines
        running.send_signal(signal.SIGINT)
        assert running.wait(5) == 0
        reader.join(5)


def test_with_watch_and_json_each_line_is_one_object(corpus, watching):
    first = json.loads(watching.get(timeout=30))
    assert (first["n_documents"], first["n_added"]) == (42, 42)
    change = _after_a_change(corpus, watching)
    assert change["n_added"] >= 1
    assert change["n_unchanged"] >= 42


def _after_a_change(corpus, lines):
    """Add pages until one is told; the watch may begin a moment after it is announced."""
    for number in range(20):
        (corpus / f"new{number}.md").write_text(f"# New\n\nPage {number}.\n", encoding="utf-8")
        try:
            return json.loads(lines.get(timeout=1.5))
        except queue.Empty:
            continue
    raise AssertionError("no change was told")
