"""The command line on a terminal, and what an interrupt leaves behind."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import pytest

from fingerpost import QueryRouter
from fingerpost.cli.main import main

pty = pytest.importorskip("pty", reason="needs a POSIX terminal")
N_PAGES = 1000
WAIT_S = 30


@dataclass
class Terminal:
    """A command whose standard error is a terminal; keeps what it writes there."""

    arguments: list[str]
    shown: str = ""
    process: subprocess.Popen = field(init=False)

    def __enter__(self):
        self._reading, writing = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fingerpost", *self.arguments],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            stderr=writing,
            text=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        )
        os.close(writing)
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()
        os.close(self._reading)

    def read_until(self, words):
        """Read until the words are shown or the command ends; return whether they are."""
        end = time.monotonic() + WAIT_S
        while words not in self.shown and time.monotonic() < end:
            if not select.select([self._reading], [], [], 1)[0]:
                continue
            try:
                read = os.read(self._reading, 4096)
            except OSError:  # the other end is closed: the command has ended
                break
            self.shown += read.decode(errors="replace")
        return words in self.shown


@pytest.fixture
def large(corpus):
    """Return the corpus with so many pages that there is time to interrupt their reading."""
    words = "Heron keeps pumps and valves of the station in good order. " * 12
    for number in range(N_PAGES):
        (corpus / f"page{number}.md").write_text(f"# Page {number}\n\n{words}\n")
    return corpus


def _index(corpus):
    return ["index", str(corpus), "--embedder", "none"]


def test_a_terminal_shows_a_bar_for_each_phase_and_a_pipe_shows_none(corpus):
    with Terminal(_index(corpus)) as terminal:
        assert terminal.read_until("storing")
        assert "looking for documents" in terminal.shown
        assert "reading" in terminal.shown
        out, _ = terminal.process.communicate(timeout=WAIT_S)
        assert terminal.process.returncode == 0
    assert "4 documents" in out
    assert "reading" not in out
    piped = subprocess.run(
        [sys.executable, "-m", "fingerpost", *_index(corpus), "--rebuild"],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    assert piped.stderr == ""


def test_an_interrupt_while_reading_ends_with_130_and_leaves_the_index_whole(large, tmp_path):
    new = large.rename(tmp_path / "new")
    large.mkdir()
    for name in ("install.md", "guides", "de"):
        (new / name).rename(large / name)
    with QueryRouter(knowledge_corpus=[large], embedding_provider="none") as router:
        generation = router.index_summary.generation
    new.rename(large / "new")
    with Terminal(_index(large)) as terminal:
        assert terminal.read_until("reading")
        terminal.process.send_signal(signal.SIGINT)
        terminal.process.communicate(timeout=WAIT_S)
        assert terminal.process.returncode == 130
        assert terminal.read_until("interrupted")
        assert "Traceback" not in terminal.shown
    stats = subprocess.run(
        [sys.executable, "-m", "fingerpost", "stats", str(large), "--embedder", "none", "--json"],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    found = json.loads(stats.stdout)
    assert (found["document_count"], found["generation"], found["notes"]) == (4, generation, [])
    with QueryRouter(knowledge_corpus=[large], embedding_provider="none") as router:
        assert (router.index_summary.n_added, router.index_summary.n_unchanged) == (N_PAGES, 4)
        assert "safe" in router.route_sync("What is the default mode?").answer


def test_an_interrupt_while_embedding_keeps_the_vectors_so_far(corpus, runtime, capsys):
    for number in range(N_PAGES // 5):
        (corpus / f"page{number}.md").write_text(f"# Page {number}\n\nPump {number} is good.\n")
    calls = runtime.run

    def run(names, inputs):
        if runtime.n_calls == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return calls(names, inputs)

    runtime.run = run
    with pytest.raises(SystemExit) as ended:
        main(["index", str(corpus)])
    n_computed = runtime.n_calls
    err = capsys.readouterr().err
    assert ended.value.code == 130
    assert "the vectors so far are kept" in err
    assert err.count("interrupted") == 1
    runtime.run = calls
    with QueryRouter(knowledge_corpus=[corpus], embed="never") as router:
        found = router.get_corpus_stats()
        n_kept = round(found.vector_coverage * found.chunk_count)
        assert n_kept == n_computed < found.chunk_count
        assert router.embed_sync() == found.chunk_count - n_kept
        assert router.get_corpus_stats().vector_coverage == 1


@pytest.mark.parametrize(
    "command", ["ask", "chat", "index", "stats", "doctor", "eval", "eval retrieval"]
)
def test_the_help_of_a_command_loads_no_library_that_it_does_not_need(command):
    heavy = "numpy pydantic tantivy rich onnxruntime tokenizers anyio yaml markdown_it httpx2"
    code = (
        "import sys\nfrom fingerpost.cli.main import main\n"
        f"try: main([*{command.split()!r}, '--help'])\nexcept SystemExit: pass\n"
        f"sys.stderr.write(' '.join(m for m in {heavy.split()!r} if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_S, check=True
    )
    assert "Usage:" in done.stdout
    assert done.stderr == ""


def test_an_interrupt_while_a_conversation_waits_ends_it_with_130(corpus):
    with Terminal(["chat", str(corpus), "--embedder", "none"]) as terminal:
        assert "4 documents" in terminal.process.stdout.readline()
        terminal.process.send_signal(signal.SIGINT)
        terminal.process.communicate(timeout=WAIT_S)
        assert terminal.process.returncode == 130
